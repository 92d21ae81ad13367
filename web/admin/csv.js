// CSV export of all rows that match the filters, read page by page.
import { dialog } from './action.js';
import { download, h, quiet } from './dom.js';
import { plainField, submitting } from './form.js';
import { toast } from './notice.js';
import { S } from './strings.js';
import { read } from './wire.js';

const C = S.csv;

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

const BOM = 'coffer-csv-bom';

/** Whether this operator's files begin with a byte order mark; the browser keeps the choice. */
function bomWanted(set) {
  try {
    if (set !== undefined) localStorage.setItem(BOM, set ? '1' : '');
    return localStorage.getItem(BOM) === '1';
  } catch {
    return Boolean(set); // storage is disabled
  }
}

/** `['Payments', 'Refunded', 'November 2026']` as `payments-refunded-november-2026`. */
export function fileName(parts) {
  const plain = parts.join(' ').toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  return plain.replace(/[^\p{L}\p{N}.]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 100) || 'coffer';
}

/** Asks for the name of the file and its form, and saves it. `rows(progress)` reads the rows. */
export function exportDialog({ name, rows }) {
  const open = dialog(C.title);
  const place = h('div', {});
  const submit = h('button', { type: 'submit', class: 'primary' }, C.save);
  const form = h(
    'form',
    { class: 'stack' },
    plainField({ name: 'file', text: C.file, value: `${fileName(name)}.csv`, required: true, autocomplete: 'off' }),
    plainField({ name: 'bom', text: C.bom, hint: C.bomHint, type: 'checkbox', checked: bomWanted() }),
    place,
    h('div', { class: 'row end' }, quiet(S.common.cancel, open.close), submit),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const bom = bomWanted(form.elements.bom.checked);
    await submitting(form, place, async () => {
      const found = await rows((text) => (submit.textContent = text));
      download(form.elements.file.value.trim(), 'text/csv', (bom ? '\ufeff' : '') + toCsv(found));
      open.close();
      toast(C.saved(found.length));
    });
    submit.textContent = C.save;
  });
  open.box.append(form);
  submit.focus();
}
