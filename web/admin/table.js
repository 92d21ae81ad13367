// A table: dense on a wide screen, one card per row on a narrow screen.
import { h } from './dom.js';
import { assetBeside, assetsShown, exactTime, id, isId, isNumeric, isTime, label, placeOf, time, units, valueNode } from './format.js';
import { S } from './strings.js';

// --- Order

/** The value by which a column orders rows: amounts of one asset stay together. */
function orderOf(column, row) {
  const value = column.order ? column.order(row) : row[column.key];
  if (value === null || value === undefined || value === '' || Array.isArray(value)) return undefined;
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value)) return { value };
  return { asset: assetBeside(row, column.key) || '', value: units(value) };
}

function compare(a, b) {
  if (a.asset !== b.asset) return (a.asset || '') < (b.asset || '') ? -1 : 1;
  if (typeof a.value === 'string' && typeof b.value === 'string' && !isTime(a.value))
    return a.value.localeCompare(b.value, undefined, { numeric: true });
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** The rows in the order of a column, {key, down}. Rows without a value come last. */
export function ordered(rows, columns, { key, down }) {
  const column = columns.map((each) => (typeof each === 'string' ? { key: each } : each)).find((each) => each.key === key);
  if (!column) return rows;
  const keyed = rows.map((row) => ({ row, order: orderOf(column, row) }));
  const known = keyed.filter(({ order }) => order).toSorted((a, b) => compare(a.order, b.order) * (down ? -1 : 1));
  return [...known, ...keyed.filter(({ order }) => !order)].map(({ row }) => row);
}

/** The heading of a column: a button, if the rows can be ordered by it. `sort`: {key, down, by(key)}. */
function headingCell(column, rows, sort) {
  const can = sort && rows.length > 1 && rows.some((row) => orderOf(column, row));
  const direction = can && sort.key === column.key && (sort.down ? 'descending' : 'ascending');
  return h(
    'th',
    { role: 'columnheader', scope: 'col', class: column.numeric ? 'right' : undefined, 'aria-sort': direction || undefined },
    can
      ? h('button', { type: 'button', class: 'sort', title: S.list.sortBy(column.label), onclick: () => sort.by(column.key) }, column.label)
      : column.label,
  );
}

// --- Choosing rows

function box(name, checked, change) {
  return h('input', { type: 'checkbox', 'aria-label': name, checked, onchange: (event) => change(event.target.checked) });
}

/** `select`: {has(row), set(rows, chosen), about(row)}. */
function selectHead(rows, select) {
  const all = box(S.bulk.all, rows.every(select.has), (chosen) => select.set(rows, chosen));
  all.indeterminate = !all.checked && rows.some(select.has);
  return h('th', { role: 'columnheader', scope: 'col', class: 'select' }, all);
}

const selectCell = (row, select) =>
  h(
    'td',
    { role: 'cell', class: 'select' },
    box(S.bulk.choose(select.about(row)), select.has(row), (chosen) => select.set([row], chosen)),
  );

// --- Cells

/**
 * `column` is a name such as `walletName`, or {key, label, render(row), numeric, card}. `card` is the position on the
 * card of a narrow screen: title, value, sub, badge or when. Cards omit columns without a position, unless no column
 * has one.
 */
function columnOf(column, rows) {
  const given = typeof column === 'string' ? { key: column } : column;
  const sample = rows.find((row) => row[given.key] !== null && row[given.key] !== undefined);
  const value = sample ? sample[given.key] : undefined;
  return {
    label: label(given.key),
    numeric: isNumeric(given.key, value),
    render: (row) => cellNode(given.key, row),
    ...given,
  };
}

function cellNode(key, row) {
  const value = row[key];
  return Array.isArray(value) ? nested(value) : valueNode(key, value, row);
}

/** A list of records inside a cell, one per line. */
function nested(records) {
  if (records.length === 0) return valueNode('', null);
  const beside = assetsShown(records, Object.keys(records[0]));
  return h(
    'ul',
    { class: 'plain' },
    records.map((record) =>
      h(
        'li',
        {},
        Object.keys(record)
          .filter((key) => !beside.has(key))
          .map((key, i) => [i > 0 && ' ', cellNode(key, record)]),
      ),
    ),
  );
}

const isBlank = (value) => value === null || value === undefined || value === '';

/**
 * {caption, rows, columns?, link?(row) -> href of the first cell, actions?(row) -> nodes, key?(row), widths?: from
 * columnWidths, sort?: {key, down, by(key)}, select?: {has(row), set(rows, chosen), about(row)}}. The caption is for screen readers; the visible title is a heading above the table.
 */
export function table({ caption, rows, columns, link, actions, key, widths, sort, select }) {
  const wanted = columns && columns.length > 0 ? columns : Object.keys(rows[0]);
  const beside = assetsShown(
    rows,
    wanted.filter((column) => typeof column === 'string'),
  );
  const cards = wanted.some(({ card }) => card);
  const shown = wanted.filter((column) => !beside.has(column)).map((column) => columnOf(column, rows));
  // A card without a time gets that of its row.
  const dated = cards && !shown.some(({ key: name, card }) => card && isTime(rows[0][name]));
  const when = dated && shown.find(({ key: name }) => /^(at|createdAt)$/.test(name));
  if (when) when.card = 'when';
  const head = h(
    'tr',
    { role: 'row' },
    select && selectHead(rows, select),
    shown.map((column) => headingCell(column, rows, sort)),
    actions && h('th', { role: 'columnheader', scope: 'col' }, h('span', { class: 'unseen' }, S.common.actions)),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      { role: 'row', 'data-key': key ? key(row) : undefined, class: 'record' },
      select && selectCell(row, select),
      shown.map((column, i) =>
        h(
          'td',
          {
            role: 'cell',
            'data-label': column.label,
            'data-card': column.card,
            class: [column.numeric && 'right', column.wide && 'parties-cell', isBlank(row[column.key]) && 'blank']
              .filter(Boolean)
              .join(' '),
          },
          h('span', {}, i === 0 && link && link(row) ? linked(column, row, link(row)) : column.render(row)),
        ),
      ),
      actions && h('td', { role: 'cell', class: 'actions' }, actions(row)),
    ),
  );
  const whole = h(
    'table',
    { role: 'table', class: widths ? 'long' : undefined },
    h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' }, head),
    h('tbody', { role: 'rowgroup' }, body),
  );
  if (widths) whole.style.setProperty('--columns', widths);
  return h(
    'div',
    {
      class: cards ? 'scroll cards' : 'scroll',
      tabindex: 0,
      role: 'region',
      'aria-label': caption,
    },
    whole,
  );
}

/** The relative column widths of the table in `place`; undefined without a table. */
export function columnWidths(place) {
  const heads = [...place.querySelectorAll('th')];
  if (heads.length === 0) return undefined;
  return heads.map((each) => `minmax(0, ${each.getBoundingClientRect().width.toFixed(1)}fr)`).join(' ');
}

function linked(column, row, href) {
  const value = row[column.key];
  if (isId(value)) return id(value, href);
  if (isTime(value)) return h('a', { href }, column.exact ? exactTime(value) : time(value));
  const text = isBlank(value) ? S.common.noName : String(value);
  const shown = column.text ? column.text(row) : text;
  return h('a', { href, title: shown === text ? undefined : text }, shown);
}

/** A column of IDs that link to the page of their object. */
export function idColumn(key, text) {
  return {
    key,
    label: text || label(key),
    render: (row) => (row[key] ? id(row[key], placeOf(key, row[key])) : valueNode(key, null)),
  };
}
