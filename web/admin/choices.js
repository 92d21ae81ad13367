// The rows of a list as choices of a field. What a row is called follows from its members, so that a new list needs no
// code here.
import { id, label, statusText } from './format.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { can, read, takes } from './wire.js';

/** What a command takes to name the row. */
export const valueOfRow = (row) => row.id ?? row.code ?? row.file ?? row.name ?? '';

const NAMES = ['walletName', 'name', 'transactionId', 'username', 'url', 'file', 'reference', 'command', 'label', 'institution', 'type'];
const MORE = ['code', 'accountNumber', 'provider', 'association', 'environment', 'direction'];

export function nameOfRow(row) {
  const key = NAMES.find((each) => row[each]);
  return key ? String(row[key]) : String(valueOfRow(row)).slice(0, 8);
}

/** What tells two rows of the same name apart. */
export function moreOfRow(row) {
  const texts = MORE.map((key) => row[key] && (S.word[row[key]] || row[key]));
  // A state in which the object cannot be used.
  if (row.status && !/^(verified|active)$/i.test(row.status)) texts.push(statusText(row.status));
  return [...new Set(texts)].filter((text) => text && text !== nameOfRow(row)).join(', ');
}

export const textOfRow = (row) => [nameOfRow(row), moreOfRow(row)].filter(Boolean).join(', ');

/** Whether the rows are too many for a select, so that the list is searched. */
export const isSearched = (list) => takes(list, 'text');

const KEPT_MS = 20_000;
const kept = new Map();

/** All rows of a short list. Forms that open within seconds share one request. */
export function rowsOf(list) {
  const values = { ...inScope(list), ...(takes(list, 'limit') ? { limit: 200 } : {}) };
  const key = list + JSON.stringify(values);
  const before = kept.get(key);
  if (before && performance.now() - before.at < KEPT_MS) return before.rows;
  const rows = read(list, values).then(({ data }) => data);
  kept.set(key, { at: performance.now(), rows });
  rows.catch(() => kept.delete(key));
  return rows;
}

const names = new Map();

/** A command that changes something may change a list and a name. */
export function forgetRows() {
  kept.clear();
  names.clear();
}

/** The command that shows one object of a list, if there is one. */
const showOf = (list) => list.replace(/ list$/, ' show');

/** The record of an object; undefined if the operator cannot read it. */
export async function recordOf(list, value) {
  try {
    if (can(showOf(list))) return (await read(showOf(list), { ID: value })).data;
    return (await rowsOf(list)).find((row) => valueOfRow(row) === value);
  } catch {
    return undefined; // the command itself reports the error
  }
}

/** Whether a field may offer a row: `only` is like `direction=OFF_RAMP`; `like` is an object to which it belongs. */
export function isOffered(row, { only }, like = {}) {
  const [key, wanted] = only ? only.split('=') : [];
  const same = (name) => [like[name], row[name]].includes(undefined) || like[name] === row[name];
  return (!only || row[key] === wanted) && same('associationId') && same('environment');
}

/** The record that a form changes: the object that `key` names, or the row that several values name together. */
export async function presentOf({ present, arguments: all }, key, values) {
  if (!present) return key && values[key.name] ? recordOf(key.from, values[key.name]) : undefined;
  const names = all.filter(({ identifies }) => identifies);
  const given = names.filter(({ name }) => values[name]);
  if (given.length === 0 || names.some((each) => each.required && !given.includes(each))) return undefined;
  const filters = {};
  const compared = [];
  for (const each of given) {
    const filter = [each.name, each.from.split(' ')[0]].find((name) => takes(present, name));
    if (filter) filters[filter] = values[each.name];
    else compared.push(each);
  }
  if (names.some(({ required }) => !required) && Object.keys(filters).length === 0) return undefined;
  const { data } = await read(present, filters).catch(() => ({ data: [] })); // the command itself reports the error
  return data.find((row) => compared.every(({ name, member }) => String(row[member]) === values[name]));
}

/** The name of the object with this value, or the beginning of the value if the name cannot be read. */
export async function nameOf(list, value) {
  const key = `${list} ${value}`;
  if (names.has(key)) return names.get(key);
  const row = await recordOf(list, value);
  if (!row) return value.slice(0, 8);
  names.set(key, nameOfRow(row));
  return nameOfRow(row);
}

export const remember = (list, row) => names.set(`${list} ${valueOfRow(row)}`, nameOfRow(row));

/** A link with the name of an association, an application or a connector; the ID until the name is known. */
export function named(kind, value) {
  const link = id(value, `#/${kind}s/${value}`);
  const show = (rows) => {
    const row = rows.find((each) => each.id === value);
    if (!row) return;
    link.textContent = row.name;
    link.classList.remove('id');
  };
  if (can(`${kind} list`)) rowsOf(`${kind} list`).then(show, () => {});
  return link;
}

/** A column that shows such names in place of IDs. */
export function namedColumn(kind, key = `${kind}Id`, text = label(kind)) {
  return { key, label: text, render: (row) => (row[key] ? named(kind, row[key]) : '–') };
}
