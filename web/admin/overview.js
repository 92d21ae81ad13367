// The overview: conditions that need attention, today compared with yesterday, charts, balances.
import { chart } from './chart.js';
import { changesLink, checklistPart, upgradeNotice } from './checklist.js';
import { h, replace } from './dom.js';
import { field, valuesOf } from './form.js';
import { DAY, HOUR, MOMENT, ago, amount, badge, bytes, failureText, now, number, ofUnits, since, time, units } from './format.js';
import { addressWith, heading } from './list.js';
import { live } from './live.js';
import { errorBox, note, notBuilt } from './notice.js';
import { periodSelect, rangeOf } from './period.js';
import { members } from './record.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { table } from './table.js';
import { can, read, session } from './wire.js';

const O = S.overview;

// --- Needs attention

/** For each condition of the server's table: [tone, texts, address of the next step]. */
const CONDITIONS = {
  ledger_damaged: ['bad', O.attention.ledger, 'checks'],
  refunds_failed: ['bad', O.attention.refundsFailed, 'payments?status=refund_failed'],
  money_unbooked: ['bad', O.attention.moneyUnbooked, 'payments?open=unbooked'],
  results_contradicted: ['bad', O.attention.contradicted, 'payments?open=contradicted'],
  unmatched_aging: ['warn', O.attention.unmatchedLines, 'commands'],
  disk_low: ['bad', O.attention.disk, 'checks'],
  providers_down: ['bad', O.attention.breakersOpen, 'connectors'],
  payments_stuck: ['warn', O.attention.unsettled, 'payments?status=processing'],
  deliveries_failed: ['bad', O.attention.deadLetters, 'webhooks'],
  webhooks_failing: ['warn', O.attention.webhooksFailing, 'webhooks'],
  backup_failed: ['bad', O.attention.backupFailed, 'checks'],
  backup_missing: ['warn', O.attention.noBackup, 'checks'],
  backup_old: ['warn', O.attention.backupOld, 'checks'],
  clock_wrong: ['warn', O.attention.clock, 'checks'],
  clock_unknown: ['warn', O.attention.clockUnknown, 'checks'],
  log_unreachable: ['bad', O.attention.log, 'checks'],
  replica_missing: ['bad', O.attention.replicaMissing, 'checks'],
  replica_lagging: ['warn', O.attention.replicaLagging, 'checks'],
  archive_behind: ['bad', O.attention.archiveBehind, 'checks'],
  restore_unproven: ['bad', O.attention.restoreUnproven, 'checks'],
  checkpoints_missing: ['bad', O.attention.checkpoints, 'checks'],
  approvals_waiting: ['warn', O.attention.approvals, 'approvals?waiting=true'],
  credentials_rotated: ['warn', O.attention.credentialsRotated, 'applications'],
  wallets_under_review: ['warn', O.attention.pendingReviews, 'reviews'],
  connectors_paused: ['warn', O.attention.connectorsPaused, 'connectors'],
  notifications_failed: ['warn', O.attention.notificationsFailed, 'notifications?state=failed'],
};

function attentionPart({ attention }) {
  return h(
    'section',
    { class: 'panel attention', 'aria-labelledby': 'attention' },
    h('h2', { id: 'attention' }, O.attention.title),
    attention.length === 0
      ? h('p', { class: 'soft' }, O.attention.nothing)
      : h(
          'ul',
          { class: 'plain' },
          attention.map(({ condition, count, oldestAt, reason }) => {
            const [tone, { text, next }, href] = CONDITIONS[condition];
            return h(
              'li',
              { class: `tone-${tone}`, 'data-condition': condition },
              h(
                'span',
                {},
                h('strong', {}, text(count)),
                oldestAt && h('span', { class: 'soft' }, since(oldestAt, (age) => O.attention.oldest(count, age))),
                reason && h('span', { class: 'soft' }, reason),
              ),
              h('a', { class: 'button', href: `#/${href}` }, next),
            );
          }),
        ),
  );
}

// --- Today

/** Amount and number of payments per asset. */
function sumOf(buckets) {
  const out = new Map();
  for (const { assetCode, amount: text, payments } of buckets.flatMap(({ volume }) => volume)) {
    const present = out.get(assetCode) || { amount: '0', payments: 0 };
    out.set(assetCode, { amount: ofUnits(units(present.amount) + units(text), text), payments: present.payments + payments });
  }
  return out;
}

function totals(buckets) {
  const sum = (key) => buckets.reduce((all, bucket) => all + bucket[key], 0);
  return { payments: sum('payments'), succeeded: sum('succeeded'), failed: sum('failed') };
}

function rateOf({ succeeded, failed }) {
  const ended = succeeded + failed;
  return ended > 0 ? Math.floor((succeeded * 1000) / ended) / 10 : undefined;
}

/** The buckets since the last midnight in the browser's time zone, and those of the day before. */
function days(buckets) {
  const midnight = now().setHours(0, 0, 0, 0);
  const before = new Date(midnight - 1).setHours(0, 0, 0, 0);
  const at = ({ from }) => new Date(from).getTime();
  return {
    today: buckets.filter((bucket) => at(bucket) >= midnight),
    yesterday: buckets.filter((bucket) => at(bucket) >= before && at(bucket) < midnight),
  };
}

function tile(name, value, beside, { tone, href } = {}) {
  return h(
    'li',
    { class: tone ? `tone-${tone}` : undefined },
    h('span', { class: 'soft' }, href ? h('a', { href }, name) : name),
    h('span', { class: 'figure-value' }, value),
    beside && h('span', { class: 'soft small' }, beside),
  );
}

function todayPart(buckets) {
  const { today, yesterday } = days(buckets);
  const [now, then] = [totals(today), totals(yesterday)];
  const [sums, before] = [sumOf(today), sumOf(yesterday)];
  const rate = rateOf(now);
  const assets = [...new Set([...sums.keys(), ...before.keys()])].sort();
  const none = { amount: '0', payments: 0 };
  return h(
    'section',
    {},
    h('h2', {}, O.today.title),
    h(
      'ul',
      { class: 'figures', id: 'today' },
      tile(O.today.payments, number(now.payments), O.today.yesterday(then.payments), { href: '#/payments' }),
      tile(
        O.today.success,
        rate === undefined ? '–' : S.common.percent(rate),
        O.today.failed(now.failed, rateOf(then)),
        { href: '#/payments?status=failed', tone: rate !== undefined && rate < 95 ? 'warn' : undefined },
      ),
      assets.map((asset) => {
        const [present, past] = [sums.get(asset) || none, before.get(asset) || none];
        return tile(
          O.today.volume(asset),
          amount(present.amount, asset),
          O.today.volumeBeside(present.payments, past.payments, amount(past.amount, asset)),
        );
      }),
    ),
  );
}

// --- Charts

const TIMES = ['24', '168', '720'];

function choice(context, text, name, options, present) {
  return h(
    'div',
    { class: 'row', role: 'group', 'aria-label': text },
    options.map(([value, said]) =>
      h(
        'a',
        {
          class: 'button small',
          href: addressWith(context, { from: undefined, to: undefined, period: undefined, [name]: value }),
          'aria-current': value === present ? 'true' : undefined,
        },
        said,
      ),
    ),
  );
}

const NO_RANGE = { hours: undefined, period: undefined, from: undefined, to: undefined };

/** A choice of presets and months. */
const periodChoice = (context) =>
  periodSelect({
    present: context.query.get('period') || '',
    any: O.range.period,
    own: context.query.has('from'),
    apply: (period) => context.go(addressWith(context, { ...NO_RANGE, period })),
  });

/** A form to choose the start and end of the period. */
function rangeForm(context) {
  const args = session.commands.get('activity').arguments.filter(({ name }) => ['from', 'to'].includes(name));
  const form = h(
    'form',
    { class: 'filters' },
    args.map((argument) => field(argument, context.query.get(argument.name), { hint: '' })),
    h('div', { class: 'field' }, h('button', { type: 'submit' }, O.range.show)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    context.go(addressWith(context, { ...NO_RANGE, ...valuesOf(form) }));
  });
  return h('details', { open: context.query.has('from') }, h('summary', {}, O.range.own), form);
}

function paymentsChart(buckets, tick) {
  const { payments, succeeded, failed } = totals(buckets);
  return chart({
    title: O.charts.payments,
    summary: O.charts.paymentsSummary(succeeded, failed, payments),
    buckets: buckets.map((bucket) => ({
      ...tick(bucket),
      succeeded: bucket.succeeded,
      failed: bucket.failed,
      other: bucket.inProgress,
    })),
    series: [
      { key: 'succeeded', name: S.status.succeeded, tone: 'good' },
      { key: 'failed', name: S.status.failed, tone: 'bad' },
      { key: 'other', name: O.charts.other, tone: 'busy' },
    ],
  });
}

function volumeChart(context, buckets, tick) {
  const assets = [...new Set(buckets.flatMap(({ volume }) => volume.map((each) => each.assetCode)))].sort();
  if (assets.length === 0) return h('p', { class: 'soft' }, O.charts.noVolume);
  const asked = context.query.get('asset');
  const asset = assets.includes(asked) ? asked : assets[0];
  const amountOf = ({ volume }) => (volume.find((each) => each.assetCode === asset) || {}).amount;
  return [
    chart({
      title: O.charts.volume(asset),
      summary: O.charts.volumeSummary,
      buckets: buckets.map((bucket) => ({ ...tick(bucket), amount: amountOf(bucket) })),
      series: [{ key: 'amount', name: asset, tone: 'busy' }],
    }),
    assets.length > 1 &&
      h(
        'div',
        { class: 'row', role: 'group', 'aria-label': S.label.assetCode },
        assets.map((each) =>
          h(
            'a',
            {
              class: 'button small',
              href: addressWith(context, { asset: each }),
              'aria-current': each === asset ? 'true' : undefined,
            },
            each,
          ),
        ),
      ),
  ];
}

/** Counts failures by one of their members, the most frequent first. */
function countBy(failures, key, say) {
  const counts = new Map();
  for (const each of failures) {
    if (each[key]) counts.set(each[key], (counts.get(each[key]) || 0) + each.payments);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([value, count]) => ({ value, text: say ? say(value) : value, count }));
}

function bars(title, rows, href) {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return h(
    'div',
    { class: 'panel' },
    h('h3', {}, title),
    rows.length === 0
      ? h('p', { class: 'soft' }, O.failures.none)
      : h(
          'ul',
          { class: 'plain barlist' },
          rows.slice(0, 6).map(({ value, text, count }) =>
            h(
              'li',
              {},
              h('span', {}, href ? h('a', { href: href(value) }, text) : text),
              h('span', { class: 'number' }, String(count)),
              h('meter', { min: 0, max: most, value: count, 'aria-label': `${text}: ${count}` }),
            ),
          ),
          rows.length > 6 && h('li', { class: 'soft small' }, O.failures.more(rows.length - 6)),
        ),
  );
}

function failuresPart(buckets) {
  const failures = buckets.flatMap((bucket) => bucket.failures);
  if (failures.length === 0) return null;
  return h(
    'div',
    { class: 'three' },
    bars(O.failures.byReason, countBy(failures, 'code', failureText), (code) =>
      code === 'expired' ? '#/payments?status=expired' : `#/payments?failure=${code}`,
    ),
    bars(O.failures.byConnector, countBy(failures, 'connector')),
    bars(O.failures.byAsset, countBy(failures, 'assetCode')),
  );
}

function chartsPart(context, buckets, hours) {
  const width = buckets.length > 1 ? new Date(buckets[1].from) - new Date(buckets[0].from) : 0;
  const ticks = width * buckets.length <= 48 * 3_600_000 ? HOUR : DAY;
  const tick = ({ from }) => ({ label: MOMENT.format(new Date(from)), tick: ticks.format(new Date(from)) });
  return h(
    'section',
    {},
    h(
      'div',
      { class: 'row between' },
      h('h2', {}, O.charts.title),
      h(
        'div',
        { class: 'row' },
        choice(context, O.range.label, 'hours', TIMES.map((each) => [each, O.range[each]]), hours),
        periodChoice(context),
      ),
    ),
    rangeForm(context),
    h(
      'div',
      { class: 'two' },
      h('div', { class: 'panel' }, paymentsChart(buckets, tick)),
      h('div', { class: 'panel' }, volumeChart(context, buckets, tick)),
    ),
    failuresPart(buckets),
  );
}

// --- Queues and balances

const QUEUES = [
  ['unsettledPayments', 'payments?status=processing', 'oldestUnsettledAt'],
  ['settlementJobs', 'payments'],
  ['providerJobs', 'connectors', 'oldestProviderJobAt'],
  ['pendingDeliveries', 'webhooks'],
  ['deadLetters', 'webhooks'],
  ['webhooksFailing', 'webhooks'],
  ['webhooksDisabled', 'webhooks'],
  ['pendingReviews', 'reviews', 'oldestReviewAt'],
  ['approvalsWaiting', 'approvals?waiting=true', 'oldestApprovalAt'],
  ['breakersOpen', 'connectors'],
  ['connectorsPaused', 'connectors'],
  ['notificationsWaiting', 'notifications'],
  ['notificationsFailed', 'notifications?state=failed'],
];

/** Members that this screen shows elsewhere. */
const PLACED = new Set([
  ...QUEUES.flatMap(([key, , oldest]) => [key, oldest]),
  'books',
  'credentialsRotated',
  'invariantsHold',
  'webhooksActive',
  'lastBackupAt',
  'lastBackupBytes',
  'lastBackupVerified',
  'backupFailure',
  'backupEveryHours',
]);

function backupTile({ lastBackupAt, lastBackupBytes, lastBackupVerified, backupFailure }) {
  return tile(
    O.queues.lastBackup,
    lastBackupAt ? ago(lastBackupAt) : O.queues.never,
    backupFailure || (lastBackupAt && [bytes(lastBackupBytes), lastBackupVerified && O.queues.verified]),
    { href: '#/checks', tone: backupFailure ? 'bad' : lastBackupAt ? undefined : 'warn' },
  );
}

/** The queues. Queues with zero entries share one line. */
function queuesPart(overview) {
  const some = QUEUES.filter(([key]) => overview[key] > 0);
  const none = QUEUES.filter(([key]) => overview[key] === 0);
  return h(
    'section',
    {},
    h('h2', {}, O.queues.title),
    h(
      'ul',
      { class: 'figures' },
      some.map(([key, href, oldest]) =>
        tile(O.queues[key], number(overview[key]), overview[oldest] && [O.queues.oldest, ago(overview[oldest])], {
          href: `#/${href}`,
        }),
      ),
      backupTile(overview),
    ),
    none.length > 0 &&
      h('p', { class: 'soft small zero' }, O.queues.zero(none.map(([key]) => O.queues[key].toLowerCase()).join(', '))),
  );
}

const money = (key) => ({ key, numeric: true, render: (row) => amount(row[key], row.assetCode) });

function balancesPart({ books: rows, invariantsHold }) {
  return h(
    'section',
    {},
    h(
      'div',
      { class: 'row between' },
      h('h2', {}, O.balances.title),
      h('span', {}, badge(invariantsHold ? 'ok' : 'fault'), ' ', invariantsHold ? O.balances.hold : O.balances.fault),
    ),
    rows.length === 0
      ? h('p', { class: 'soft' }, O.balances.none)
      : table({
          caption: O.balances.title,
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

function systemPart(overview) {
  const rest = Object.entries(overview).filter(([key]) => !PLACED.has(key));
  return h('section', { class: 'panel' }, h('h2', {}, O.system), members(Object.fromEntries(rest)), changesLink());
}

// --- Screen

function rangeIn(context) {
  const from = context.query.get('from');
  if (from) return { from, to: context.query.get('to') };
  const period = context.query.get('period');
  if (period && rangeOf(period).from) return rangeOf(period);
  const asked = context.query.get('hours');
  return { hours: TIMES.includes(asked) ? asked : '24' };
}

async function look(context, range, signal) {
  const scope = inScope('activity');
  const [overview, activity, days] = await Promise.all([
    read('overview', {}, signal),
    read('activity', { ...scope, ...range }, signal),
    read('activity', { ...scope, hours: '48' }, signal),
  ]);
  return {
    overview: overview.data,
    buckets: activity.data,
    said: activity.note,
    days: days.data,
  };
}

export function overviewScreen(context) {
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, S.app.loading));
  if (!can('overview')) {
    replace(context.main, heading(O.title), notBuilt('overview'));
    return;
  }
  replace(context.main, heading(O.title), checklistPart(context), place);
  const range = rangeIn(context);
  live({
    container: place,
    signal: context.signal,
    seconds: 5,
    fetch: (signal) => look(context, range, signal),
    draw: (found) => [
      upgradeNotice(found.overview.version),
      attentionPart(found.overview),
      todayPart(found.days),
      chartsPart(context, found.buckets, range.hours),
      found.said && note(found.said),
      queuesPart(found.overview),
      balancesPart(found.overview),
      systemPart(found.overview),
      h('p', { class: 'soft small' }, O.seenAt, time(now().toISOString()), '.'),
    ],
    failed: errorBox,
  });
}
