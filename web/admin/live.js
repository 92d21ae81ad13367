// Refreshes content automatically while the page is visible, but not during a selection or an open dialog.
import { nodes } from './dom.js';

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** Describes the focused element, so that it can be found again after a redraw. */
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

/** Redraws the content of `container` and keeps focus, scroll positions and opened details. */
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
 * Fetches and draws now, and again every `seconds` until `signal` aborts. `seconds` can be a function, which is called
 * after each fetch; 0 means no automatic refresh. Unchanged data is not redrawn. Returns a function that refreshes at
 * once.
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
        if (signal.aborted || mine !== turn) return; // a later fetch is in progress
        const text = JSON.stringify(found);
        if (always || text !== last) redraw(container, draw(found));
        last = text;
        document.body.classList.remove('stale');
      }
    } catch (fault) {
      if (signal.aborted || mine !== turn) return;
      // Keeps the last content and marks the page as stale.
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
  document.addEventListener('refresh', () => look(true), { signal }); // a dialog has closed on an unknown outcome
  look(true);
  return () => look(true);
}
