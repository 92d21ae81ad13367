// Payments: the list, and everything about one.
import { action } from './action.js';
import { h } from './dom.js';
import { details } from './details.js';
import { badge, dash, label, time } from './format.js';
import { list } from './list.js';
import { inside, members } from './record.js';
import { table } from './table.js';
import { verbs } from './verbs.js';
import { can, session } from './wire.js';

export function paymentsScreen(context) {
  return list(context, {
    title: 'Payments',
    command: 'payment list',
    link: (row) => `#/payments/${row.id || row.transactionRecordId}`,
    key: (row) => row.id || row.transactionRecordId,
    empty: ['No payment yet.', 'Applications make them through the API: POST /v1/payments/…'],
  });
}

export function paymentScreen(context) {
  const value = context.parts[1];
  return details(context, {
    back: { href: '#/payments', text: 'Payments' },
    command: 'payment show',
    fixed: { ID: value },
    title: (record) => `Payment ${record.transactionId || record.reference || value.slice(0, 8)}`,
    intro: (record) => [badge(record.status), ` ${record.type || ''} ${record.environment || ''}`],
    actions: (record, again) =>
      verbs('payment', { value, status: record.status, about: record.transactionId, again }),
    body: paymentBody,
  });
}

const OWN_SECTIONS = ['timeline', 'entries', 'events', 'deliveries'];

function paymentBody(record, again) {
  return [
    record.timeline && timeline(record.timeline),
    h('section', { class: 'panel' }, h('h2', {}, 'Details'), members(record)),
    record.entries && entries(record.entries),
    record.events && events(record.events, again),
    record.deliveries &&
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, 'Deliveries'),
        record.deliveries.length > 0
          ? table({ caption: 'Deliveries', rows: record.deliveries })
          : h('p', { class: 'soft' }, 'None.'),
      ),
    inside(record, {
      leaveOut: OWN_SECTIONS,
      titles: { attempts: 'Provider attempts', providerAttempts: 'Provider attempts' },
    }),
  ];
}

/** Each state with the time it was reached. */
function timeline(steps) {
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Timeline'),
    h(
      'ol',
      { class: 'timeline' },
      steps.map((step) => {
        const what = step.status || step.state || step.event || step.what;
        const rest = Object.entries(step).filter(
          ([key, value]) =>
            !['status', 'state', 'event', 'what', 'at'].includes(key) && value !== null && value !== '',
        );
        return h(
          'li',
          {},
          what ? badge(what) : null,
          ' ',
          step.at ? time(step.at) : dash(),
          rest.map(([key, value]) => h('span', { class: 'soft' }, ` ${label(key)}: ${value}`)),
        );
      }),
    ),
  );
}

function entries(rows) {
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Entries'),
    rows.length > 0
      ? table({ caption: 'Entries', rows })
      : h('p', { class: 'soft' }, 'Nothing was booked yet.'),
  );
}

function events(rows, again) {
  const resend = ['event resend', 'events resend'].find(can);
  const argument =
    resend && session.commands.get(resend).arguments.find((each) => each.kind === 'positional');
  const buttons =
    argument &&
    ((row) =>
      action({
        command: resend,
        title: 'Resend',
        about: row.type,
        fixed: { [argument.name]: row.id || row.eventId },
        quietly: true,
        done: again,
      }));
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Events and deliveries'),
    rows.length > 0
      ? table({ caption: 'Events', rows, actions: buttons })
      : h('p', { class: 'soft' }, 'No event yet.'),
  );
}
