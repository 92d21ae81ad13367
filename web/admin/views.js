// An operator's settings of a list, stored in the browser: named filters (views) and visible columns.
import { dialog } from './action.js';
import { h, replace, quiet } from './dom.js';
import { plainField } from './form.js';
import { toast } from './notice.js';
import { S } from './strings.js';

const V = S.views;

function load(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) || otherwise;
  } catch {
    return otherwise; // storage is disabled, or its content is invalid
  }
}

function save(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage is disabled: the setting is not kept.
  }
}

// --- Views

const viewsKey = (context) => `coffer-views-${context.path}`;

/** The filters of the address without its cursor, which is valid for one page only. */
function filtersIn(context) {
  const query = new URLSearchParams(context.query);
  for (const name of ['cursor', 'before']) query.delete(name);
  return query.toString();
}

function nameView(context, done) {
  const open = dialog(V.saveTitle);
  const form = h(
    'form',
    { class: 'stack' },
    plainField({ name: 'name', text: V.name, required: true, maxlength: 40, autocomplete: 'off' }),
    h('div', { class: 'row end' }, quiet(S.common.cancel, open.close), h('button', { type: 'submit', class: 'primary' }, V.save)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const name = form.elements.name.value.trim();
    if (!name) return;
    const kept = load(viewsKey(context), []).filter((each) => each.name !== name);
    save(viewsKey(context), [...kept, { name, query: filtersIn(context) }]);
    open.close();
    toast(V.saved(name));
    done();
  });
  open.box.append(form);
  form.elements.name.focus();
}

/** A menu of views: those of the screen, those of the operator, and commands to save or delete one. */
export function viewsMenu(context, spec, draw) {
  const own = load(viewsKey(context), []);
  const all = [...(spec.views || []), ...own];
  const present = filtersIn(context);
  const chosen = all.find(({ query }) => query === present);
  const isOwn = own.includes(chosen);
  if (all.length === 0 && !present) return null;
  const select = h(
    'select',
    { 'aria-label': V.label, class: 'views' },
    h('option', { value: '', selected: !present }, V.label),
    all.map(({ name, query }, i) => h('option', { value: String(i), selected: all[i] === chosen }, name)),
    !chosen && present && h('option', { value: 'save' }, V.saveThis),
    isOwn && h('option', { value: 'forget' }, V.forget(chosen.name)),
  );
  if (!chosen && present) select.value = '';
  select.addEventListener('change', () => {
    const value = select.value;
    if (value === 'save') {
      select.value = '';
      nameView(context, draw);
    } else if (value === 'forget') {
      save(viewsKey(context), own.filter((each) => each !== chosen));
      toast(V.forgotten(chosen.name));
      draw();
    } else {
      context.go(`#/${context.path}${value === '' ? '' : `?${all[Number(value)].query}`}`);
    }
  });
  return select;
}

// --- Columns

const columnsKey = (spec) => `coffer-columns-${spec.command}`;
const keyOf = (column) => (typeof column === 'string' ? column : column.key);

/** The visible columns: the operator's choice, otherwise the screen's defaults. */
export function chosenColumns(spec) {
  if (!spec.more) return spec.columns;
  const all = [...spec.columns, ...spec.more];
  const kept = load(columnsKey(spec), null);
  if (!Array.isArray(kept)) return spec.columns;
  const chosen = all.filter((column) => kept.includes(keyOf(column)));
  return chosen.length > 0 ? chosen : spec.columns;
}

export function columnsButton(spec, titleOf, done) {
  if (!spec.more) return null;
  const choose = () => {
    const open = dialog(V.columns);
    const shown = chosenColumns(spec).map(keyOf);
    const chosen = (columns) => {
      save(columnsKey(spec), columns);
      open.close();
      done();
    };
    const boxes = [...spec.columns, ...spec.more].map((column) => {
      const input = h('input', {
        type: 'checkbox',
        id: `column-${keyOf(column)}`,
        value: keyOf(column),
        checked: shown.includes(keyOf(column)),
      });
      return h('div', { class: 'field toggle' }, input, h('label', { for: input.id }, titleOf(column)));
    });
    const form = h(
      'form',
      { class: 'stack' },
      boxes,
      h('div', { class: 'row end' }, quiet(V.reset, () => chosen(null)), h('button', { type: 'submit', class: 'primary' }, V.apply)),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      chosen([...form.querySelectorAll('input:checked')].map((each) => each.value));
    });
    replace(open.box, open.box.querySelector('h2'), form);
    form.querySelector('input').focus();
  };
  return quiet(V.columns, choose);
}
