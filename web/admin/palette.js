// The command palette and the list of shortcuts.
import { ask, dialog } from './action.js';
import { freshId, h, replace } from './dom.js';
import { menu } from './screens.js';
import { S } from './strings.js';
import { session } from './wire.js';

const SHOWN = 9;

/** Screens first, then the actions that this operator may run. */
function entries() {
  const screens = menu().flatMap(({ screens: all }) => all).map(({ noun, title }) => ({
    text: title,
    kind: S.palette.screen,
    run: () => {
      location.hash = `#/${noun}`;
    },
  }));
  const actions = [...session.commands.values()]
    .filter(({ role }) => role !== 'viewer')
    .map((row) => ({
      text: row.label || row.summary,
      kind: S.palette.action,
      run: () => ask({ command: row.command }),
    }));
  return [...screens, ...actions];
}

function matching(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ text: name }) => words.every((word) => name.toLowerCase().includes(word));
  const starts = ({ text: name }) => name.toLowerCase().startsWith(text.toLowerCase());
  const found = all.filter(fits).sort((a, b) => starts(b) - starts(a));
  const find = text && {
    text: S.palette.find(text),
    kind: '',
    run: () => {
      location.hash = `#/find?text=${encodeURIComponent(text)}`;
    },
  };
  return [...found.slice(0, SHOWN), ...(find ? [find] : [])];
}

export function openPalette() {
  if (document.querySelector('dialog[open]')) return;
  const open = dialog(S.palette.title);
  open.box.classList.add('palette');
  const all = entries();
  const listId = freshId('palette');
  const input = h('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': S.palette.label,
    'aria-expanded': 'true',
    'aria-controls': listId,
    'aria-autocomplete': 'list',
    placeholder: S.palette.placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = h('ul', { id: listId, role: 'listbox', class: 'options', 'aria-label': S.palette.title });
  let rows = [];
  let at = 0;
  const run = (row) => {
    open.box.addEventListener('close', () => row.run(), { once: true });
    open.close();
  };
  const mark = () => {
    [...list.children].forEach((each, i) => each.setAttribute('aria-selected', String(i === at)));
    const marked = list.children[at];
    if (marked && rows.length > 0) {
      input.setAttribute('aria-activedescendant', marked.id);
      marked.scrollIntoView({ block: 'nearest' });
    }
  };
  const draw = () => {
    rows = matching(all, input.value.trim());
    at = 0;
    replace(
      list,
      rows.map((row) =>
        h(
          'li',
          { id: freshId('entry'), role: 'option', 'aria-selected': 'false', onclick: () => run(row) },
          h('span', {}, row.text),
          h('span', { class: 'soft small' }, row.kind),
        ),
      ),
    );
    mark();
  };
  input.addEventListener('input', draw);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      at = (at + (event.key === 'ArrowDown' ? 1 : rows.length - 1)) % Math.max(1, rows.length);
      mark();
    } else if (event.key === 'Enter' && rows[at]) {
      event.preventDefault();
      run(rows[at]);
    }
  });
  open.box.append(input, list);
  draw();
  input.focus();
}

export function openShortcuts() {
  if (document.querySelector('dialog[open]')) return;
  const open = dialog(S.shortcuts.title);
  const close = h('button', { type: 'button', class: 'primary', onclick: open.close }, S.common.close);
  open.box.append(
    h(
      'table',
      { class: 'shortcuts' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, S.shortcuts.keys), h('th', { scope: 'col' }, S.shortcuts.does))),
      h(
        'tbody',
        {},
        S.shortcuts.rows.map(([keys, does]) =>
          h('tr', {}, h('td', {}, keys.split(' ').map((key) => [h('kbd', {}, key), ' '])), h('td', {}, does)),
        ),
      ),
    ),
    h('div', { class: 'row end' }, close),
  );
  close.focus();
}

// --- Keys

const GO = { o: 'overview', p: 'payments', w: 'wallets', r: 'reviews', h: 'webhooks', e: 'events' };
const CHORD_MS = 1500;
let chord = 0;

/** Moves the focus to the first link of the next or previous row. */
function step(by) {
  const rows = [...document.querySelectorAll('main tr.record')].filter((row) => row.querySelector('a, button'));
  if (rows.length === 0) return;
  const present = rows.indexOf(document.activeElement.closest('tr.record'));
  const next = rows[Math.min(rows.length - 1, Math.max(0, present + by))];
  next.querySelector('a, button').focus();
}

/** Handles a shortcut. Returns whether the event was one. */
export function shortcut(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    openPalette();
    return true;
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
    return false;
  const goes = Date.now() - chord < CHORD_MS && GO[event.key];
  chord = event.key === 'g' ? Date.now() : 0;
  if (goes) location.hash = `#/${goes}`;
  else if (event.key === '/') document.getElementById('find').focus();
  else if (event.key === '?') openShortcuts();
  else if (event.key === 'j') step(1);
  else if (event.key === 'k') step(-1);
  else if (event.key === 'f') {
    const button = document.querySelector('main [data-filters]');
    if (!button) return false;
    button.click();
  } else return false;
  return true;
}
