// Wallets, the queue of those under review, statements, beneficiaries.
import { download, h, replace } from './dom.js';
import { details, plainBody } from './details.js';
import { field, plainField, valuesOf } from './form.js';
import { ago, amount, badge } from './format.js';
import { heading, list, listPart } from './list.js';
import { empty, errorBox, notBuilt } from './notice.js';
import { panel } from './record.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { read, session } from './wire.js';

const WALLET_COLUMNS = [
  'walletName',
  'status',
  'assetCode',
  'ownAccount',
  'association',
  'environment',
  'createdAt',
  idColumn('id'),
];

const toWallet = (row) => `#/wallets/${row.id}`;

function review(row, again) {
  return verbs('wallet', {
    value: row.id,
    status: row.status,
    about: row.walletName,
    again,
    only: ['verify', 'reject'],
  });
}

export function walletsScreen(context) {
  return list(context, {
    title: 'Wallets',
    command: 'wallet list',
    columns: WALLET_COLUMNS,
    link: toWallet,
    rowActions: review,
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
      'association',
      'environment',
      { key: 'createdAt', label: 'Since', render: (row) => ago(row.createdAt) },
      idColumn('id'),
    ],
    rowActions: review,
    empty: [
      'Nobody waits for a review.',
      'New wallets of an association with review come here by themselves.',
    ],
  });
}

function balances(record) {
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
              h('span', { class: 'soft' }, 'held ', amount(each.held, each.assetCode)),
            ),
          ),
        ),
  );
}

export function walletScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/wallets', text: 'Wallets' },
    command: 'wallet show',
    ID,
    title: (record) => record.walletName,
    intro: (record) => [badge(record.status), ` ${record.environment}, ${record.association}`],
    actions: (record, again) => [
      verbs('wallet', { value: ID, status: record.status, about: record.walletName, again }),
      h('a', { class: 'button', href: `#/statements?wallet=${ID}` }, 'Statement'),
      h('a', { class: 'button', href: `#/payments?wallet=${ID}` }, 'Payments'),
    ],
    body: (record) => [
      balances(record),
      record.details.length > 0 && panel('What the review looks at', record.details),
      plainBody(record, { leaveOut: ['balances', 'details', 'walletName'] }),
    ],
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

async function wholeStatement(values, progress) {
  const rows = [];
  let cursor;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await read('wallet statement', { ...values, limit: 200, cursor });
    rows.push(...answer.data);
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

export function statementsScreen(context) {
  const title = heading('Statements', 'Every line of one wallet, with the balance after it. Newest first.');
  const command = session.commands.get('wallet statement');
  if (!command) {
    replace(context.main, title, notBuilt('wallet statement'));
    return;
  }
  const wallet = context.query.get('wallet') || '';
  const chosen = command.arguments.filter(({ name }) => ['asset', 'from', 'to'].includes(name));
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
      autocomplete: 'off',
    }),
    chosen.map((argument) => field(argument, context.query.get(argument.name), { hint: '' })),
    h('div', { class: 'field' }, h('button', { type: 'submit', class: 'primary' }, 'Show')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    context.go(`#/statements?${new URLSearchParams(valuesOf(form))}`);
  });
  if (!wallet) {
    const next = ['Its page has a button for this: ', h('a', { href: '#/wallets' }, 'Wallets')];
    replace(context.main, title, form, empty('Choose a wallet.', ...next));
    return;
  }
  const values = { ID: wallet };
  for (const { name } of chosen) values[name] = context.query.get(name);
  const exported = h('div', {});
  const part = listPart(context, {
    title: 'Statement',
    command: 'wallet statement',
    fixed: values,
    filters: false,
    columns: [
      'at',
      'direction',
      'amount',
      'runningBalance',
      'counterparty',
      'description',
      'reference',
      idColumn('transactionRecordId', 'Payment'),
    ],
    key: (row) => row.rowId,
    empty: ['No line in this time.', 'Widen it, or look whether the wallet was ever used.'],
  });
  replace(
    context.main,
    title,
    form,
    h(
      'div',
      { class: 'row above' },
      h('a', { class: 'button', href: `#/wallets/${wallet}` }, 'To the wallet'),
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
    columns: [
      'name',
      'type',
      'email',
      'phone',
      'clientReference',
      'association',
      'environment',
      'createdAt',
    ],
    link: (row) => `#/beneficiaries/${row.id}`,
    empty: ['No beneficiary yet.', 'Applications make them through the API: POST /v1/beneficiaries.'],
  });
}

export function beneficiaryScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/beneficiaries', text: 'Beneficiaries' },
    command: 'beneficiary show',
    ID,
    title: (record) => record.name,
    intro: (record) => [
      badge(record.status),
      ` ${record.type}, ${record.environment}, ${record.association}`,
    ],
    actions: () => h('a', { class: 'button', href: `#/payments?beneficiary=${ID}` }, 'Payments'),
    body: (record) => plainBody(record, { leaveOut: ['name'] }),
  });
}
