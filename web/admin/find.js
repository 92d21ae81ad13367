// Search for an object by ID, reference, name or hash, and for payments by amount, status, reason and date.
import { h, replace } from './dom.js';
import { argumentsIn } from './filters.js';
import { failureText, localised, statusText } from './format.js';
import { heading } from './list.js';
import { empty, errorBox } from './notice.js';
import { periodText } from './period.js';
import { filtersOfSearch, readSearch } from './reading.js';
import { inScope } from './scope.js';
import { table } from './table.js';
import { S } from './strings.js';
import { can, read, session } from './wire.js';

const F = S.find;
const PAYMENTS = 'payment list';
const SHOWN = 20;

const SECTIONS = [
  {
    title: S.menu.payments,
    searched: F.byId,
    command: 'payment find',
    values: (text) => ({ TEXT: text }),
    to: (row) => `#/payments/${row.id}`,
    columns: ['transactionId', 'foundAs', 'status', 'type', 'sendingAmount', 'association', 'createdAt'],
  },
  {
    title: S.menu.wallets,
    searched: F.wallets,
    command: 'wallet list',
    values: (text) => ({ text }),
    to: (row) => `#/wallets/${row.id}`,
    columns: ['walletName', 'status', 'assetCode', 'association', 'environment'],
  },
  {
    title: S.menu.beneficiaries,
    searched: F.beneficiaries,
    command: 'beneficiary list',
    values: (text) => ({ text }),
    to: (row) => `#/beneficiaries/${row.id}`,
    columns: ['name', 'type', 'status', 'association', 'environment'],
  },
];

/** One section for each list of payments that the text describes, such as refunds of a month. */
function described(text) {
  const command = session.commands.get(PAYMENTS);
  const asked = command && readSearch(text, command.arguments);
  if (!asked) return [];
  return filtersOfSearch(asked).map((filters) => {
    const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
    const words = [
      filters.status && statusText(filters.status),
      filters.failure && failureText(filters.failure),
      filters.amount && F.amount(localised(filters.amount)),
      filters.period && periodText(filters.period),
    ].filter(Boolean);
    return {
      title: F.payments(words.join(', ')),
      searched: F.filtered(words.join(', ')),
      command: PAYMENTS,
      values: () => ({ ...inScope(PAYMENTS), ...argumentsIn(query, PAYMENTS), limit: SHOWN }),
      to: (row) => `#/payments/${row.id}`,
      columns: ['transactionId', 'status', 'type', 'sendingAmount', 'receivingAmount', 'association', 'createdAt'],
      whole: `#/payments?${query}`,
    };
  });
}

/** {rows} or {rows: [], fault}, so that an error in one section does not hide the others. */
async function look(section, text, signal) {
  try {
    const { data, nextCursor } = await read(section.command, section.values(text), signal);
    return { ...section, rows: data, further: Boolean(nextCursor) };
  } catch (fault) {
    if (signal.aborted) throw fault;
    return { ...section, rows: [], fault };
  }
}

/** Rows of a section. A search without an index ends at its limit, and the list continues it. */
function sectionPart({ title, rows, columns, to, whole, further }) {
  if (rows.length === 0 && !(whole && further)) return null;
  return h(
    'section',
    {},
    h('h2', {}, title),
    rows.length === 0
      ? h('p', { class: 'soft' }, F.nothingSoFar)
      : table({ caption: title, rows, columns, link: to }),
    whole && h('p', {}, h('a', { href: whole }, further ? F.further : F.asList)),
  );
}

export async function findScreen(context) {
  const text = (context.query.get('text') || '').trim();
  const title = heading(F.title(text));
  replace(context.main, title, h('p', { class: 'soft', role: 'status' }, F.searching));
  const sections = [...described(text), ...SECTIONS].filter(({ command }) => can(command));
  const results = await Promise.all(sections.map((section) => look(section, text, context.signal)));
  const hits = results.filter(({ rows }) => rows.length > 0);
  const unfinished = results.some(({ whole, further }) => whole && further);
  if (hits.length === 1 && hits[0].rows.length === 1 && !unfinished) {
    history.replaceState(null, '', hits[0].to(hits[0].rows[0]));
    context.again();
    return;
  }
  replace(
    context.main,
    title,
    results.map(({ fault }) => fault && errorBox(fault)),
    hits.length === 0 && !unfinished && empty(F.nothing, F.nothingNext),
    results.map(sectionPart),
    h('p', { class: 'soft small' }, F.searched(sections.map(({ searched }) => searched).join('; '))),
  );
}
