// Connectors to providers: health, circuit breaker and terms; quotes and fees.
import { action } from './action.js';
import { h } from './dom.js';
import { details, plainBody } from './details.js';
import { badge } from './format.js';
import { list } from './list.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { namedColumn } from './choices.js';
import { S } from './strings.js';

const together = (key, label, text) => ({
  key,
  label,
  render: (row) => h('span', { class: 'together' }, text(row)),
});

/** The asset or currency that is sent and the one that is received. */
const pairOf = ({ direction, assetCode, currencyIsoCode3 }) =>
  (direction === 'ON_RAMP' ? [currencyIsoCode3, assetCode] : [assetCode, currencyIsoCode3]).join(' → ');

export function connectorsScreen(context) {
  return list(context, {
    title: S.menu.connectors,
    intro: S.connectors.intro,
    command: 'connector list',
    columns: [
      'name',
      'health',
      'breaker',
      'successRate',
      'paymentsInProgress',
      'direction',
      together('method', S.connectors.corridor, (row) => `${S.word[row.method] || row.method}, ${row.countryIsoCode2}`),
      together('assetCode', S.connectors.pair, (row) => pairOf(row)),
      'rate',
      'environment',
    ],
    link: (row) => `#/connectors/${row.id}`,
    actions: (again) =>
      action({ command: 'connector add', main: true, done: again }),
    rowActions: (row, again) =>
      verbs('connector', {
        value: row.id,
        status: row.status,
        about: row.name,
        again,
        only: ['pause', 'resume'],
        titles: { pause: S.connectors.pause, resume: S.connectors.resume },
      }),
    empty: [
      S.connectors.empty,
      S.connectors.emptyNext,
    ],
  });
}

/** The commands that this connector rejects: prices of a provider that sets its own, and what only a provider has. */
function withoutEffect(record) {
  const unpriced = record.rate === undefined ? ['set-rate', 'set-fee'] : [];
  const own = record.toleranceBasisPoints === undefined ? ['set-tolerance'] : [];
  const local = record.baseUrl === undefined ? ['set-url', 'rotate-secret'] : [];
  return [...unpriced, ...own, ...local];
}

export function connectorScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/connectors', text: S.menu.connectors },
    command: 'connector show',
    ID,
    title: (record) => record.name,
    intro: (record) => [
      badge(record.health || record.status),
      ` ${record.provider}, ${S.word[record.environment]}`,
    ],
    actions: (record, again) => [
      verbs('connector', {
        value: ID,
        status: record.status,
        about: record.name,
        again,
        except: withoutEffect(record),
      }),
      h('a', { class: 'button', href: `#/payments?connector=${ID}` }, S.menu.payments),
      h('a', { class: 'button', href: `#/quotes?connector=${ID}` }, S.menu.quotes),
    ],
    body: (record) => plainBody(record, { leaveOut: ['name', 'feeFixed', 'feeBasisPoints'] }),
  });
}

export function quotesScreen(context) {
  return list(context, {
    title: S.menu.quotes,
    intro: S.quotes.intro,
    command: 'quote list',
    columns: [
      'createdAt',
      'status',
      {
        key: 'connector',
        render: (row) => h('a', { href: `#/connectors/${row.connectorId}` }, row.connector),
      },
      'sendAmount',
      'receiveAmount',
      'fee',
      'rate',
      {
        key: 'transactionRecordId',
        label: S.statements.payment,
        render: (row) =>
          row.transactionRecordId
            ? h('a', { href: `#/payments/${row.transactionRecordId}` }, S.quotes.toPayment)
            : '–',
      },
      'association',
    ],
    more: ['environment', 'expiresAt', idColumn('transactionRecordId', S.quotes.paymentId)],
    empty: [
      S.quotes.empty,
      S.quotes.emptyNext,
      h('a', { href: '#/connectors' }, S.menu.connectors),
    ],
  });
}

export function feesScreen(context) {
  return list(context, {
    title: S.menu.fees,
    intro: S.fees.intro,
    command: 'fee list',
    columns: [
      namedColumn('association'),
      namedColumn('connector'),
      'transactionType',
      { key: 'fee', numeric: true },
    ],
    key: (row) => `${row.associationId} ${row.connectorId} ${row.transactionType}`,
    actions: (again) =>
      action({ command: 'fee set', main: true, quietly: true, done: again }),
    rowActions: (row, again) =>
      verbs('fee', {
        value: row.associationId,
        argument: 'ASSOCIATION',
        about: row.associationId,
        again,
        only: ['set', 'remove'],
        more: { CONNECTOR: row.connectorId, TYPE: row.transactionType },
      }),
    empty: [S.fees.empty, S.fees.emptyNext],
  });
}
