// The list of payments.
import { action } from './action.js';
import { h } from './dom.js';
import { account, amount, badge, failureText, typeText } from './format.js';
import { list } from './list.js';
import { S } from './strings.js';

/** A name with its masked account below; a dash if both are missing. */
export function side(name, masked) {
  if (!name && !masked) return h('span', { class: 'soft' }, '–');
  return h('span', { class: 'side' }, name, masked && [' ', account(masked)]);
}

const PARTIES = {
  key: 'sourceName',
  label: S.payments.parties,
  card: 'sub',
  wide: true,
  render: (row) =>
    row.type === 'p2p_own_multi'
      ? typeText(row.type)
      : h(
          'span',
          { class: 'parties' },
          side(row.sourceName, row.sourceAccount),
          h('span', { class: 'arrow', 'aria-hidden': 'true' }, ' → '),
          h('span', { class: 'unseen' }, S.payments.to),
          side(row.destinationName, row.destinationAccount),
        ),
};

/** The status, with the failure reason below it. */
const STATUS = {
  key: 'status',
  label: S.payments.status,
  card: 'badge',
  render: (row) => [
    badge(row.status),
    // The amount given back after success, if the server lists it.
    row.refundedAmount &&
      h('span', { class: 'reason' }, S.payment.givenBack, ' ', amount(row.refundedAmount, row.sendingAssetCode)),
    row.failureCode &&
      h('span', { class: 'reason', title: row.failureMessage }, failureText(row.failureCode)),
  ],
};

const AMOUNT = {
  key: 'sendingAmount',
  label: S.label.sendingAmount,
  numeric: true,
  card: 'value',
  render: (row) => amount(row.sendingAmount, row.sendingAssetCode),
};

/** Shortens the transaction ID of a reference payment, which contains the long ID of the reference. */
const shortId = (text) => text.replace(/([0-9a-f]{8})-[0-9a-f-]{21}([0-9a-f]{6})$/, '$1…$2');

export function paymentsScreen(context) {
  return list(context, {
    title: S.payments.title,
    command: 'payment list',
    count: 'payment count',
    columns: [
      { key: 'transactionId', card: 'title', text: (row) => shortId(row.transactionId) },
      { key: 'createdAt', card: 'when' },
      STATUS,
      PARTIES,
      AMOUNT,
      'receivingAmount',
      { key: 'type', label: S.payments.kind, render: (row) => S.typeShort[row.type] || row.type },
      'association',
    ],
    more: ['environment', 'fromRef', 'toRef', 'metadata', 'failureMessage', 'updatedAt', 'id'],
    quick: ['text', 'status', 'type', 'failure'],
    bulk: { noun: 'payment', only: ['retry'], about: (row) => row.transactionId },
    views: S.payments.views,
    actions: (again) => [
      action({ command: 'payment create', main: true, done: again }),
      action({ command: 'payment bulk', done: again }),
    ],
    link: (row) => `#/payments/${row.id}`,
    empty: [S.payments.empty, S.payments.emptyNext],
  });
}
