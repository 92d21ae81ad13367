// Events, webhooks, their deliveries and every attempt.
import { action } from './action.js';
import { chart } from './chart.js';
import { details, plainBody } from './details.js';
import { h } from './dom.js';
import { DAY, HOUR, MOMENT, amount, badge, exactTime, id, isId, label, now, pretty, time } from './format.js';
import { list, listPart } from './list.js';
import { live } from './live.js';
import { errorBox } from './notice.js';
import { named, namedColumn } from './choices.js';
import { folded, members, terms } from './record.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { verbs } from './verbs.js';
import { can, read } from './wire.js';

const W = S.webhooks;

const typesText = (types) => (types === '*' ? W.everyType : types.replaceAll(',', ', '));

function help() {
  return folded(
    W.help,
    W.helpText.map((text) => h('p', {}, text)),
  );
}

export function webhooksScreen(context) {
  list(context, {
    title: W.title,
    intro: W.intro,
    command: 'webhook list',
    columns: [
      { key: 'url', card: 'title' },
      { key: 'status', card: 'badge', render: (row) => badge(row.health || row.status) },
      { key: 'eventTypes', label: W.types, render: (row) => typesText(row.eventTypes), card: 'sub' },
      'pending',
      'deadLetters',
      {
        key: 'lastResponseStatus',
        card: 'value',
        render: (row) => row.lastResponseStatus || (row.lastAttemptAt ? W.noResponse : '–'),
      },
      'lastAttemptAt',
      'environment',
      namedColumn('association', 'associationId', W.association),
    ],
    link: (row) => `#/webhooks/${row.id}`,
    bulk: { noun: 'webhook', about: (row) => row.url },
    actions: (again) => action({ command: 'webhook create', main: true, done: again }),
    empty: [W.empty, W.emptyNext],
  });
  context.main.append(help());
}

// --- One webhook

const HOUR_MS = 3_600_000;
const BARS = 24;

/** Groups the latest deliveries by event time into as many intervals as the chart can show. */
function spans(rows) {
  const at = (row) => new Date(row.createdAt).getTime();
  const first = Math.min(...rows.map(at));
  const last = Math.max(...rows.map(at));
  const width = Math.max(HOUR_MS, Math.ceil((last - first + 1) / BARS / HOUR_MS) * HOUR_MS);
  const from = Math.floor(first / width) * width;
  const count = Math.floor((last - from) / width) + 1;
  return Array.from({ length: Math.max(count, 6) }, (_, i) => {
    const start = from + (i - Math.max(0, 6 - count)) * width;
    const here = rows.filter((row) => at(row) >= start && at(row) < start + width);
    const of = (...states) => here.filter(({ status }) => states.includes(status)).length;
    return {
      label: MOMENT.format(start),
      tick: last - first < 24 * HOUR_MS ? HOUR.format(start) : DAY.format(start),
      delivered: of('delivered'),
      dead: of('dead', 'oversize'),
      pending: of('pending'),
    };
  });
}

const LATEST = 200;

function healthPart(context, ID) {
  const place = h('div', {}, h('p', { class: 'soft' }, S.app.loading));
  const again = live({
    container: place,
    signal: context.signal,
    seconds: 15,
    fetch: async (signal) => (await read('webhook deliveries', { ID, limit: LATEST }, signal)).data,
    draw: (rows) => {
      if (rows.length === 0) return h('p', { class: 'soft' }, W.noHealth);
      const of = (state) => rows.filter(({ status }) => status === state).length;
      return chart({
        title: W.health,
        summary: W.healthSummary(of('delivered'), of('dead'), rows.length),
        buckets: spans(rows),
        series: [
          { key: 'delivered', name: S.status.delivered, tone: 'good' },
          { key: 'dead', name: S.status.dead, tone: 'bad' },
          { key: 'pending', name: S.status.pending, tone: 'busy' },
        ],
      });
    },
    failed: errorBox,
  });
  return { place: h('section', { class: 'panel' }, place), again };
}

/** The time 24 hours ago, in the format of a command argument. */
const dayBack = () => new Date(now().getTime() - 24 * HOUR_MS).toISOString();

export function webhookScreen(context) {
  if (context.parts.length > 2) {
    deliveryScreen(context);
    return;
  }
  const ID = context.parts[1];
  const deliveries = listPart(context, {
    title: W.deliveries,
    command: 'webhook deliveries',
    fixed: { ID },
    columns: [
      { key: 'type', card: 'title' },
      { key: 'status', card: 'badge' },
      { key: 'attempts', numeric: true },
      { key: 'lastResponse', card: 'value' },
      { key: 'createdAt', card: 'sub' },
      'nextAttemptAt',
      'sequence',
    ],
    key: (row) => row.eventId,
    link: (row) => `#/webhooks/${ID}/${row.eventId}`,
    rowActions: (row, again) => [resend(row.type, { ID: row.eventId, webhook: ID }, again)],
    bulk: {
      noun: 'events',
      titles: { resend: W.redeliver },
      about: (row) => row.type,
      fixed: (row) => ({ ID: row.eventId, webhook: ID }),
    },
    empty: [W.noDeliveries, W.noDeliveriesNext],
  });
  const health = healthPart(context, ID);
  details(context, {
    back: { href: '#/webhooks', text: W.title },
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
        // The page of the delivery shows the response when it arrives.
        after: { test: ({ data }) => context.go(`#/webhooks/${ID}/${data.eventId}`) },
        preset: { recover: { from: dayBack() } },
        again: () => {
          again();
          deliveries.again();
          health.again();
        },
      }),
    body: (record) => [
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, W.facts),
        terms(
          [
            [W.types, typesText(record.eventTypes)],
            [label('deadLetters'), String(record.deadLetters)],
            [label('pending'), String(record.pending)],
            [label('pausedUntil'), record.pausedUntil && exactTime(record.pausedUntil)],
            [label('lastResponseStatus'), record.lastResponseStatus || (record.lastAttemptAt && W.noResponse)],
            [label('lastAttemptAt'), record.lastAttemptAt && exactTime(record.lastAttemptAt)],
            [W.association, named('association', record.associationId)],
            [S.payment.application, named('application', record.applicationId)],
            [S.payment.environment, badge(record.environment, 'plain')],
            [S.payment.description, record.description],
          ].filter(([, value]) => value),
        ),
      ),
      folded(S.common.allDetails, members(record)),
    ],
    below: h('div', {}, health.place, h('section', {}, h('h2', {}, W.deliveries), deliveries.place), help()),
  });
}

// --- One delivery

const part = (summary, text) => h('details', {}, h('summary', {}, summary), h('pre', {}, text));

function attemptPanel(attempt, url) {
  const good = /^2\d\d$/.test(attempt.responseStatus || '');
  const said = attempt.responseStatus ? W.status(attempt.responseStatus) : W.noResponse;
  return h(
    'li',
    {},
    h(
      'span',
      { class: 'row' },
      h('strong', {}, W.attempt(attempt.attempt)),
      h('span', { class: `badge ${good ? 'good' : 'bad'}` }, said),
      exactTime(attempt.at),
      h('span', { class: 'soft' }, W.took(attempt.durationMs)),
    ),
    attempt.fault && h('p', {}, attempt.fault),
    attempt.requestHeaders && part(W.requestHeaders, `POST ${url}\n${attempt.requestHeaders}`),
    attempt.responseHeaders && part(W.responseHeaders, attempt.responseHeaders),
    attempt.responseStatus &&
      (attempt.responseBody
        ? part(W.responseBody, attempt.responseBody)
        : h('p', { class: 'soft' }, W.emptyBody)),
  );
}

function deliveryScreen(context) {
  const [, ID, EVENT] = context.parts;
  details(context, {
    back: { href: `#/webhooks/${ID}`, text: W.deliveries },
    command: 'webhook delivery',
    ID,
    values: { EVENT },
    title: (record) => W.delivery(record.type),
    intro: (record) => [badge(record.status), ` ${record.url}`],
    actions: (record, again) => [
      resend(record.type, { ID: EVENT, webhook: ID }, again),
      h('a', { class: 'button', href: `#/events/${EVENT}` }, W.event),
    ],
    body: (record) => [
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, W.attempts),
        record.attempts.length === 0
          ? h('p', { class: 'soft' }, W.noAttempts)
          : h('ol', { class: 'timeline' }, record.attempts.map((attempt) => attemptPanel(attempt, record.url))),
      ),
      h('section', { class: 'panel' }, h('h2', {}, W.requestBody), h('pre', {}, pretty(record.body))),
    ],
  });
}

/** The active webhooks, to know which types have a subscriber. */
const activeWebhooks = async (context) =>
  can('webhook list') ? (await read('webhook list', { status: 'active' }, context.signal)).data : [];

/** Whether one of the webhooks subscribes to the event. */
const isWanted = (webhooks, { type, associationId, environment }) =>
  webhooks.some(
    (each) =>
      (!associationId || each.associationId === associationId) &&
      (!environment || each.environment === environment) &&
      (each.eventTypes === '*' ? type.startsWith('payment.') : each.eventTypes.split(',').includes(type)),
  );

/** A button that redelivers an event to one webhook, or to all webhooks subscribed to its type. */
export function resend(about, fixed, done) {
  return action({ command: 'events resend', title: W.redeliver, about, fixed, quietly: true, done });
}

// --- Events

/** The address of an event's subject, by the first word of the type. The subject of a sample has no page. */
function placeOfSubject({ type, about, test }) {
  const noun = { payment: 'payments', wallet: 'wallets', beneficiary: 'beneficiaries' }[type.split('.')[0]];
  return noun && isId(about) && !test ? `#/${noun}/${about}` : undefined;
}

/** Formats a text such as `30092.00 KES` as an amount; returns other texts unchanged. */
function amountOf(text) {
  const [, value, asset] = /^([\d.]+) ([A-Z]+)$/.exec(text || '') || [];
  return value ? amount(value, asset) : text || '–';
}

export async function eventsScreen(context) {
  // Sequence numbers belong to an association, so the screen shows the events of one association.
  const scope = inScope('events list');
  if (can('association list') && !context.query.has('association') && !scope.association) {
    const { data } = await read('association list', {}, context.signal);
    if (data.length > 0) context.query.set('association', data[0].id);
  }
  const webhooks = await activeWebhooks(context);
  const owner = { ...scope, associationId: context.query.get('association') || scope.association };
  list(context, {
    title: S.events.title,
    intro: S.events.intro,
    command: 'events list',
    rows: (data) => data.toSorted((a, b) => b.sequence - a.sequence),
    columns: [
      { key: 'type', card: 'title' },
      { key: 'at', card: 'sub', render: (row) => time(row.at) },
      { key: 'about', label: S.events.about, render: (row) => id(row.about, placeOfSubject(row)) },
      { key: 'amount', numeric: true, card: 'value', render: (row) => amountOf(row.amount) },
      'sequence',
      { key: 'test', label: S.events.test, card: 'badge', render: (row) => row.test && badge(S.events.testEvent, 'plain') },
    ],
    link: (row) => `#/events/${row.id}`,
    bulk: {
      noun: 'events',
      titles: { resend: W.redeliver },
      about: (row) => row.type,
    },
    rowActions: (row, again) => [
      isWanted(webhooks, { ...owner, environment: context.query.get('environment') || 'sandbox', type: row.type }) &&
        resend(row.type, { ID: row.id }, again),
    ],
    actions: (again) => action({ command: 'trigger', done: again }),
    empty: [S.events.empty, S.events.emptyNext],
  });
}

export async function eventScreen(context) {
  const ID = context.parts[1];
  const webhooks = await activeWebhooks(context);
  details(context, {
    back: { href: '#/events', text: S.events.title },
    command: 'events show',
    ID,
    title: (record) => record.type,
    actions: (record, again) => {
      const href = placeOfSubject(record);
      return [
        isWanted(webhooks, record) && resend(record.type, { ID }, again),
        href && h('a', { class: 'button', href }, S.events.toSubject),
      ];
    },
    body: (record) => [
      plainBody(record, {
        leaveOut: ['type', 'body', ...(record.test ? [] : ['test'])],
        links: [[label('association'), named('association', record.associationId)]],
      }),
      h('section', { class: 'panel' }, h('h2', {}, S.events.body), h('pre', {}, pretty(record.body))),
    ],
  });
}
