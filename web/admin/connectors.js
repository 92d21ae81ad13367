// Providers of cash-in and cash-out: health, breaker, terms; quotes and fees.
import { action } from './action.js';
import { h } from './dom.js';
import { details, plainBody } from './details.js';
import { badge } from './format.js';
import { list } from './list.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';

const together = (key, label, text) => ({
  key,
  label,
  render: (row) => h('span', { class: 'together' }, text(row)),
});

export function connectorsScreen(context) {
  return list(context, {
    title: 'Connectors',
    intro: 'Pausing ends quotes at once; accepted payments finish.',
    command: 'connector list',
    columns: [
      'name',
      'health',
      'breaker',
      'successRate',
      'paymentsUnderWay',
      'direction',
      together('method', 'Corridor', (row) => `${row.method} ${row.countryIsoCode2}`),
      together('assetCode', 'Pair', (row) => `${row.assetCode} / ${row.currencyIsoCode3}`),
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
      }),
    empty: [
      'No connector yet.',
      'Add one for each provider, country and method; quotes for cash-outs come from them.',
    ],
  });
}

export function connectorScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/connectors', text: 'Connectors' },
    command: 'connector show',
    ID,
    title: (record) => record.name,
    intro: (record) => [
      badge(record.health || record.status),
      ` ${record.provider}, ${record.environment}`,
    ],
    actions: (record, again) => [
      verbs('connector', {
        value: ID,
        status: record.status,
        about: record.name,
        again,
        preset: {
          'set-rate': { RATE: record.rate },
          'set-url': { URL: record.baseUrl, 'timeout-ms': record.timeoutMs },
        },
      }),
      h('a', { class: 'button', href: `#/payments?connector=${ID}` }, 'Payments'),
      h('a', { class: 'button', href: `#/quotes?connector=${ID}` }, 'Quotes'),
    ],
    body: (record) => plainBody(record, { leaveOut: ['name'] }),
  });
}

export function quotesScreen(context) {
  return list(context, {
    title: 'Quotes',
    intro: 'What was offered, and whether it was taken.',
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
      idColumn('transactionRecordId', 'Payment'),
      'association',
      'environment',
      'expiresAt',
    ],
    empty: [
      'No quote yet.',
      'Applications ask for them: POST /v1/quotes. They need a connector with a rate: ',
      h('a', { href: '#/connectors' }, 'Connectors'),
    ],
  });
}

export function feesScreen(context) {
  return list(context, {
    title: 'Fees',
    intro: 'What associations pay instead of a connector’s own fee.',
    command: 'fee list',
    columns: [
      idColumn('associationId', 'Association'),
      idColumn('connectorId', 'Connector'),
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
        only: ['remove'],
        more: { CONNECTOR: row.connectorId, TYPE: row.transactionType },
      }),
    empty: ['Every association pays the connectors’ own fees.', 'Set one to make a difference.'],
  });
}
