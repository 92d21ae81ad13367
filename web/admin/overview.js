// What the person who is alone with this box at night looks at first.
import { chart } from './chart.js';
import { h, replace } from './dom.js';
import { ago, amount, badge, bytes, number, time } from './format.js';
import { addressWith, heading } from './list.js';
import { live } from './live.js';
import { errorBox, note, notBuilt } from './notice.js';
import { members } from './record.js';
import { table } from './table.js';
import { can, read } from './wire.js';

// --- Figures ------------------------------------------------------------------------------------------

/** What waits; `tone` is how bad it is when there is any of it. */
const FIGURES = [
  {
    key: 'unsettledPayments',
    name: 'Unsettled payments',
    href: '#/payments?status=processing',
    oldest: 'oldestUnsettledAt',
  },
  { key: 'settlementJobs', name: 'Settlement queue', href: '#/payments' },
  { key: 'providerJobs', name: 'Provider queue', href: '#/connectors', oldest: 'oldestProviderJobAt' },
  { key: 'pendingDeliveries', name: 'Deliveries waiting', href: '#/webhooks' },
  { key: 'deadLetters', name: 'Dead letters', href: '#/webhooks', tone: 'bad' },
  {
    key: 'webhooksFailing',
    name: 'Webhooks failing',
    href: '#/webhooks',
    tone: 'warn',
    of: 'webhooksActive',
  },
  { key: 'webhooksDisabled', name: 'Webhooks disabled', href: '#/webhooks', tone: 'warn' },
  {
    key: 'pendingReviews',
    name: 'Reviews waiting',
    href: '#/reviews',
    tone: 'warn',
    oldest: 'oldestReviewAt',
  },
  { key: 'breakersOpen', name: 'Breakers open', href: '#/connectors', tone: 'bad' },
  { key: 'connectorsPaused', name: 'Connectors paused', href: '#/connectors', tone: 'warn' },
  {
    key: 'notificationsFailed',
    name: 'Messages failed',
    href: '#/notifications?state=failed',
    tone: 'warn',
  },
];

/** What has a place of its own on this screen. */
const PLACED = new Set([
  ...FIGURES.flatMap(({ key, oldest, of }) => [key, oldest, of]),
  'books',
  'invariantsHold',
  'lastBackupAt',
  'lastBackupBytes',
  'lastBackupVerified',
  'backupFailure',
]);

function figure({ name, value, href, tone, beside }) {
  return h(
    'li',
    { class: tone ? `tone-${tone}` : undefined },
    h('span', { class: 'soft' }, href ? h('a', { href }, name) : name),
    h('span', { class: 'figure-value' }, value),
    beside && h('span', { class: 'soft small' }, beside),
  );
}

function waiting(overview, { key, oldest, of, tone, name, href }) {
  const since = overview[oldest] && ['oldest ', ago(overview[oldest])];
  return figure({
    name,
    href,
    value: number(overview[key]),
    tone: overview[key] > 0 ? tone : undefined,
    beside: of ? `of ${overview[of]}` : since,
  });
}

function backup({ lastBackupAt, lastBackupBytes, lastBackupVerified, backupFailure }) {
  const proven = lastBackupVerified ? ', proven' : '';
  return figure({
    name: 'Last backup',
    href: '#/checks',
    value: lastBackupAt ? ago(lastBackupAt) : 'None',
    tone: backupFailure ? 'bad' : lastBackupAt ? undefined : 'warn',
    beside: backupFailure || (lastBackupAt && [bytes(lastBackupBytes), proven]),
  });
}

function totals(buckets) {
  const sum = (key) => buckets.reduce((all, bucket) => all + bucket[key], 0);
  return { payments: sum('payments'), succeeded: sum('succeeded'), failed: sum('failed') };
}

function successRate(buckets) {
  const { payments, succeeded, failed } = totals(buckets);
  const ended = succeeded + failed;
  const rate = ended > 0 ? Math.floor((succeeded * 1000) / ended) / 10 : undefined;
  return [
    figure({ name: 'Payments', value: number(payments), href: '#/payments' }),
    figure({
      name: 'Success rate',
      href: '#/payments?status=failed',
      value: rate === undefined ? '–' : `${rate} %`,
      beside: `${failed} failed`,
      tone: rate !== undefined && rate < 95 ? 'warn' : undefined,
    }),
  ];
}

// --- Activity -----------------------------------------------------------------------------------------

const TIMES = [
  ['24', '24 hours'],
  ['168', '7 days'],
];
const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });
const BOTH = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});

function choice(context, text, name, options, present) {
  return h(
    'div',
    { class: 'row', role: 'group', 'aria-label': text },
    options.map(([value, said]) =>
      h(
        'a',
        {
          class: 'button small',
          href: addressWith(context, { [name]: value }),
          'aria-current': value === present ? 'true' : undefined,
        },
        said,
      ),
    ),
  );
}

function paymentsChart(buckets, tick) {
  const { payments, succeeded, failed } = totals(buckets);
  return chart({
    title: 'Payments',
    summary: `${succeeded} succeeded, ${failed} failed, of ${payments}.`,
    buckets: buckets.map((bucket) => ({
      ...tick(bucket),
      succeeded: bucket.succeeded,
      failed: bucket.failed,
      other: bucket.underWay,
    })),
    series: [
      { key: 'succeeded', name: 'succeeded', tone: 'good' },
      { key: 'failed', name: 'failed', tone: 'bad' },
      { key: 'other', name: 'other', tone: 'busy' },
    ],
  });
}

function volumeChart(context, buckets, tick) {
  const assets = [...new Set(buckets.flatMap(({ volume }) => volume.map((each) => each.assetCode)))].sort();
  if (assets.length === 0) return h('p', { class: 'soft' }, 'No volume in this time.');
  const asked = context.query.get('asset');
  const asset = assets.includes(asked) ? asked : assets[0];
  const amountOf = ({ volume }) => (volume.find((each) => each.assetCode === asset) || {}).amount;
  return [
    chart({
      title: `Volume in ${asset}`,
      summary: 'The amounts sent in each span of time.',
      buckets: buckets.map((bucket) => ({ ...tick(bucket), amount: amountOf(bucket) })),
      series: [{ key: 'amount', name: asset, tone: 'busy' }],
    }),
    assets.length > 1 &&
      choice(
        context,
        'Asset',
        'asset',
        assets.map((each) => [each, each]),
        asset,
      ),
  ];
}

function charts(context, buckets, hours) {
  const ticks = hours === '24' ? HOUR : DAY;
  const tick = ({ from }) => ({ label: BOTH.format(new Date(from)), tick: ticks.format(new Date(from)) });
  return h(
    'section',
    {},
    h(
      'div',
      { class: 'row between' },
      h('h2', {}, 'Activity'),
      choice(context, 'Period', 'hours', TIMES, hours),
    ),
    h(
      'div',
      { class: 'two' },
      h('div', { class: 'panel' }, paymentsChart(buckets, tick)),
      h('div', { class: 'panel' }, volumeChart(context, buckets, tick)),
    ),
  );
}

// --- Books --------------------------------------------------------------------------------------------

const isZero = (text) => /^-?0*(\.0*)?$/.test(text);

const money = (key) => ({ key, numeric: true, render: (row) => amount(row[key], row.assetCode) });

function books({ books: rows, invariantsHold }) {
  return h(
    'section',
    {},
    h(
      'div',
      { class: 'row between' },
      h('h2', {}, 'Books'),
      h(
        'span',
        {},
        badge(invariantsHold ? 'ok' : 'fault'),
        invariantsHold ? ' every sum is zero' : ' the books do not add up: run Verify under Checks',
      ),
    ),
    rows.length === 0
      ? h('p', { class: 'soft' }, 'Nothing was booked yet.')
      : table({
          caption: 'Books',
          rows,
          columns: [
            'assetCode',
            'environment',
            ...['wallets', 'held', 'liquidity', 'fees', 'clearing', 'issuance'].map(money),
          ],
          key: (row) => `${row.environment} ${row.assetCode}`,
        }),
  );
}

function thisBox(overview) {
  const rest = Object.entries(overview).filter(([key]) => !PLACED.has(key));
  return h('section', { class: 'panel' }, h('h2', {}, 'This box'), members(Object.fromEntries(rest)));
}

export function overviewScreen(context) {
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, 'Loading…'));
  replace(context.main, heading('Overview'), can('overview') ? place : notBuilt('overview'));
  if (!can('overview')) return;
  const asked = context.query.get('hours');
  const hours = TIMES.some(([value]) => value === asked) ? asked : '24';
  live({
    container: place,
    signal: context.signal,
    seconds: 5,
    fetch: async (signal) => {
      const [overview, activity] = await Promise.all([
        read('overview', {}, signal),
        read('activity', { hours }, signal),
      ]);
      return { overview: overview.data, buckets: activity.data, said: activity.note };
    },
    draw: ({ overview, buckets, said }) => [
      h(
        'ul',
        { class: 'figures' },
        successRate(buckets),
        FIGURES.map((row) => waiting(overview, row)),
        backup(overview),
      ),
      charts(context, buckets, hours),
      said && note(said),
      books(overview),
      thisBox(overview),
      h(
        'p',
        { class: 'soft small' },
        'Seen at ',
        time(new Date().toISOString()),
        '. It looks again by itself.',
      ),
    ],
    failed: errorBox,
  });
}
