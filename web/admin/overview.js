// What the person who is alone with this box at night looks at first.
import { chart } from './chart.js';
import { h, replace } from './dom.js';
import { ago, amount, badge, isDecimal, isTime, number, time } from './format.js';
import { addressWith, heading } from './list.js';
import { live } from './live.js';
import { errorBox, notBuilt } from './notice.js';
import { members } from './record.js';
import { table } from './table.js';
import { can, read, takes } from './wire.js';

const isZero = (text) => /^-?0*(\.0*)?$/.test(String(text));

// --- Figures ------------------------------------------------------------------------------------------

/** What waits, and what of it is bad. The first name that the server says counts. */
const WAITING = [
  {
    keys: ['unsettledPayments', 'unsettled'],
    name: 'Unsettled payments',
    href: '#/payments?status=processing',
    oldest: ['oldestUnsettledAt', 'oldestUnsettled'],
  },
  { keys: ['providerJobs'], name: 'Provider jobs', href: '#/connectors', oldest: ['oldestProviderJobAt'] },
  {
    keys: ['pendingDeliveries'],
    name: 'Deliveries waiting',
    href: '#/webhooks',
  },
  { keys: ['deadLetters'], name: 'Dead letters', href: '#/webhooks', tone: 'bad' },
  {
    keys: ['webhooksDisabled', 'disabledWebhooks'],
    name: 'Webhooks disabled',
    href: '#/webhooks',
    tone: 'warn',
  },
  { keys: ['pendingReviews', 'reviewsPending'], name: 'Reviews waiting', href: '#/reviews', tone: 'warn' },
  {
    keys: ['notificationsFailed', 'failedNotifications'],
    name: 'Messages failed',
    href: '#/notifications?state=failed',
    tone: 'warn',
  },
];

const known = new Set([
  ...WAITING.flatMap(({ keys, oldest }) => [...keys, ...(oldest || [])]),
  'books',
  'balances',
  'invariantsHold',
  'backlog',
]);

const pick = (record, keys = []) =>
  keys.map((key) => record[key]).find((value) => value !== undefined && value !== null);

/** A backlog that is told as a record of its own counts as if it were told beside the rest. */
function flat(record) {
  const backlog = Array.isArray(record.backlog) ? record.backlog[0] : record.backlog;
  return { ...record, ...backlog };
}

function figure({ name, value, href, tone, beside }) {
  return h(
    'li',
    { class: tone ? `tone-${tone}` : undefined },
    h('span', { class: 'soft' }, href ? h('a', { href }, name) : name),
    h('span', { class: 'figure-value' }, value),
    beside && h('span', { class: 'soft small' }, beside),
  );
}

function since(value) {
  return isTime(value)
    ? ['oldest ', h('time', { datetime: value, title: `${value} (UTC)` }, ago(value))]
    : null;
}

function figures(all, activity) {
  const waiting = WAITING.map(({ keys, oldest, tone, ...rest }) => {
    const count = pick(all, keys);
    if (count === undefined) return null;
    return figure({
      ...rest,
      value: number(count),
      tone: Number(count) > 0 ? tone : undefined,
      beside: since(pick(all, oldest)),
    });
  });
  const backup = pick(all, ['lastBackupAt', 'lastBackup']);
  return h(
    'ul',
    { class: 'figures' },
    rateFigure(activity),
    waiting,
    'lastBackupAt' in all || 'lastBackup' in all
      ? figure({
          name: 'Last backup',
          value: backup && isTime(backup) ? ago(backup) : 'None',
          tone: backup ? undefined : 'warn',
          href: '#/checks',
        })
      : null,
  );
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

const startOf = (row) => pick(row, ['from', 'at', 'start', 'hour', 'since']);
const succeededOf = (row) => Number(pick(row, ['succeeded']) || 0);
const failedOf = (row) => Number(pick(row, ['failed']) || 0);
const paymentsOf = (row) =>
  Number(pick(row, ['payments', 'count', 'total']) ?? succeededOf(row) + failedOf(row));

/** {bucket rows, volumes by asset}, whatever of it is told. */
function bucketsOf(activity, hours) {
  const rows = Array.isArray(activity) ? activity : activity.buckets || activity.activity || [];
  const tick = Number(hours) > 48 ? DAY : HOUR;
  return rows
    .filter((row) => isTime(startOf(row)))
    .map((row) => {
      const at = new Date(startOf(row));
      const other = Math.max(0, paymentsOf(row) - succeededOf(row) - failedOf(row));
      return {
        label: BOTH.format(at),
        tick: tick.format(at),
        succeeded: succeededOf(row),
        failed: failedOf(row),
        other,
        volume: volumeOf(row),
      };
    });
}

function volumeOf(row) {
  const told = pick(row, ['volume', 'volumes', 'amounts']);
  if (!Array.isArray(told)) return isDecimal(told) && row.assetCode ? { [row.assetCode]: told } : {};
  return Object.fromEntries(
    told.map((each) => [each.assetCode || each.asset, pick(each, ['amount', 'volume', 'sum', 'total'])]),
  );
}

function totals(buckets) {
  const sum = (key) => buckets.reduce((all, bucket) => all + bucket[key], 0);
  return { succeeded: sum('succeeded'), failed: sum('failed'), other: sum('other') };
}

function rateFigure(buckets) {
  if (!buckets) return null;
  const { succeeded, failed, other } = totals(buckets);
  const ended = succeeded + failed;
  const rate = ended > 0 ? Math.floor((succeeded * 1000) / ended) / 10 : undefined;
  return [
    figure({ name: 'Payments', value: number(succeeded + failed + other), href: '#/payments' }),
    figure({
      name: 'Success rate',
      value: rate === undefined ? '–' : `${rate} %`,
      beside: failed > 0 ? `${failed} failed` : undefined,
      tone: rate !== undefined && rate < 95 ? 'warn' : undefined,
    }),
  ];
}

function charts(context, buckets, hours) {
  const { succeeded, failed, other } = totals(buckets);
  const choice = h(
    'div',
    { class: 'row', role: 'group', 'aria-label': 'How far back' },
    TIMES.map(([value, name]) =>
      h(
        'a',
        {
          class: 'button',
          href: addressWith(context, { hours: value }),
          'aria-current': value === hours ? 'true' : undefined,
        },
        name,
      ),
    ),
  );
  if (buckets.length === 0)
    return h('section', { class: 'panel' }, choice, h('p', { class: 'soft' }, 'No payment in this time.'));
  const assets = [...new Set(buckets.flatMap((bucket) => Object.keys(bucket.volume)))].sort();
  const asset = assets.includes(context.query.get('asset')) ? context.query.get('asset') : assets[0];
  const volume =
    asset &&
    h(
      'div',
      { class: 'panel' },
      chart({
        title: `Volume in ${asset}`,
        summary: 'The amounts sent in each span of time.',
        buckets: buckets.map((bucket) => ({ ...bucket, amount: bucket.volume[asset] || 0 })),
        series: [{ key: 'amount', name: asset, tone: 'busy' }],
      }),
      assets.length > 1 &&
        h(
          'div',
          { class: 'row', role: 'group', 'aria-label': 'Asset' },
          assets.map((each) =>
            h(
              'a',
              {
                class: 'button',
                href: addressWith(context, { asset: each }),
                'aria-current': each === asset ? 'true' : undefined,
              },
              each,
            ),
          ),
        ),
    );
  return h(
    'section',
    {},
    h('div', { class: 'row between' }, h('h2', {}, 'Activity'), choice),
    h(
      'div',
      { class: 'two' },
      h(
        'div',
        { class: 'panel' },
        chart({
          title: 'Payments',
          summary: `${succeeded} succeeded, ${failed} failed, ${other} under way or ended otherwise.`,
          buckets,
          series: [
            { key: 'succeeded', name: 'succeeded', tone: 'good' },
            { key: 'failed', name: 'failed', tone: 'bad' },
            { key: 'other', name: 'other', tone: 'busy' },
          ],
        }),
      ),
      volume,
    ),
  );
}

// --- Books --------------------------------------------------------------------------------------------

/** The proof: all accounts of an asset together hold nothing. */
function books(record) {
  const rows = record.books || record.balances || [];
  const whole = record.invariantsHold;
  const sumOf = (row) => pick(row, ['sum', 'sumOfAll', 'total', 'proof']);
  const title = h(
    'div',
    { class: 'row between' },
    h('h2', {}, 'Books'),
    whole !== undefined &&
      whole !== null &&
      h(
        'span',
        {},
        badge(whole ? 'ok' : 'fault'),
        whole ? ' every sum is zero' : ' a sum is not zero: run Checks',
      ),
  );
  if (rows.length === 0)
    return h('section', {}, title, h('p', { class: 'soft' }, 'Nothing was booked yet.'));
  const proof = {
    key: 'sum',
    label: 'Sum of all accounts',
    numeric: true,
    render: (row) => [amount(sumOf(row), row.assetCode), ' ', badge(isZero(sumOf(row)) ? 'ok' : 'fault')],
  };
  const others = Object.keys(rows[0]).filter(
    (key) => !['sum', 'sumOfAll', 'total', 'proof', 'environment', 'assetCode'].includes(key),
  );
  return h(
    'section',
    {},
    title,
    table({
      caption: 'Books',
      rows,
      columns: ['environment', 'assetCode', ...others.map((key) => bookColumn(key, rows)), proof],
      key: (row) => `${row.environment} ${row.assetCode}`,
    }),
  );
}

/** A count stays a count; what looks like money has its asset. */
function bookColumn(key, rows) {
  return isDecimal(rows[0][key])
    ? { key, numeric: true, render: (row) => amount(row[key], row.assetCode) }
    : key;
}

function thisBox(record) {
  const rest = Object.fromEntries(
    Object.entries(record).filter(
      ([key, value]) => !known.has(key) && (typeof value !== 'object' || value === null),
    ),
  );
  return h('section', { class: 'panel' }, h('h2', {}, 'This box'), members(rest));
}

export async function overviewScreen(context) {
  if (!can('overview')) {
    replace(context.main, heading('Overview'), notBuilt('overview'));
    return;
  }
  const place = h('div', {});
  const hours = TIMES.some(([value]) => value === context.query.get('hours'))
    ? context.query.get('hours')
    : '24';
  replace(context.main, heading('Overview'), place);
  await live({
    container: place,
    signal: context.signal,
    seconds: 5,
    fetch: async (signal) => {
      const [overview, activity] = await Promise.all([
        read('overview', {}, signal),
        can('activity') ? read('activity', takes('activity', 'hours') ? { hours } : {}, signal) : undefined,
      ]);
      return {
        overview: flat(overview.data),
        activity: activity && activity.data,
        note: activity && activity.note,
      };
    },
    draw: ({ overview, activity, note }) => {
      const buckets = activity && bucketsOf(activity, hours);
      return [
        figures(overview, buckets),
        buckets && charts(context, buckets, hours),
        note && h('p', { class: 'soft' }, note.trim()),
        books(overview),
        thisBox(overview),
        h(
          'p',
          { class: 'soft small' },
          'Looked at ',
          time(new Date().toISOString()),
          '. This page looks again by itself.',
        ),
      ];
    },
    failed: errorBox,
  });
}
