// Wallets, the queue of those under review, statements, beneficiaries.
import { download, h, replace } from './dom.js';
import { details, plainBody } from './details.js';
import { plainField, submitting, valuesOf } from './form.js';
import { ago, amount, badge, label } from './format.js';
import { heading, list, listPart } from './list.js';
import { empty, errorBox, notBuilt } from './notice.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { can, read, session, takes } from './wire.js';

const WALLET_COLUMNS = [
  'walletName',
  'status',
  'assetCode',
  'ownAccount',
  'environment',
  idColumn('associationId', 'Association'),
  idColumn('id'),
  'createdAt',
];

const toWallet = (row) => `#/wallets/${row.id}`;

export function walletsScreen(context) {
  return list(context, {
    title: 'Wallets',
    command: 'wallet list',
    columns: WALLET_COLUMNS,
    link: toWallet,
    rowActions: (row, again) =>
      verbs('wallet', {
        value: row.id,
        status: row.status,
        about: row.walletName,
        again,
        only: ['verify', 'reject'],
      }),
    empty: ['No wallet yet.', 'Applications make them through the API: POST /v1/wallets.'],
  });
}

export function reviewsScreen(context) {
  return list(context, {
    title: 'KYC review',
    intro:
      'Wallets that wait for a decision. A wallet that is approved can transact at once; ' +
      'a rejection and its reason are shown to the integrator.',
    command: 'wallet list',
    fixed: { status: 'Pending' },
    filters: false,
    link: toWallet,
    columns: [
      'walletName',
      'assetCode',
      'environment',
      { key: 'createdAt', label: 'Waits', render: (row) => ago(row.createdAt) },
      idColumn('associationId', 'Association'),
      idColumn('id'),
    ],
    rowActions: (row, again) =>
      verbs('wallet', {
        value: row.id,
        status: row.status,
        about: row.walletName,
        again,
        only: ['verify', 'reject'],
      }),
    empty: [
      'Nobody waits for a review.',
      'New wallets of an association with review come here by themselves.',
    ],
  });
}

function balances(record) {
  if (!Array.isArray(record.balances)) return null;
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Balances'),
    record.balances.length === 0
      ? h('p', { class: 'soft' }, 'No asset yet: the wallet has no trustline.')
      : h(
          'ul',
          { class: 'figures' },
          record.balances.map((each) =>
            h(
              'li',
              {},
              h('span', { class: 'figure-value' }, amount(each.balance, each.assetCode)),
              h('span', { class: 'soft' }, 'available ', amount(each.available, each.assetCode)),
            ),
          ),
        ),
  );
}

export function walletScreen(context) {
  const wallet = context.parts[1];
  return details(context, {
    back: { href: '#/wallets', text: 'Wallets' },
    command: 'wallet show',
    fixed: { ID: wallet },
    list: { command: 'wallet list', is: (row) => row.id === wallet },
    title: (record) => record.walletName || 'Wallet',
    intro: (record) => [badge(record.status), ` ${record.environment || ''}`],
    actions: (record, again) => [
      verbs('wallet', { value: wallet, status: record.status, about: record.walletName, again }),
      can('wallet statement') &&
        h('a', { class: 'button', href: `#/statements?wallet=${wallet}` }, 'Statement'),
      takes('payment list', 'wallet') &&
        h('a', { class: 'button', href: `#/payments?wallet=${wallet}` }, 'Payments'),
    ],
    body: (record) => [balances(record), plainBody(record, { leaveOut: ['balances'] })],
  });
}

// --- Statements ---------------------------------------------------------------------------------------

const PAGES_MAX = 1000; // of 200 lines: an export that is longer belongs to the command line

function quoted(value) {
  const text = value === null || value === undefined ? '' : String(value);
  // A leading = + - @ would be a formula to a spreadsheet; numbers stay numbers.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toCsv(rows) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    [keys, ...rows.map((row) => keys.map((key) => row[key]))]
      .map((line) => line.map(quoted).join(','))
      .join('\r\n') + '\r\n'
  );
}

const linesOf = (data) => (Array.isArray(data) ? data : Object.values(data).find(Array.isArray) || []);

async function wholeStatement(values, progress) {
  const rows = [];
  let cursor;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const limit = takes('wallet statement', 'limit') ? 200 : undefined;
    const answer = await read('wallet statement', { ...values, limit, cursor });
    rows.push(...linesOf(answer.data));
    cursor = answer.nextCursor;
    if (!cursor) return rows;
    progress(`${rows.length} lines …`);
  }
  throw new Error(`More than ${rows.length} lines; choose a shorter time, or export on the command line.`);
}

function exportButtons(values, place) {
  const make = (name, type, write) => {
    const button = h('button', { type: 'button' }, `Export ${name.toUpperCase()}`);
    button.addEventListener('click', async () => {
      const status = h('p', { class: 'soft', role: 'status' }, 'Collecting …');
      replace(place, status);
      button.disabled = true;
      try {
        const rows = await wholeStatement(values, (text) => replace(status, text));
        download(`statement-${values.ID}.${name}`, type, write(rows));
        replace(place, h('p', { class: 'soft', role: 'status' }, `Exported ${rows.length} lines.`));
      } catch (fault) {
        replace(place, errorBox(fault));
      } finally {
        button.disabled = false;
      }
    });
    return button;
  };
  return [
    make('csv', 'text/csv', toCsv),
    make('ndjson', 'application/x-ndjson', (rows) =>
      rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    ),
  ];
}

export async function statementsScreen(context) {
  const title = heading('Statements', 'Every line of one wallet, with the balance after it.');
  if (!can('wallet statement')) {
    replace(context.main, title, notBuilt('wallet statement'));
    return;
  }
  const wallet = context.query.get('wallet') || '';
  const place = h('div', {});
  const optional = session.commands
    .get('wallet statement')
    .arguments.filter((argument) => ['asset', 'from', 'to'].includes(argument.name));
  const form = h(
    'form',
    { class: 'filters', 'aria-label': 'Statement' },
    plainField({
      name: 'wallet',
      text: 'Wallet ID',
      value: wallet,
      required: true,
      size: 38,
      spellcheck: 'false',
    }),
    optional.map((argument) =>
      plainField({
        name: argument.name,
        text: label(argument.name),
        value: context.query.get(argument.name) || '',
        placeholder: argument.placeholder,
      }),
    ),
    h('div', { class: 'field' }, h('button', { type: 'submit', class: 'primary' }, 'Show')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    context.go(`#/statements?${new URLSearchParams(valuesOf(form))}`);
  });
  replace(context.main, title, form, place);
  if (!wallet) {
    replace(
      place,
      empty(
        'Choose a wallet.',
        'Its page has a button for this: ',
        h('a', { href: '#/wallets' }, 'Wallets'),
      ),
    );
    return;
  }
  const chosen = Object.fromEntries(
    optional.map(({ name }) => [name, context.query.get(name) || undefined]),
  );
  const values = { ID: wallet, ...chosen };
  const exported = h('div', {});
  const part = await listPart(context, {
    title: 'Statement',
    command: 'wallet statement',
    fixed: values,
    filters: false,
    rows: linesOf,
    limit: 50,
    key: (row) => JSON.stringify(row),
    empty: ['No line in this time.', 'Widen it, or look whether the wallet was ever used.'],
  });
  replace(
    place,
    h(
      'div',
      { class: 'row' },
      h('a', { href: `#/wallets/${wallet}` }, 'To the wallet'),
      exportButtons(values, exported),
    ),
    exported,
    part.place,
  );
}

// --- Beneficiaries ------------------------------------------------------------------------------------

export function beneficiariesScreen(context) {
  return list(context, {
    title: 'Beneficiaries',
    command: 'beneficiary list',
    link: (row) => (can('beneficiary show') ? `#/beneficiaries/${row.id}` : undefined),
    empty: ['No beneficiary yet.', 'Applications make them through the API: POST /v1/beneficiaries.'],
  });
}

export function beneficiaryScreen(context) {
  const value = context.parts[1];
  return details(context, {
    back: { href: '#/beneficiaries', text: 'Beneficiaries' },
    command: 'beneficiary show',
    fixed: { ID: value },
    list: { command: 'beneficiary list', is: (row) => row.id === value },
    title: (record) => record.name || record.displayName || 'Beneficiary',
    actions: (record, again) => [
      verbs('beneficiary', { value, status: record.status, about: record.name, again }),
      takes('payment list', 'beneficiary') &&
        h('a', { class: 'button', href: `#/payments?beneficiary=${value}` }, 'Payments'),
    ],
  });
}
