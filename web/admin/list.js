// A screen that lists: filters, one page of rows, the way to the next.
import { h, replace } from './dom.js';
import { field, isPaging, valuesOf } from './form.js';
import { live } from './live.js';
import { empty, errorBox, note, notBuilt } from './notice.js';
import { table } from './table.js';
import { can, read, session, takes } from './wire.js';

const PAGE = 50;
const LIMIT_MAX = 500; // of commands without pages

/** The heading of a screen, with what can be done there. */
export function heading(title, intro, ...actions) {
  return h(
    'header',
    { class: 'screen' },
    h('div', {}, h('h1', { tabindex: -1 }, title), intro && h('p', { class: 'soft' }, intro)),
    h('div', { class: 'row' }, actions),
  );
}

/** The address of this screen with other values; blank ones leave. */
export function addressWith(context, values) {
  const query = new URLSearchParams(context.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `#/${context.path}${text ? `?${text}` : ''}`;
}

const cursorName = (spec) => spec.cursor || 'cursor';

/** What of a command's arguments may be chosen on the screen. */
function filtersOf(spec) {
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

function filterForm(context, spec) {
  const usable = filtersOf(spec);
  if (usable.length === 0) return null;
  const form = h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': `Filter ${spec.title}` },
    usable.map((argument) => field(argument, context.query.get(argument.name), { blank: 'Any', hint: '' })),
    h('div', { class: 'field' }, h('button', { type: 'submit' }, 'Apply')),
  );
  const apply = (event) => {
    event.preventDefault();
    const values = valuesOf(form);
    const all = Object.fromEntries(usable.map(({ name }) => [name, values[name]]));
    context.go(addressWith(context, { ...all, [cursorName(spec)]: undefined }));
  };
  form.addEventListener('submit', apply);
  form.addEventListener('change', (event) => {
    if (event.target.tagName === 'SELECT' || event.target.type === 'checkbox') apply(event);
  });
  return form;
}

const isPaged = (spec) => takes(spec.command, cursorName(spec));

function valuesFor(context, spec, shown) {
  const values = {};
  for (const [name, value] of context.query) {
    if (takes(spec.command, name)) values[name] = value;
  }
  if (takes(spec.command, 'limit')) values.limit = isPaged(spec) ? PAGE : Math.min(shown, LIMIT_MAX);
  return { ...values, ...spec.fixed };
}

/** Where the next page begins: as the command says, or by the last row's number. */
function nextOf(answer, spec) {
  if (answer.nextCursor) return answer.nextCursor;
  if (!spec.cursorOf || answer.data.length < PAGE) return undefined;
  return spec.cursorOf(answer.data[answer.data.length - 1]);
}

function pager(context, spec, answer) {
  const name = cursorName(spec);
  const next = nextOf(answer, spec);
  const first = context.query.get(name);
  if (!next && !first) return null;
  return h(
    'nav',
    { class: 'pager row', 'aria-label': `Pages of ${spec.title}` },
    first && h('a', { class: 'button', href: addressWith(context, { [name]: undefined }) }, 'Newest'),
    next && h('a', { class: 'button', href: addressWith(context, { [name]: next }), rel: 'next' }, 'Older'),
  );
}

/** Commands without pages: as many rows as fit, more on demand. */
function moreButton(spec, rows, state, again) {
  if (isPaged(spec) || rows.length < state.shown) return null;
  if (takes(spec.command, 'limit') ? state.shown >= LIMIT_MAX : rows.length === state.shown) return null;
  const more = () => {
    state.shown += PAGE;
    again();
  };
  return h('p', {}, h('button', { type: 'button', onclick: more }, 'Show more'));
}

function nothing(context, spec, answer) {
  if (nextOf(answer, spec)) return empty('Nothing fits so far; there is more to look through.');
  const filtered = filtersOf(spec).some(({ name }) => context.query.has(name));
  if (filtered)
    return empty('Nothing fits these filters.', h('a', { href: `#/${context.path}` }, 'Show all'));
  return empty(...(spec.empty || ['There is nothing here yet.']));
}

function draw(context, spec, answer, state, again) {
  const rows = spec.rows ? spec.rows(answer.data) : answer.data;
  return [
    rows.length === 0
      ? nothing(context, spec, answer)
      : table({
          caption: spec.title,
          rows: isPaged(spec) ? rows : rows.slice(0, state.shown),
          columns: spec.columns || answer.columns,
          link: spec.link,
          key: spec.key || ((row) => row.id),
          actions:
            spec.rowActions && ((row) => h('div', { class: 'row end' }, spec.rowActions(row, again))),
        }),
    answer.note && note(answer.note),
    moreButton(spec, rows, state, again),
    pager(context, spec, answer),
  ];
}

/**
 * The part of a screen that lists. {title, command, fixed: values that are settled, filters: false for none,
 * columns, rows(data), key(row), link(row), rowActions(row, again), empty: [text, ...what next],
 * cursor: its name, cursorOf(row)}.
 */
export function listPart(context, spec) {
  if (!can(spec.command)) return { place: notBuilt(spec.command), again: () => {} };
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, 'Loading…'));
  const state = { shown: PAGE };
  const again = live({
    container: place,
    signal: context.signal,
    seconds: context.query.get(cursorName(spec)) ? 0 : 5,
    fetch: (signal) => read(spec.command, valuesFor(context, spec, state.shown), signal),
    draw: (answer) => draw(context, spec, answer, state, again),
    failed: errorBox,
  });
  return { place: h('div', {}, filterForm(context, spec), place), again };
}

/** A whole screen: {intro, actions(again)} besides. */
export function list(context, spec) {
  const part = listPart(context, spec);
  replace(
    context.main,
    heading(spec.title, spec.intro, spec.actions && spec.actions(part.again)),
    part.place,
  );
}
