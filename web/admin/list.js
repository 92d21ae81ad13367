// A list screen: filters, rows, their number, and paging.
import { bulkBar, Chosen, hasBulk } from './bulk.js';
import { everyRow, exportDialog } from './csv.js';
import { h, replace } from './dom.js';
import { argumentsIn, filterBar, filtersOf, filterTexts } from './filters.js';
import { label } from './format.js';
import { live } from './live.js';
import { empty, errorBox, note, notBuilt } from './notice.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { columnWidths, ordered, table } from './table.js';
import { chosenColumns, columnsButton, viewsMenu } from './views.js';
import { can, read, takes } from './wire.js';

const L = S.list;
const PAGE = 50;
const MORE = 200; // rows that a command returns at once
const ROWS_MAX = 1000; // in one table; older rows are on the next page
const LIMIT_MAX = 500; // of commands without pages

/** The heading of a screen, with its actions. */
export function heading(title, intro, ...actions) {
  return h(
    'header',
    { class: 'screen' },
    h('div', {}, h('h1', { tabindex: -1 }, title), intro && h('p', { class: 'soft' }, intro)),
    h('div', { class: 'row' }, actions),
  );
}

/** The address of this screen with changed values. Blank values are removed. */
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
const isPaged = (spec) => takes(spec.command, cursorName(spec));

// --- Requests

/** The filters of the address, within the environment and association of the page. */
function filterValues(context, spec) {
  return { ...inScope(spec.command), ...argumentsIn(context.query, spec.command), ...spec.fixed };
}

function valuesFor(context, spec, shown) {
  const values = filterValues(context, spec);
  if (takes(spec.command, 'limit'))
    values.limit = Math.min(shown, isPaged(spec) ? MORE : LIMIT_MAX);
  return values;
}

const EMPTY_PAGES_MAX = 5; // that a search without an index reads before it stops, of 10,000 rows each

/**
 * Reads pages until there are as many rows as the screen shows. Stops at a page that is not full: with a filter that
 * matches few rows, the server has then reached its search limit. While nothing matches, it reads on.
 */
async function pagesOf(context, spec, state, signal) {
  const values = valuesFor(context, spec, state.shown);
  let result = await read(spec.command, values, signal);
  result.full = result.data.length === values.limit;
  for (let page = 1; isPaged(spec) && result.data.length < state.shown && nextOf(result, spec); page += 1) {
    const blank = result.data.length === 0 && page < EMPTY_PAGES_MAX;
    if (!result.full && !blank) break;
    const limit = Math.min(state.shown - result.data.length, MORE);
    const cursor = { [cursorName(spec)]: nextOf(result, spec), limit };
    const next = await read(spec.command, { ...values, ...cursor }, signal);
    result = { ...next, data: [...result.data, ...next.data], full: next.data.length === limit };
  }
  return result;
}

const COUNT_AGE_MS = 30_000;

/**
 * The number of rows, if a command counts them. If counting fails, the rows are shown without a count. The count is
 * kept for half a minute, because counting reads more rows than a page does.
 */
async function countOf(context, spec, state, signal) {
  if (!spec.count || !can(spec.count)) return undefined;
  if (state.count && Date.now() - state.countedAt < COUNT_AGE_MS) return state.count;
  const values = filterValues(context, spec);
  delete values[cursorName(spec)];
  try {
    state.count = (await read(spec.count, values, signal)).data;
    state.countedAt = Date.now();
    return state.count;
  } catch {
    return undefined;
  }
}

/** The cursor of the next page, from the command or from the last row. */
function nextOf(result, spec) {
  if (result.nextCursor) return result.nextCursor;
  if (!spec.cursorOf || !result.full) return undefined;
  return spec.cursorOf(result.data[result.data.length - 1]);
}

// --- Drawing

function pager(context, spec, result) {
  const name = cursorName(spec);
  const next = nextOf(result, spec);
  const first = context.query.get(name);
  if (!next && !first) return null;
  return h(
    'nav',
    { class: 'pager row', 'aria-label': L.pages(spec.title) },
    first && h('a', { class: 'button', href: addressWith(context, { [name]: undefined }) }, L.newest),
    next && h('a', { class: 'button', href: addressWith(context, { [name]: next }), rel: 'next' }, L.older),
  );
}

/** The number of rows after the next press of the button; undefined if there are no more. */
function nextShown(spec, result, rows, state) {
  if (isPaged(spec)) {
    if (!nextOf(result, spec) || !result.full || state.shown >= ROWS_MAX) return undefined;
    return Math.min(ROWS_MAX, state.shown - (state.shown % MORE) + MORE);
  }
  if (rows.length < state.shown) return undefined;
  if (takes(spec.command, 'limit') ? state.shown >= LIMIT_MAX : rows.length === state.shown) return undefined;
  return state.shown + PAGE;
}

function moreButton(spec, result, rows, state, again) {
  const shown = nextShown(spec, result, rows, state);
  if (!shown) return null;
  const more = () => {
    state.shown = shown;
    again();
  };
  return h('p', {}, h('button', { type: 'button', 'data-more': '', onclick: more }, L.more(shown - state.shown)));
}

/** A text such as `50 of 431`, which always says that there are more rows, and which of them are in order. */
function countText(spec, result, rows, shown, state) {
  if (rows.length === 0 || spec.limit) return null;
  const count = result.count;
  let text;
  if (count) text = L.of(shown, Math.max(shown, count.payments), count.isExact);
  else if (isPaged(spec)) text = nextOf(result, spec) ? L.andMore(shown) : L.shown(shown);
  else text = L.of(shown, rows.length, true);
  const partly = state.sort && isPaged(spec) && nextOf(result, spec);
  return h('p', { class: 'count soft small', role: 'status' }, text, partly && ` ${L.sortedPart}`);
}

function nothing(context, spec, result) {
  if (nextOf(result, spec)) return empty(L.nothingSoFar);
  const filtered = [...filtersOf(spec), { name: 'period' }].some(({ name }) => context.query.has(name));
  if (filtered) return empty(L.nothingFits, h('a', { href: `#/${context.path}` }, L.showAll));
  return empty(...(spec.empty || [L.nothing]));
}

/**
 * A long table keeps the column widths of its first rows, so that the browser does not lay out rows out of sight.
 */
function widthsFor(state, place, shown) {
  if (shown <= PAGE) state.widths = undefined;
  else state.widths = state.widths || columnWidths(place);
  return state.widths;
}

/** What the headings need: the present order, and a press of a heading, which reverses it or chooses another one. */
function sortOf(state, again) {
  return {
    ...state.sort,
    by: (key) => {
      const same = state.sort && state.sort.key === key;
      state.sort = same && state.sort.down ? undefined : { key, down: same };
      again();
    },
  };
}

function selectOf(spec, state, keyOf, again) {
  const { chosen } = state;
  return {
    about: spec.bulk.about,
    has: (row) => chosen.keys.has(keyOf(row)),
    set: (rows, on) => {
      chosen.set(rows.map(keyOf), on);
      again();
    },
  };
}

function draw(context, spec, result, state, again, place) {
  const found = spec.rows ? spec.rows(result.data) : result.data;
  const columns = chosenColumns(spec) || result.columns;
  const rows = state.sort && columns ? ordered(found, columns, state.sort) : found;
  const shown = isPaged(spec) ? rows : rows.slice(0, state.shown);
  const keyOf = spec.key || ((row) => row.id);
  const many = hasBulk(spec.bulk);
  return [
    many && bulkBar({ spec: spec.bulk, chosen: state.chosen, rows: shown, keyOf, again, redraw: again }),
    countText(spec, result, rows, shown.length, state),
    rows.length === 0
      ? nothing(context, spec, result)
      : table({
          caption: spec.title,
          rows: shown,
          columns,
          link: spec.link,
          key: keyOf,
          widths: widthsFor(state, place, shown.length),
          sort: spec.limit ? undefined : sortOf(state, again),
          select: many ? selectOf(spec, state, keyOf, again) : undefined,
          actions:
            spec.rowActions && ((row) => h('div', { class: 'row end' }, spec.rowActions(row, again))),
        }),
    result.note && note(result.note),
    !spec.limit && [moreButton(spec, result, rows, state, again), pager(context, spec, result)],
  ];
}

// --- Tools

/** All rows that match the filters. */
async function allRows(context, spec, progress) {
  const values = filterValues(context, spec);
  delete values[cursorName(spec)];
  if (isPaged(spec)) return everyRow(spec.command, values, { cursor: cursorName(spec), progress });
  return (await read(spec.command, { ...values, ...(takes(spec.command, 'limit') && { limit: LIMIT_MAX }) })).data;
}

function exportButton(context, spec) {
  const open = () =>
    exportDialog({
      // On the page of one object, the title has its name.
      name: [
        ...(context.parts.length > 1 ? [document.title.replace(/ – coffer$/, '')] : []),
        spec.title,
        ...filterTexts(context.query, spec),
      ],
      rows: (progress) => allRows(context, spec, progress),
    });
  return h('button', { type: 'button', class: 'quiet', 'data-export': '', onclick: open }, L.exportCsv);
}

const columnTitle = (column) =>
  typeof column === 'string' ? label(column) : column.label || label(column.key);

function tools(context, spec, redraw) {
  if (spec.tools === false) return [];
  return [
    viewsMenu(context, spec, redraw),
    columnsButton(spec, columnTitle, redraw),
    exportButton(context, spec),
  ];
}

/**
 * The list of a screen. {title, command, count: the command that counts, fixed: values that cannot be
 * changed, filters: false for none, tools: false for no export, quick: filters beside the list, views, columns,
 * bulk: commands for several rows (bulk.js), more: columns that are hidden by default, rows(data), key(row), link(row), rowActions(row, again),
 * empty: [text, ...next step], cursor: name of the argument, cursorOf(row)}.
 */
export function listPart(context, spec) {
  if (!can(spec.command)) return { place: notBuilt(spec.command), again: () => {} };
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, S.app.loading));
  const bar = h('div', {});
  const first = spec.limit || PAGE;
  const state = { shown: first, chosen: new Chosen() };
  const again = live({
    container: place,
    signal: context.signal,
    seconds: () => (context.query.get(cursorName(spec)) || state.isBlank ? 0 : state.shown > PAGE ? 60 : 5),
    fetch: async (signal) => {
      const [result, count] = await Promise.all([
        pagesOf(context, spec, state, signal),
        countOf(context, spec, state, signal),
      ]);
      state.isBlank = result.data.length === 0 && Boolean(nextOf(result, spec)); // a search that read its limit
      return count ? { ...result, count } : result;
    },
    draw: (result) => draw(context, spec, result, state, again, place),
    failed: errorBox,
  });
  const apply = (values) => context.go(addressWith(context, { ...values, [cursorName(spec)]: undefined }));
  const drawBar = () => replace(bar, filterBar(context, spec, apply, tools(context, spec, drawAll)));
  const drawAll = () => {
    state.shown = first; // the new columns have different widths
    drawBar();
    again();
  };
  drawBar();
  return { place: h('div', {}, bar, place), again };
}

/** A complete screen; `spec` also has {intro, actions(again)}. */
export function list(context, spec) {
  const part = listPart(context, spec);
  replace(
    context.main,
    heading(spec.title, spec.intro, spec.actions && spec.actions(part.again)),
    part.place,
  );
}
