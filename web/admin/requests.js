// The request log: requests of the API, and one of them with its payment, events and deliveries.
import { details } from './details.js';
import { h, replace } from './dom.js';
import { badge, exactTime, id, pretty } from './format.js';
import { list } from './list.js';
import { named, namedColumn } from './choices.js';
import { eventsPanel } from './payment.js';
import { folded, members, terms } from './record.js';
import { S } from './strings.js';
import { can, read } from './wire.js';

const R = S.requests;
const TONES = { 2: 'good', 3: 'plain', 4: 'warn', 5: 'bad' };

const statusBadge = (status) =>
  h('span', { class: `badge ${TONES[Math.floor(status / 100)] || 'plain'}` }, String(status));
const took = (us) => S.common.ms((us / 1000).toFixed(us < 10_000 ? 1 : 0));

export function requestsScreen(context) {
  list(context, {
    title: R.title,
    intro: R.intro,
    command: 'logs list',
    columns: [
      { key: 'path', label: R.request, card: 'title' },
      'method',
      {
        key: 'status',
        card: 'badge',
        render: (row) => [statusBadge(row.status), row.problem && h('span', { class: 'reason' }, row.problem)],
      },
      { key: 'at', card: 'sub' },
      { key: 'durationUs', label: R.duration, numeric: true, card: 'value', render: (row) => took(row.durationUs) },
      namedColumn('application', 'applicationId', S.payment.application),
      { key: 'requestId', label: R.id, render: (row) => id(row.requestId) },
    ],
    more: ['operation', 'environment', 'associationId', 'transactionRecordId'],
    key: (row) => row.entry,
    link: (row) => `#/requests/${encodeURIComponent(row.requestId)}?entry=${row.entry}`,
    empty: [R.empty, R.emptyNext],
  });
}

function bodyPanel(title, size, body) {
  const none = size > 0 ? R.notKept : R.withoutBody;
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, title),
    body ? h('pre', {}, pretty(body)) : h('p', { class: 'soft' }, none),
  );
}

/** The events and deliveries of the payment, which appear when they have been read. */
function paymentPart(ID) {
  const place = h('div', {});
  if (!can('payment show')) return place;
  read('payment show', { ID }).then(
    ({ data }) => replace(place, eventsPanel(data, () => {})),
    () => {},
  );
  return place;
}

export function requestScreen(context) {
  let payment;
  return details(context, {
    back: { href: '#/requests', text: R.title },
    command: 'logs show',
    ID: context.parts[1],
    values: { entry: context.query.get('entry') },
    seconds: 0,
    title: (record) => `${record.method} ${record.path}`,
    intro: (record) => [statusBadge(record.status), ' ', record.problem],
    body: (record) => {
      const paid = record.transactionRecordId;
      payment = payment || (paid && paymentPart(paid));
      return [
        h(
          'section',
          { class: 'panel' },
          h('h2', {}, R.facts),
          terms(
            [
              [R.id, id(record.requestId, undefined, true)],
              [R.time, exactTime(record.at)],
              [R.duration, took(record.durationUs)],
              [R.query, record.query],
              [S.payment.application, record.applicationId && named('application', record.applicationId)],
              [S.webhooks.association, record.associationId && named('association', record.associationId)],
              [S.payment.environment, record.environment && badge(record.environment, 'plain')],
              [R.payment, paid && h('a', { href: `#/payments/${paid}` }, R.toPayment)],
            ].filter(([, value]) => value),
          ),
        ),
        bodyPanel(R.requestBody, record.requestBytes, record.requestBody),
        bodyPanel(R.responseBody, record.responseBytes, record.responseBody),
        payment,
        folded(S.common.allDetails, members(record, { leaveOut: ['requestBody', 'responseBody'] })),
      ];
    },
  });
}
