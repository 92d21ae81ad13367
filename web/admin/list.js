// A screen that lists: filters, one page of rows, the way to the next.
import { h, replace } from './dom.js';
import { field, isPaging, valuesOf } from './form.js';
import { label } from './format.js';
import { live } from './live.js';
import { empty, errorBox, notBuilt } from './notice.js';
import { table } from './table.js';
import { can, read, session, takes } from './wire.js';

const PAGE = 50;

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

function filterForm(context, spec, command) {
  const usable = command.arguments.filter(
    (argument) =>
      !isPaging(argument) &&
      !(spec.fixed && spec.fixed[argument.name] !== undefined) &&
      argument.kind !== 'positional' &&
      !(spec.leaveOut || []).includes(argument.name),
  );
  if (usable.length === 0) return null;
  const form = h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': `Filter ${spec.title}` },
    usable.map((argument) =>
      field({ ...argument, fallback: argument.fallback, help: '' }, context.query.get(argument.name), {
        named: (spec.labels || {})[argument.name] || label(argument.name),
      }),
    ),
    h('div', { class: 'field' }, h('button', { type: 'submit' }, 'Apply')),
  );
  form.classList.add('compact');
  const apply = (event) => {
    event.preventDefault();
    const values = valuesOf(form);
    const all = Object.fromEntries(usable.map((argument) => [argument.name, values[argument.name]]));
    context.go(addressWith(context, { ...all, [cursorName(spec)]: undefined }));
  };
  form.addEventListener('submit', apply);
  form.addEventListener('change', (event) => {
    if (event.target.tagName === 'SELECT' || event.target.type === 'checkbox') apply(event);
  });
  return form;
}

const cursorName = (spec) => spec.cursor || 'cursor';

function valuesFor(context, spec) {
  const values = { ...spec.fixed };
  for (const [name, value] of context.query) {
    if (takes(spec.command, name)) values[name] = value;
  }
  if (takes(spec.command, 'limit')) values.limit = spec.limit || PAGE;
  return values;
}

/** Where the next page begins: as the command says, or by the last row's number. */
function nextOf(answer, spec) {
  if (answer.nextCursor) return answer.nextCursor;
  if (!spec.cursorOf || answer.data.length < (spec.limit || PAGE)) return undefined;
  return spec.cursorOf(answer.data[answer.data.length - 1]);
}

function pager(context, spec, answer) {
  const name = cursorName(spec);
  const next = nextOf(answer, spec);
  const first = context.query.get(name);
  if (!next && !first) return null;
  return h(
    'nav',
    { class: 'pager row', 'aria-label': 'Pages' },
    first && h('a', { class: 'button', href: addressWith(context, { [name]: undefined }) }, 'Newest'),
    next && h('a', { class: 'button', href: addressWith(context, { [name]: next }), rel: 'next' }, 'Older'),
  );
}

function isFiltered(context, spec) {
  return [...context.query.keys()].some((name) => takes(spec.command, name));
}

/** A long answer of a command without pages: as many rows as fit, more on demand. */
function shownRows(context, rows) {
  const most = context.shown || 100;
  return { part: rows.slice(0, most), more: rows.length - most };
}

function draw(context, spec, answer, again) {
  const rows = spec.rows ? spec.rows(answer.data) : answer.data;
  if (rows.length === 0) {
    const nothing = isFiltered(context, spec)
      ? empty('Nothing fits these filters.', h('a', { href: `#/${context.path}` }, 'Show all'))
      : empty(...(spec.empty || ['There is nothing here yet.']));
    return [nothing, pager(context, spec, answer)];
  }
  const { part, more } = shownRows(context, rows);
  return [
    table({
      caption: spec.title,
      rows: part,
      columns: spec.columns || answer.columns,
      link: spec.link,
      key: spec.key || ((row) => row.id || JSON.stringify(row)),
      actions: spec.rowActions && ((row) => h('div', { class: 'row end' }, spec.rowActions(row, again))),
    }),
    more > 0 &&
      h(
        'p',
        {},
        h(
          'button',
          {
            type: 'button',
            onclick: () => {
              context.shown = (context.shown || 100) + 100;
              again();
            },
          },
          `Show more (${more} left)`,
        ),
      ),
    pager(context, spec, answer),
  ];
}

/** The part of a screen that lists: for screens that show more than one list. */
export async function listPart(context, spec) {
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, 'Loading…'));
  if (!can(spec.command)) {
    replace(place, notBuilt(spec.command));
    return { place, again: () => {} };
  }
  const filters =
    spec.filters === false ? null : filterForm(context, spec, session.commands.get(spec.command));
  let again = () => {};
  const started = live({
    container: place,
    signal: context.signal,
    seconds: context.query.get(cursorName(spec)) ? 0 : spec.seconds || 10,
    fetch: (signal) => read(spec.command, valuesFor(context, spec), signal),
    draw: (answer) => draw(context, spec, answer, () => again()),
    failed: errorBox,
  });
  const part = h('div', {}, filters, place);
  started.then((look) => {
    again = look;
  });
  return { place: part, again: () => again() };
}

/** A whole screen. */
export async function list(context, spec) {
  const part = await listPart(context, spec);
  replace(
    context.main,
    heading(spec.title, spec.intro, spec.actions ? spec.actions(part.again) : []),
    spec.above,
    part.place,
  );
}
