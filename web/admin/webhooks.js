// Events and their deliveries to the integrators' receivers.
import { action } from './action.js';
import { h } from './dom.js';
import { details, plainBody } from './details.js';
import { badge, id, isId } from './format.js';
import { list, listPart } from './list.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { can, read } from './wire.js';

export function webhooksScreen(context) {
  return list(context, {
    title: 'Webhooks',
    intro: 'Where events go, and whether they arrive. A dead letter is a delivery that was given up.',
    command: 'webhook list',
    columns: [
      'url',
      'status',
      'health',
      'pending',
      'deadLetters',
      'lastResponseStatus',
      'lastAttemptAt',
      'environment',
      idColumn('associationId', 'Association'),
    ],
    link: (row) => `#/webhooks/${row.id}`,
    empty: ['No webhook yet.', 'Applications register them through the API: POST /v1/webhooks.'],
  });
}

export function webhookScreen(context) {
  const ID = context.parts[1];
  const deliveries = listPart(context, {
    title: 'Deliveries',
    command: 'webhook deliveries',
    fixed: { ID },
    columns: ['type', 'status', 'attempts', 'lastAnswer', 'createdAt', 'nextAttemptAt', 'sequence'],
    key: (row) => row.eventId,
    link: (row) => `#/events/${row.eventId}`,
    rowActions: (row, again) => [resend(row.type, { ID: row.eventId, webhook: ID }, again)],
    empty: ['No delivery yet.', 'They are made when something happens that the webhook asks for.'],
  });
  details(context, {
    back: { href: '#/webhooks', text: 'Webhooks' },
    command: 'webhook list',
    listed: true,
    ID,
    title: (record) => record.url,
    intro: (record) => [badge(record.status), ' ', record.health && badge(record.health)],
    actions: (record, again) =>
      verbs('webhook', {
        value: ID,
        status: record.status,
        about: record.url,
        again: () => {
          again();
          deliveries.again();
        },
      }),
    below: h('section', {}, h('h2', {}, 'Deliveries'), deliveries.place),
  });
}

/** The button that delivers an event again: to one webhook, or to all that take its type. */
export function resend(about, fixed, done) {
  return action({ command: 'events resend', title: 'Resend', about, fixed, quietly: true, done });
}

/** What an event is about has a page of its own, by the first word of its type; a sample's has none. */
function placeOfSubject({ type, about, test }) {
  const noun = { payment: 'payments', wallet: 'wallets', beneficiary: 'beneficiaries' }[type.split('.')[0]];
  return noun && isId(about) && !test ? `#/${noun}/${about}` : undefined;
}

export async function eventsScreen(context) {
  // Each association numbers its events by itself: one of them is shown.
  if (can('association list') && !context.query.has('association')) {
    const { data } = await read('association list', {}, context.signal);
    if (data.length > 0) context.query.set('association', data[0].id);
  }
  list(context, {
    title: 'Events',
    intro: 'What happened, as integrators are told. Newest first.',
    command: 'events list',
    rows: (data) => data.toSorted((a, b) => b.sequence - a.sequence),
    columns: [
      'type',
      'at',
      { key: 'about', render: (row) => id(row.about, placeOfSubject(row)) },
      { key: 'amount', numeric: true },
      'sequence',
      { key: 'test', render: (row) => row.test && badge('test') },
    ],
    link: (row) => `#/events/${row.id}`,
    rowActions: (row, again) => [resend(row.type, { ID: row.id }, again)],
    actions: (again) => action({ command: 'trigger', done: again }),
    empty: ['No event yet.', 'Payments, wallets and quotes make them.'],
  });
}

export function eventScreen(context) {
  const ID = context.parts[1];
  details(context, {
    back: { href: '#/events', text: 'Events' },
    command: 'events show',
    ID,
    title: (record) => record.type,
    actions: (record, again) => {
      const href = placeOfSubject(record);
      return [
        resend(record.type, { ID }, again),
        href && h('a', { class: 'button', href }, 'What it is about'),
      ];
    },
    body: (record) => [
      plainBody(record, { leaveOut: ['type', 'body'] }),
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, 'What is delivered'),
        h('pre', {}, JSON.stringify(JSON.parse(record.body), null, 2)),
      ),
    ],
  });
}
