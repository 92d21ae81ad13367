// A field to choose one of many objects: the operator types part of the name and chooses, and the form gets the ID.
import { freshId, h, replace } from './dom.js';
import { S } from './strings.js';
import { can, read } from './wire.js';

/** For each kind of object: the command that searches, and the texts of a row. */
const MANY = {
  wallet: {
    command: 'wallet list',
    show: 'wallet show',
    name: (row) => row.walletName,
    more: (row) => [row.accountNumber, row.association, row.environment].filter(Boolean).join(', '),
  },
  beneficiary: {
    command: 'beneficiary list',
    show: 'beneficiary show',
    name: (row) => row.name,
    more: (row) => [row.type, row.association, row.environment].filter(Boolean).join(', '),
  },
};

export function manyOf(argument) {
  const many = MANY[argument.name.toLowerCase()];
  return many && can(many.command) ? many : undefined;
}

const names = new Map();

/** The name of the object with this ID, or the beginning of the ID if the name cannot be read. */
export async function nameOf(kind, value) {
  const many = MANY[kind];
  if (!names.has(value) && can(many.show)) {
    names.set(
      value,
      read(many.show, { ID: value }).then(
        ({ data }) => many.name(data),
        () => value.slice(0, 8),
      ),
    );
  }
  return names.get(value) || value.slice(0, 8);
}

const WAIT_MS = 180; // pause in typing before a search
const SHOWN = 8;

/** A combobox (WAI-ARIA 1.2) with a hidden field for the ID. */
export function picker(kind, { name, id, value = '', required, describedBy }) {
  const many = MANY[kind];
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

  const close = () => {
    options.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
    at = -1;
  };
  const choose = (row) => {
    hidden.value = row.id;
    input.value = many.name(row);
    names.set(row.id, Promise.resolve(many.name(row)));
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
          h('span', {}, many.name(row)),
          h('span', { class: 'soft small' }, many.more(row)),
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
    const { data } = await read(many.command, { text: input.value.trim(), limit: SHOWN }).catch(() => ({
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
  if (value) nameOf(kind, value).then((text) => (input.value = input.value || text));
  return { node: h('span', { class: 'picker' }, hidden, input, options), input };
}
