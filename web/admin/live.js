// What changes by itself: looks again while the page is seen, and not while somebody is in the middle of
// something.
import { nodes } from './dom.js';

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** How to find the focused element again after its surroundings were drawn anew. */
function placeOfFocus(container) {
  const active = document.activeElement;
  if (!container.contains(active) || active === container) return undefined;
  const all = [...container.querySelectorAll(FOCUSABLE)];
  const row = active.closest('[data-key]');
  const key = row ? row.dataset.key : undefined;
  const within = row ? [...row.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  return { key, within, index: all.indexOf(active) };
}

function focusAgain(container, place) {
  if (!place) return;
  const row =
    place.key &&
    [...container.querySelectorAll('[data-key]')].find((each) => each.dataset.key === place.key);
  const target = row
    ? row.querySelectorAll(FOCUSABLE)[place.within]
    : container.querySelectorAll(FOCUSABLE)[place.index];
  if (target) target.focus({ preventScroll: true });
}

/** Draws anew what `container` holds; focus, scrolling and opened details stay. */
function redraw(container, ...children) {
  const place = placeOfFocus(container);
  const scrolled = [...container.querySelectorAll('.scroll')].map((each) => each.scrollLeft);
  const opened = [...container.querySelectorAll('details')].map((each) => each.open);
  container.replaceChildren(...nodes(children));
  [...container.querySelectorAll('.scroll')].forEach((each, i) => {
    if (scrolled[i]) each.scrollLeft = scrolled[i];
  });
  [...container.querySelectorAll('details')].forEach((each, i) => {
    if (opened[i] !== undefined) each.open = opened[i];
  });
  focusAgain(container, place);
}

function isBusy(container) {
  if (document.hidden || document.querySelector('dialog[open]')) return true;
  const selection = document.getSelection();
  return selection && !selection.isCollapsed && container.contains(selection.anchorNode);
}

/**
 * Fetches and draws now, and again every few seconds until `signal` ends; 0 seconds: only when asked; a function
 * says it after each look. What did not change is not drawn again. Returns a function that looks again at once.
 */
export function live({ container, signal, seconds = 10, fetch, draw, failed }) {
  const pause = () => (typeof seconds === 'function' ? seconds() : seconds);
  let last;
  let timer;
  let turn = 0;
  const look = async (always) => {
    clearTimeout(timer);
    turn += 1;
    const mine = turn;
    try {
      if (always || !isBusy(container)) {
        const found = await fetch(signal);
        if (signal.aborted || mine !== turn) return; // a later look is under way
        const text = JSON.stringify(found);
        if (always || text !== last) redraw(container, draw(found));
        last = text;
        document.body.classList.remove('stale');
      }
    } catch (fault) {
      if (signal.aborted || mine !== turn) return;
      // What was seen stays; that it is old is said.
      if (last === undefined) redraw(container, failed(fault));
      else document.body.classList.add('stale');
    }
    if (pause() > 0) timer = setTimeout(() => look(false), pause() * 1000);
  };
  signal.addEventListener('abort', () => clearTimeout(timer));
  const seen = () => {
    if (!document.hidden && pause() > 0) look(false);
  };
  document.addEventListener('visibilitychange', seen, { signal });
  look(true);
  return () => look(true);
}
