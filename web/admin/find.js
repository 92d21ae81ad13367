// One thing among a million: by any id, reference, name or hash.
import { h, replace } from './dom.js';
import { heading } from './list.js';
import { empty, errorBox } from './notice.js';
import { table } from './table.js';
import { can, read, session, takes } from './wire.js';

async function found(command, values, signal) {
  if (!can(command)) return [];
  const { data } = await read(command, values, signal);
  return Array.isArray(data) ? data : [data];
}

/** What a command calls the one thing it is told. */
function wanted(command) {
  const row = session.commands.get(command);
  const argument = row && row.arguments.find((each) => each.kind === 'positional');
  return argument ? argument.name : 'TEXT';
}

/** What kind of thing a row is: `payment find` may find wallets too. */
const sections = [
  {
    title: 'Payments',
    look: (text, signal) => found('payment find', { [wanted('payment find')]: text }, signal),
    to: (row) => `#/payments/${row.id || row.transactionRecordId}`,
  },
  {
    title: 'Wallets',
    look: (text, signal) =>
      takes('wallet list', 'text') ? found('wallet list', { text, limit: 20 }, signal) : [],
    to: (row) => `#/wallets/${row.id}`,
  },
  {
    title: 'Beneficiaries',
    look: (text, signal) =>
      takes('beneficiary list', 'text') ? found('beneficiary list', { text, limit: 20 }, signal) : [],
    to: (row) => `#/beneficiaries/${row.id}`,
  },
];

/** A whole id of a wallet or a beneficiary finds it even where no list takes text. */
async function byId(command, text, signal) {
  if (!can(command) || !/^[0-9a-f-]{36}$/i.test(text)) return [];
  return found(command, { ID: text }, signal).catch(() => []);
}

export async function findScreen(context) {
  const text = (context.query.get('text') || '').trim();
  replace(
    context.main,
    heading(`Search: ${text}`),
    h('p', { class: 'soft', role: 'status' }, 'Searching …'),
  );
  const results = await Promise.all(
    sections.map(async (section) => {
      try {
        return { ...section, rows: await section.look(text, context.signal) };
      } catch (fault) {
        if (fault.name === 'AbortError') throw fault;
        // Not found is an answer here.
        return {
          ...section,
          rows: [],
          fault: fault.status === 404 || fault.status === 400 ? undefined : fault,
        };
      }
    }),
  );
  for (const [i, command] of [
    [1, 'wallet show'],
    [2, 'beneficiary show'],
  ]) {
    if (results[i].rows.length === 0) results[i].rows = await byId(command, text, context.signal);
  }
  const hits = results.filter((each) => each.rows.length > 0);
  if (hits.length === 1 && hits[0].rows.length === 1) {
    history.replaceState(null, '', hits[0].to(hits[0].rows[0]));
    context.again();
    return;
  }
  replace(
    context.main,
    heading(`Search: ${text}`),
    results.filter((each) => each.fault).map((each) => errorBox(each.fault)),
    hits.length === 0 &&
      empty(
        'Nothing was found.',
        'Payments are found by record id, transactionId, wallet or beneficiary id, reference, and ledger ',
        'hash. ',
        'A request id is in the log and in the audit log, not in the file.',
      ),
    hits.map((each) =>
      h(
        'section',
        {},
        h('h2', {}, each.title),
        table({ caption: each.title, rows: each.rows.map(plain), link: each.to }),
      ),
    ),
  );
}

/** Without lists inside: this is only to choose from. */
function plain(row) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => !Array.isArray(value)));
}
