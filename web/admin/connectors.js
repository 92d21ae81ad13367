// Providers of cash-in and cash-out: health, breaker, terms; quotes and fees.
import { h } from './dom.js';
import { details } from './details.js';
import { badge } from './format.js';
import { list } from './list.js';
import { idColumn } from './table.js';
import { makers, verbs } from './verbs.js';

/** Columns of health, where the server tells them. */
const health = ['health', 'breaker', 'breakerState', 'lastError', 'successRate'];

const seen = (keys) => (rows) => keys.filter((key) => rows.some((row) => key in row));

export function connectorsScreen(context) {
  const spec = {
    title: 'Connectors',
    intro: 'Pausing ends quotes at once; accepted payments finish.',
    command: 'connector list',
    link: (row) => `#/connectors/${row.id}`,
    actions: (again) => makers('connector', { again, titles: { add: 'Add connector' } }),
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
  };
  spec.rows = (rows) => {
    spec.columns = [
      'name',
      'status',
      ...seen(health)(rows),
      'provider',
      'flow',
      'direction',
      'method',
      'countryIsoCode2',
      'currencyIsoCode3',
      'assetCode',
      'rate',
      'environment',
      idColumn('id'),
    ];
    return rows;
  };
  return list(context, spec);
}

export function connectorScreen(context) {
  const value = context.parts[1];
  return details(context, {
    back: { href: '#/connectors', text: 'Connectors' },
    command: 'connector show',
    fixed: { ID: value },
    list: { command: 'connector list', is: (row) => row.id === value },
    title: (record) => record.name || 'Connector',
    intro: (record) => [badge(record.status), ` ${record.provider || ''} ${record.environment || ''}`],
    actions: (record, again) =>
      verbs('connector', {
        value,
        status: record.status,
        about: record.name,
        again,
        preset: { 'set-rate': { RATE: record.rate }, 'set-url': { URL: record.baseUrl } },
      }),
    titles: { requirements: 'Fields it requires' },
  });
}

export function quotesScreen(context) {
  return list(context, {
    title: 'Quotes',
    intro: 'What was offered, and whether it was taken.',
    command: 'quote list',
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
      makers('fee', { again, argument: '', titles: { set: 'Set fee' }, except: ['remove'] }),
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
