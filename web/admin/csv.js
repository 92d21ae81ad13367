// CSV export of all rows that match the filters, read page by page.
import { download } from './dom.js';
import { S } from './strings.js';
import { read } from './wire.js';

const PAGES_MAX = 500; // of 200 rows; longer exports need the command line

// Spreadsheets can read a cell as a formula, even if the sign follows blanks or invisible characters or is full-width.
// src/api/ledger/csv.cpp has the same rule.
const FORMULA =
  /^(?:[\t\r\n]|[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]*[=+\-@\uFE66\uFE62\uFE63\uFE6B\uFF1D\uFF0B\uFF0D\uFF20\u2212])/u;
const NUMBER = /^-?\d+(\.\d+)?$/;

function quoted(value) {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const isPlain = (value) => !Array.isArray(value);

export function toCsv(rows) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => isPlain(row[key]))))];
  return (
    [keys, ...rows.map((row) => keys.map((key) => row[key]))]
      .map((line) => line.map(quoted).join(','))
      .join('\r\n') + '\r\n'
  );
}

/** All rows of a command that returns pages. */
export async function everyRow(command, values, { cursor: name = 'cursor', limit = 200, progress } = {}) {
  const rows = [];
  let cursor;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const result = await read(command, { ...values, limit, [name]: cursor });
    rows.push(...result.data);
    cursor = result.nextCursor;
    if (!cursor) return rows;
    if (progress) progress(S.csv.collecting(rows.length));
  }
  throw new Error(S.csv.tooLong(rows.length));
}

export function saveCsv(name, rows) {
  download(`${name}.csv`, 'text/csv', toCsv(rows));
}
