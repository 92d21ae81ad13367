// Wallets and beneficiaries.
import { action } from './action.js';
import { details, plainBody } from './details.js';
import { h } from './dom.js';
import { account, amount, badge, exactTime, label } from './format.js';
import { list, listPart } from './list.js';
import { folded, members, panel } from './record.js';
import { S } from './strings.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';

const W = S.wallets;

const toWallet = (row) => `#/wallets/${row.id}`;

const BALANCE = {
  key: 'balances',
  label: W.balance,
  numeric: true,
  card: 'value',
  order: (row) => row.balance,
  render: (row) => {
    const shown = shownBalances(row);
    const hidden = row.balances.length - shown.length;
    return h(
      'ul',
      { class: 'plain' },
      shown.map((each) => h('li', {}, amount(each.balance, each.assetCode))),
      hidden > 0 && h('li', { class: 'soft small' }, W.zeroBalances(hidden)),
    );
  },
};

const isZero = ({ balance }) => /^[0.]*$/.test(balance);

/** The balances other than zero, or all if every balance is zero. */
function shownBalances({ balances }) {
  const held = balances.filter((each) => !isZero(each));
  return held.length > 0 ? held : balances;
}

function decide(row, again) {
  return verbs('wallet', {
    value: row.id,
    status: row.status,
    about: row.walletName,
    again,
    only: ['verify', 'reject'],
    titles: { verify: W.approve, reject: W.reject },
  });
}

/** The decisions about several wallets. */
export const DECISIONS = {
  noun: 'wallet',
  only: ['verify', 'reject'],
  titles: { verify: W.approve, reject: W.reject },
  about: (row) => row.walletName,
};

export function walletsScreen(context) {
  return list(context, {
    title: W.title,
    command: 'wallet list',
    columns: [
      { key: 'walletName', card: 'title' },
      { key: 'status', card: 'badge' },
      BALANCE,
      { key: 'accountNumber', card: 'sub' },
      'ownAccount',
      'association',
      'createdAt',
    ],
    more: ['environment', 'assetCode', 'statusCode', 'publicKey', idColumn('id'), 'updatedAt'],
    views: W.views,
    link: toWallet,
    actions: (again) => action({ command: 'wallet create', main: true, done: again }),
    rowActions: decide,
    bulk: DECISIONS,
    empty: [W.empty, W.emptyNext],
  });
}

function balances(record) {
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, W.balances),
    record.balances.length === 0
      ? h('p', { class: 'soft' }, W.noBalance)
      : h(
          'ul',
          { class: 'figures' },
          record.balances.map((each) =>
            h(
              'li',
              {},
              h('span', { class: 'figure-value' }, amount(each.balance, each.assetCode)),
              h('span', { class: 'soft' }, W.available, amount(each.available, each.assetCode)),
              h('span', { class: 'soft' }, W.held, amount(each.held, each.assetCode)),
            ),
          ),
        ),
  );
}

/** The columns of a statement, here and on its own screen. */
export const ENTRY_COLUMNS = [
  { key: 'at', card: 'sub', exact: true, render: (row) => exactTime(row.at) },
  { key: 'counterparty', card: 'title' },
  'description',
  'reference',
  { key: 'amount', card: 'value' },
  { key: 'runningBalance', card: 'badge' },
];

export function walletScreen(context) {
  const ID = context.parts[1];
  const recent = listPart(context, {
    title: W.activity,
    command: 'wallet statement',
    fixed: { ID },
    limit: 10,
    filters: false,
    tools: false,
    columns: ENTRY_COLUMNS,
    link: (row) => row.transactionRecordId && `#/payments/${row.transactionRecordId}`,
    key: (row) => row.rowId,
    empty: [W.noActivity],
  });
  return details(context, {
    back: { href: '#/wallets', text: W.title },
    command: 'wallet show',
    ID,
    title: (record) => record.walletName,
    intro: (record) => [
      badge(record.status),
      ' ',
      account(record.accountNumber),
      ` ${record.association}, ${S.word[record.environment]}`,
    ],
    actions: (record, again) => [
      verbs('wallet', { value: ID, status: record.status, about: record.walletName, again }),
      record.status === 'Verified' &&
        action({ command: 'payment create', title: W.pay, preset: { wallet: ID }, done: again }),
      h('a', { class: 'button', href: `#/statements?wallet=${ID}` }, W.statement),
      h('a', { class: 'button', href: `#/payments?wallet=${ID}` }, W.payments),
    ],
    body: (record) => [
      record.statusMessage &&
        h('p', { class: 'notice warn' }, h('strong', {}, record.statusCode), ` ${record.statusMessage}`),
      balances(record),
      record.details.length > 0 && panel(W.evidence, record.details),
      folded(
        S.common.allDetails,
        members(record, { leaveOut: ['balances', 'details', 'walletName', 'statusMessage'] }),
      ),
    ],
    below: h(
      'section',
      {},
      h('h2', {}, W.activity),
      recent.place,
      h('p', {}, h('a', { href: `#/statements?wallet=${ID}` }, W.all)),
    ),
  });
}

// --- Beneficiaries

const B = S.beneficiaries;

export function beneficiariesScreen(context) {
  return list(context, {
    title: B.title,
    command: 'beneficiary list',
    columns: [
      { key: 'name', card: 'title' },
      { key: 'type', card: 'badge' },
      { key: 'email', card: 'sub' },
      'phone',
      'clientReference',
      'association',
      'createdAt',
    ],
    more: ['environment', idColumn('id')],
    actions: (again) => action({ command: 'beneficiary create', main: true, done: again }),
    link: (row) => `#/beneficiaries/${row.id}`,
    empty: [B.empty, B.emptyNext],
  });
}

export function beneficiaryScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/beneficiaries', text: B.title },
    command: 'beneficiary show',
    ID,
    title: (record) => record.name,
    intro: (record) => [
      badge(record.status),
      ` ${S.word[record.type] || record.type}, ${S.word[record.environment]}, ${record.association}`,
    ],
    actions: (record, again) => [
      action({ command: 'payment create', title: B.pay, preset: { beneficiary: ID }, main: true, done: again }),
      h('a', { class: 'button', href: `#/payments?beneficiary=${ID}` }, B.payments),
    ],
    body: (record) =>
      plainBody(record, {
        leaveOut: ['name', 'status', 'type', 'environment', 'association'],
        links: [[label('association'), h('a', { href: `#/associations/${record.associationId}` }, record.association)]],
      }),
  });
}
