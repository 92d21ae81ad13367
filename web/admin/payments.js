// Payments: the list, and everything about one.
import { h } from './dom.js';
import { details } from './details.js';
import { amount, badge, time } from './format.js';
import { list } from './list.js';
import { members, panel } from './record.js';
import { verbs } from './verbs.js';
import { resend } from './webhooks.js';

export function paymentsScreen(context) {
  return list(context, {
    title: 'Payments',
    command: 'payment list',
    columns: [
      'transactionId',
      'createdAt',
      'status',
      'type',
      'sendingAmount',
      'receivingAmount',
      'association',
      'environment',
    ],
    link: (row) => `#/payments/${row.id}`,
    empty: ['No payment yet.', 'Applications make them through the API: POST /v1/payments/…'],
  });
}

/** What an operator may end by hand: only where somebody outside moves the money. */
const isRamp = (record) => ['offramp', 'onramp'].includes(record.type);

const ACCOUNT = {
  key: 'account',
  render: (row) =>
    row.walletId ? h('a', { href: `#/wallets/${row.walletId}` }, row.account) : row.account,
};

export function paymentScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/payments', text: 'Payments' },
    command: 'payment show',
    ID,
    title: (record) => `Payment ${record.transactionId}`,
    intro: (record) => [
      badge(record.status),
      ` ${record.type}, ${record.environment}, `,
      amount(record.sendingAmount, record.sendingAssetCode),
    ],
    actions: (record, again) =>
      verbs('payment', {
        value: ID,
        status: record.status,
        about: record.transactionId,
        again,
        except: isRamp(record) ? [] : ['resolve'],
        preset: { resolve: { as: record.status.startsWith('refund') ? 'refunded' : undefined } },
      }),
    body: (record, again) => [
      timeline(record),
      h('section', { class: 'panel' }, h('h2', {}, 'Details'), members(record)),
      panel('Entries', record.entries, {
        columns: ['at', 'kind', ACCOUNT, 'amount', 'runningBalance', 'counterparty'],
        none: 'Nothing was booked yet.',
      }),
      record.legs.length > 0 && panel('Legs', record.legs),
      record.providerAttempts.length > 0 &&
        panel('Provider attempts', record.providerAttempts, {
          columns: ['call', 'attempt', 'openedAt', 'closedAt', 'outcome'],
        }),
      record.instructions.length > 0 && panel('Instructions for the payer', record.instructions),
      record.additionalFields.length > 0 && panel('Additional fields', record.additionalFields),
      panel('Events', record.events, {
        columns: ['type', 'sequence', 'version', 'at', 'id'],
        link: (row) => `#/events/${row.id}`,
        actions: (row) => resend(row.type, { ID: row.id }, again),
        none: 'No event yet.',
      }),
      panel('Deliveries', record.deliveries, {
        columns: ['url', 'type', 'status', 'attempts', 'lastAnswer', 'nextAttemptAt', 'closedAt'],
        link: (row) => `#/webhooks/${row.webhookId}`,
        actions: (row) => resend(row.type, { ID: row.eventId, webhook: row.webhookId }, again),
        none: 'No webhook asked for its events.',
      }),
    ],
  });
}

/** Each state with the time it was reached, and what was said. */
function timeline(record) {
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Timeline'),
    h(
      'ol',
      { class: 'timeline' },
      record.timeline.map((step) =>
        h(
          'li',
          {},
          badge(step.status),
          ' ',
          time(step.at),
          step.code && [' ', h('code', {}, step.code)],
          step.message && h('span', { class: 'soft' }, ` ${step.message}`),
        ),
      ),
    ),
  );
}
