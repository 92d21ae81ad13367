// Search for an object by ID, reference, name or hash.
import { h, replace } from './dom.js';
import { heading } from './list.js';
import { empty, errorBox } from './notice.js';
import { table } from './table.js';
import { can, read } from './wire.js';
import { S } from './strings.js';

const SECTIONS = [
  {
    title: S.menu.payments,
    command: 'payment find',
    values: (text) => ({ TEXT: text }),
    to: (row) => `#/payments/${row.id}`,
    columns: ['transactionId', 'foundAs', 'status', 'type', 'sendingAmount', 'association', 'createdAt'],
  },
  {
    title: S.menu.wallets,
    command: 'wallet list',
    values: (text) => ({ text }),
    to: (row) => `#/wallets/${row.id}`,
    columns: ['walletName', 'status', 'assetCode', 'association', 'environment'],
  },
  {
    title: S.menu.beneficiaries,
    command: 'beneficiary list',
    values: (text) => ({ text }),
    to: (row) => `#/beneficiaries/${row.id}`,
    columns: ['name', 'type', 'status', 'association', 'environment'],
  },
];

/** {rows} or {rows: [], fault}, so that an error in one section does not hide the others. */
async function look(section, text, signal) {
  try {
    return { ...section, rows: (await read(section.command, section.values(text), signal)).data };
  } catch (fault) {
    if (signal.aborted) throw fault;
    return { ...section, rows: [], fault };
  }
}

export async function findScreen(context) {
  const text = (context.query.get('text') || '').trim();
  const title = heading(S.find.title(text));
  replace(context.main, title, h('p', { class: 'soft', role: 'status' }, S.find.searching));
  const results = await Promise.all(
    SECTIONS.filter(({ command }) => can(command)).map((section) => look(section, text, context.signal)),
  );
  const hits = results.filter(({ rows }) => rows.length > 0);
  if (hits.length === 1 && hits[0].rows.length === 1) {
    history.replaceState(null, '', hits[0].to(hits[0].rows[0]));
    context.again();
    return;
  }
  replace(
    context.main,
    title,
    results.map(({ fault }) => fault && errorBox(fault)),
    hits.length === 0 &&
      empty(
        S.find.nothing,
        S.find.nothingNext,
      ),
    hits.map(({ title: name, rows, columns, to }) =>
      h('section', {}, h('h2', {}, name), table({ caption: name, rows, columns, link: to })),
    ),
  );
}
