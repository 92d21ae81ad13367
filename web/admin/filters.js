// The filter bar of a list: search, the most used filters, chips for active filters, and a sheet with all filters.
import { dialog } from './action.js';
import { nameOf } from './choices.js';
import { freshId, h, quiet, replace } from './dom.js';
import { field, isPaging, isTime, valuesOf } from './form.js';
import { failureText, label, localised, time, typeText, statusText } from './format.js';
import { periodSelect, periodText, rangeOf } from './period.js';
import { toast } from './notice.js';
import { filtersOfSearch, readSearch } from './reading.js';
import { S } from './strings.js';
import { read, session } from './wire.js';

const F = S.filters;

/** The arguments of a command that serve as filters. */
export function filtersOf(spec) {
  if (spec.filters === false) return [];
  return session.commands
    .get(spec.command)
    .arguments.filter(
      (argument) =>
        !isPaging(argument) &&
        argument.kind !== 'positional' &&
        !(spec.fixed && argument.name in spec.fixed),
    );
}

/** Whether the command has a period: a start and an end. */
const hasPeriod = (args) =>
  ['from', 'to'].every((name) => args.some((argument) => argument.name === name && isTime(argument)));

/** The filters in an address as arguments of the command: a period becomes its start and end. */
export function argumentsIn(query, command) {
  const row = session.commands.get(command);
  const names = new Set(row ? row.arguments.map(({ name }) => name) : []);
  const values = Object.fromEntries([...query].filter(([name]) => names.has(name)));
  const period = query.get('period');
  return period && row && hasPeriod(row.arguments) ? { ...values, ...rangeOf(period) } : values;
}

const nameOfFilter = (argument) => argument.label || label(argument.name);

export function choiceText(argument, word) {
  if (argument.name === 'type') return typeText(word);
  if (argument.name === 'failure') return failureText(word);
  return statusText(word);
}

// --- Chips

/** The readable form of a value. A name that must be looked up appears when it has arrived. */
function valueText(argument, value, place) {
  if (argument.name === 'period') return periodText(value);
  if (argument.placeholder === 'AMOUNT') return localised(value);
  if (argument.kind === 'choice') return choiceText(argument, value);
  if (argument.kind === 'toggle') return S.common.yes;
  if (isTime(argument)) return time(value);
  if (!argument.from) return value;
  nameOf(argument.from, value).then((text) => (place.textContent = text));
  return value.slice(0, 8);
}

/** The filters in an address in words, for the name of a file. */
export function filterTexts(query, spec) {
  return [...filtersOf(spec), { name: 'period' }]
    .filter(({ name }) => query.get(name))
    .map((argument) => {
      const value = query.get(argument.name);
      const text = valueText(argument, value, h('span', {}));
      return typeof text === 'string' ? text : value.slice(0, 10);
    });
}

function chip(argument, value, remove) {
  const place = h('span', { class: 'chip-value' });
  replace(place, valueText(argument, value, place));
  const name = nameOfFilter(argument);
  return h(
    'li',
    { class: 'chip' },
    h('span', { class: 'soft' }, `${name}: `),
    place,
    h('button', { type: 'button', 'aria-label': F.remove(name), onclick: remove }, '×'),
  );
}

// --- Bar

function quickSelect(argument, value, apply) {
  const select = h(
    'select',
    { id: freshId('filter'), name: argument.name, 'aria-label': nameOfFilter(argument) },
    h('option', { value: '', selected: !value }, `${nameOfFilter(argument)}: ${S.common.any}`),
    argument.placeholder
      .split('|')
      .map((word) => h('option', { value: word, selected: word === value }, choiceText(argument, word))),
  );
  select.addEventListener('change', () => apply({ [argument.name]: select.value || undefined }));
  return select;
}

/**
 * Applies the text of the search field. Amounts, dates, statuses and reasons become filters; one that stands for several
 * lists goes to the screen that shows them all. Digits can begin an ID or an amount: an ID that exists comes first.
 */
async function applySearch(context, spec, usable, text, apply) {
  const asked = text ? readSearch(text, usable) : undefined;
  const filters = asked ? filtersOfSearch(asked) : [];
  const isNumber = /^\d+$/.test(text);
  const { data } = isNumber && asked ? await read(spec.command, { text, limit: 1 }) : { data: [] };
  if (!asked || data.length > 0) apply({ text: text || undefined });
  else if (filters.length === 1) apply({ text: undefined, ...filters[0] });
  else context.go(`#/find?text=${encodeURIComponent(text)}`);
}

function searchField(context, spec, argument, usable, apply) {
  const value = context.query.get('text');
  const said = F.placeholder[spec.command] || argument.help;
  const input = h('input', {
    type: 'search',
    name: 'text',
    class: 'list-search',
    value: value || '',
    placeholder: said,
    'aria-label': said,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const form = h('form', { role: 'search', 'aria-label': F.search }, input);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    applySearch(context, spec, usable, input.value.trim(), apply).catch((fault) => toast(fault.message, 'bad'));
  });
  input.addEventListener('search', () => {
    if (input.value === '' && value) apply({ text: undefined });
  });
  return form;
}

/** All filters with labels: beside the list on a wide screen, full-screen on a phone. */
function openSheet(spec, usable, present, apply) {
  const open = dialog(F.title(spec.title));
  open.box.classList.add('sheet');
  const clear = () => {
    open.close();
    apply(blank(usable));
  };
  const form = h(
    'form',
    { class: 'stack' },
    usable.map((argument) => field(argument, present.get(argument.name), { blank: S.common.any, hint: '', say: choiceText })),
    h('div', { class: 'row end' }, quiet(F.clear, clear), h('button', { type: 'submit', class: 'primary' }, F.apply)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = valuesOf(form);
    if (values.from || values.to) values.period = undefined;
    open.close();
    apply({ ...Object.fromEntries(usable.map(({ name }) => [name, values[name]])), ...values });
  });
  open.box.append(form);
  form.querySelector('input:not([type=hidden]), select').focus();
}

/** Values that remove all filters. */
const blank = (usable) => ({ ...Object.fromEntries(usable.map(({ name }) => [name, undefined])), period: undefined });

function choosePeriod(context, apply, dates) {
  return periodSelect({
    present: context.query.get('period') || '',
    own: context.query.has('from') || context.query.has('to'),
    dates,
    apply: (period) => apply({ period, from: undefined, to: undefined }),
  });
}

const QUICK = ['text', 'status', 'state', 'type'];

/**
 * The filter bar. `apply(values)` navigates to the address with these filters; `tools` are further buttons. Returns
 * nothing if the command has no filters.
 */
export function filterBar(context, spec, apply, tools = []) {
  const usable = filtersOf(spec);
  const wanted = spec.quick || QUICK;
  const quick = usable.filter(({ name, kind }) => wanted.includes(name) && (kind === 'choice' || name === 'text'));
  const rest = usable.filter((argument) => !quick.includes(argument));
  const text = quick.find(({ name }) => name === 'text');
  const period = { name: 'period', label: S.period.label, kind: 'period' };
  const active = [...usable, period].filter(({ name }) => context.query.get(name));
  const sheet = () => openSheet(spec, usable, context.query, apply);
  const count = active.filter(({ name }) => name !== 'text').length;
  const chips = active.filter((argument) => argument !== text);
  return h(
    'div',
    { class: 'filterbar' },
    h(
      'div',
      { class: 'row' },
      text && searchField(context, spec, text, usable, apply),
      h(
        'div',
        { class: 'row quick' },
        quick
          .filter((argument) => argument !== text)
          .map((argument) => quickSelect(argument, context.query.get(argument.name), apply)),
        hasPeriod(usable) && choosePeriod(context, apply, sheet),
      ),
      usable.length > 0 &&
        (rest.length > 0 || quick.length > 1) &&
        h(
          'button',
          { type: 'button', class: 'filters-button', 'data-filters': '', onclick: sheet },
          count > 0 ? F.buttonWith(count) : F.button,
        ),
      h('span', { class: 'grow' }),
      tools,
    ),
    chips.length > 0 &&
      h(
        'ul',
        { class: 'chips', 'aria-label': F.active },
        chips.map((argument) =>
          chip(argument, context.query.get(argument.name), () => apply({ [argument.name]: undefined })),
        ),
        chips.length > 1 && h('li', {}, quiet(F.clear, () => apply(blank(usable)))),
      ),
  );
}
