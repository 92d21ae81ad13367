// A field to choose one of many objects: the operator types part of the name and chooses, and the form gets the ID.
import { isSearched, moreOfRow, nameOf, nameOfRow, remember, valueOfRow } from './choices.js';
import { freshId, h, replace } from './dom.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { can, read } from './wire.js';

/** Whether a field searches among many objects. */
export const manyOf = (argument) => Boolean(argument.from) && can(argument.from) && isSearched(argument.from);

const WAIT_MS = 180; // pause in typing before a search
const SHOWN = 8;

/** A combobox (WAI-ARIA 1.2) with a hidden field for the ID. `list` is the command that searches. */
export function picker(list, { name, id, value = '', required, describedBy }) {
  const listId = freshId('options');
  const hidden = h('input', { type: 'hidden', name, value });
  const input = h('input', {
    id,
    type: 'text',
    role: 'combobox',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': listId,
    'aria-describedby': describedBy,
    placeholder: S.picker.placeholder,
    required,
  });
  const options = h('ul', { id: listId, role: 'listbox', class: 'options', hidden: true });
  let rows = [];
  let at = -1;
  let turn = 0;
  let timer;
  let within = {}; // filters of the list

  const close = () => {
    options.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
    at = -1;
  };
  const choose = (row) => {
    hidden.value = valueOfRow(row);
    input.value = nameOfRow(row);
    remember(list, row);
    close();
    hidden.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const mark = () => {
    [...options.children].forEach((each, i) => each.setAttribute('aria-selected', String(i === at)));
    if (at >= 0) input.setAttribute('aria-activedescendant', options.children[at].id);
  };
  const draw = () => {
    replace(
      options,
      rows.map((row) =>
        h(
          'li',
          {
            id: freshId('option'),
            role: 'option',
            'aria-selected': 'false',
            onmousedown: (event) => {
              event.preventDefault(); // keeps the focus in the field
              choose(row);
            },
          },
          h('span', {}, nameOfRow(row)),
          h('span', { class: 'soft small' }, moreOfRow(row)),
        ),
      ),
      rows.length === 0 &&
        h('li', { role: 'option', 'aria-disabled': 'true', class: 'soft' }, S.picker.none),
    );
    options.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  };
  const look = async () => {
    turn += 1;
    const mine = turn;
    const { data } = await read(list, { ...inScope(list), ...within, text: input.value.trim() || undefined, limit: SHOWN }).catch(() => ({
      data: [],
    }));
    if (mine !== turn || document.activeElement !== input) return;
    rows = data;
    at = -1;
    draw();
  };
  input.addEventListener('input', () => {
    hidden.value = '';
    turn += 1; // discards results for an earlier text
    rows = [];
    close();
    clearTimeout(timer);
    timer = setTimeout(look, WAIT_MS);
  });
  input.addEventListener('focus', () => {
    if (!hidden.value) look();
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !options.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (options.hidden) look();
      else if (rows.length > 0) {
        at = (at + (event.key === 'ArrowDown' ? 1 : rows.length - 1 + (at < 0 ? 1 : 0))) % rows.length;
        mark();
      }
    } else if (event.key === 'Enter' && !options.hidden && at >= 0) {
      event.preventDefault();
      choose(rows[at]);
    }
  });
  const show = (chosen) => {
    hidden.value = chosen || '';
    input.value = '';
    if (chosen) nameOf(list, chosen).then((text) => (input.value = input.value || text));
  };
  if (value) show(value);
  hidden.show = show;
  hidden.narrow = (object) => {
    within = object ? { association: object.associationId, environment: object.environment } : {};
  };
  return { node: h('span', { class: 'picker' }, hidden, input, options), input };
}
