// The list of payments. The page of a payment: parties, amounts, status with its reason, next step, and timeline.
import { action } from './action.js';
import { details } from './details.js';
import { h } from './dom.js';
import { account, amount, badge, due, exactTime, failureText, id, number, ofUnits, placeOf, statusText, typeText, units } from './format.js';
import { list } from './list.js';
import { folded, members, panel, terms } from './record.js';
import { resolveButton } from './resolve.js';
import { S } from './strings.js';
import { verbs } from './verbs.js';
import { resend } from './webhooks.js';
import { can } from './wire.js';

const P = S.payment;

// --- Header

/** The names of both parties. The masked accounts are on a separate line. */
function titleOf(record) {
  if (record.type === 'p2p_own_multi') return P.multi(record.legs.length);
  return `${record.sourceName || P.unknown} → ${record.destinationName || P.unknown}`;
}

function accounts(record) {
  if (!record.sourceAccount && !record.destinationAccount) return null;
  return h(
    'span',
    { class: 'accounts' },
    account(record.sourceAccount) || P.unknown,
    ' → ',
    account(record.destinationAccount) || P.unknown,
  );
}

/** What was given back after success, until a time, and what is left of the amount or of less that was collected. */
export function givenBack({ type, refunds, status, sendingAmount, collectedAmount, sendingAssetCode, total }, until = '~') {
  if (refunds.length === 0 || !sendingAmount) return undefined;
  const sum = (state, key = 'amount') =>
    refunds.filter((each) => each.state === state && each.at <= until).reduce((all, each) => all + units(each[key] || '0'), 0n);
  const [sent, collected] = [units(sendingAmount), units(collectedAmount || sendingAmount)];
  const [given, waiting] = [sum('booked'), sum('waiting')];
  const left = (collected < sent ? collected : sent) - given - waiting;
  const shown = (count) => amount(ofUnits(count, sendingAmount), sendingAssetCode);
  return {
    isPart: given + waiting > 0n && left + waiting > 0n,
    keepsFee: type === 'offramp' && left === 0n && given + sum('booked', 'fee') < units(total || '0'),
    given: given > 0n && shown(given),
    left: shown(left),
    waiting: waiting > 0n && shown(waiting),
    status: status === 'refunded' && left > 0n ? 'partly_refunded' : status,
  };
}

/** The status, which says whether only a part was given back. */
const statusOf = (record, until) => givenBack(record, until)?.status || record.status;

function intro(record) {
  return [
    h('span', { class: 'row' }, badge(statusOf(record)), accounts(record)),
    h('span', { class: 'line' }, `${typeText(record.type)}, ${record.transactionId}`),
  ];
}

/** Amount sent, amount received, fee, total and rate. */
function figures(record) {
  const figure = (name, value, beside) =>
    value &&
    h(
      'li',
      {},
      h('span', { class: 'soft' }, name),
      h('span', { class: 'figure-value' }, value),
      beside && h('span', { class: 'soft small' }, beside),
    );
  const collects = record.type.startsWith('onramp');
  const back = givenBack(record);
  const [totalName, beside] = (collects ? P.collected : P.total)[back?.isPart || back?.keepsFee ? 'succeeded' : record.status];
  const sent = record.sendingAssetCode;
  const received = record.receivingAmount && amount(record.receivingAmount, record.receivingAssetCode);
  const isOther = record.receivingAssetCode !== sent;
  return h(
    'ul',
    { class: 'figures money' },
    figure(P.amount, record.sendingAmount && amount(record.sendingAmount, sent)),
    figure(P.received, isOther && received),
    figure(P.fee, record.fee && amount(record.fee, sent)),
    figure(totalName, record.total && amount(record.total, sent), beside),
    figure(P.givenBack, (back?.isPart || back?.keepsFee) && back.given, back?.isPart && [P.stays, back.left]),
    figure(P.onTheWay, back?.waiting),
    figure(P.rate, record.rate && number(record.rate)),
  );
}

// --- Next step

const isRamp = (record) => ['offramp', 'onramp', 'onramp_reference'].includes(record.type);

function nextStep(record) {
  const { next } = P;
  if (record.openItem && next.open[record.openItem]) return next.open[record.openItem];
  switch (record.status) {
    case 'initiated':
    case 'processing':
      if (record.inReview) return next.inReview(record.connector);
      if (!isRamp(record)) return next.settling;
      return record.status === 'initiated' && record.type !== 'offramp'
        ? next.payer
        : next.provider(record.connector);
    case 'failed':
      return S.failureNext[record.failureCode] || S.failureNext.other;
    default:
      if (record.status !== 'refunded') return next[record.status];
      return givenBack(record)?.isPart ? next.partly : givenBack(record)?.keepsFee ? next.withoutFee : next.refunded;
  }
}

function actions(record, again) {
  return [
    verbs('payment', {
      value: record.id,
      status: record.status,
      about: record.transactionId,
      again,
      except: ['resolve'],
      asset: record.sendingAssetCode,
      notes: { reverse: [P.leftToGive, givenBack(record)?.left || amount(record.sendingAmount, record.sendingAssetCode)] },
    }),
    resolveButton(record, again),
  ];
}

/** Status, reason and next step. */
function standing(record, again) {
  const buttons = actions(record, again);
  return h(
    'section',
    { class: `panel standing tone-${record.status}` },
    h('h2', {}, P.status, h('span', { class: 'screen' }, P.andNextStep)),
    terms([
      [P.status, badge(statusOf(record)), record.substatus && ` ${record.substatus.replaceAll('_', ' ')}`],
      ...(record.failureCode
        ? [[P.reason, failureText(record.failureCode), h('p', { class: 'soft' }, record.failureMessage)]]
        : []),
      [
        P.nextStep,
        h('span', { class: 'screen' }, nextStep(record)),
        record.nextAttemptAt && h('p', { class: 'soft' }, P.nextAttempt, due(record.nextAttemptAt)),
      ],
    ]),
    buttons.flat().some(Boolean) && h('div', { class: 'row' }, buttons),
  );
}

// --- Timeline

const RESOLVED = /^resolved as (\w+) by (.+?): (.*)$/s;

/** The label of a provider state. Other texts from the provider are shown unchanged. */
function saidOf(outcome) {
  if (!outcome) return P.open;
  const [, state, code] = /^([a-z_]+)(?:: ([a-z_]+))?$/.exec(outcome) || [];
  if (!state) return outcome;
  return code ? `${statusText(state)}: ${failureText(code)}` : statusText(state);
}

/** The calls to the provider, which the timeline shows between the statuses. */
function callSteps(record) {
  return record.providerAttempts.map((attempt) => {
    const resolved = RESOLVED.exec(attempt.outcome || '');
    return {
      at: attempt.closedAt || attempt.openedAt,
      actor: attempt.actor,
      order: 0,
      what: resolved ? P.resolvedAs(resolved[1].toLowerCase()) : P.call(attempt.call, record.connector),
      said: resolved ? resolved[3] : saidOf(attempt.outcome),
      reference: attempt.call === 'submit' && attempt.closedAt ? record.providerReference : undefined,
    };
  });
}

function statusSteps(record) {
  return record.timeline.map((step) => ({
    at: step.at,
    actor: step.actor,
    order: 1,
    what: badge(statusOf({ ...record, status: step.status }, step.at)),
    said: step.code && (step.message || failureText(step.code)),
    reference: step.status === 'processing' ? undefined : step.providerReference,
  }));
}

function timeline(record) {
  const steps = [...statusSteps(record), ...callSteps(record)].sort(
    (a, b) => a.at.localeCompare(b.at) || a.order - b.order,
  );
  let told;
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, P.timeline),
    h(
      'ol',
      { class: 'timeline' },
      steps.map((step) => {
        const isNew = step.reference && step.reference !== told;
        told = step.reference || told;
        return h(
          'li',
          { class: step.order === 0 ? 'minor' : undefined },
          h('span', { class: 'row' }, step.what, exactTime(step.at), h('span', { class: 'soft' }, P.by(step.actor))),
          step.said && h('p', {}, step.said),
          isNew && h('p', { class: 'soft' }, P.reference, h('code', {}, step.reference)),
        );
      }),
    ),
  );
}

// --- Related objects

const ACCOUNT = {
  key: 'account',
  render: (row) =>
    row.walletId ? h('a', { href: `#/wallets/${row.walletId}` }, row.account) : row.account,
};

function legSide(name, accountKey, idKey) {
  return {
    key: name,
    label: S.label[name] || P.legs[name],
    render: (row) => h('a', { href: `#/wallets/${row[idKey]}` }, side(row[name], row[accountKey])),
  };
}

const LEG_COLUMNS = [
  legSide('sourceName', 'sourceAccount', 'sourceWalletId'),
  legSide('destinationName', 'destinationAccount', 'destinationWalletId'),
  'amount',
  'fromRef',
  'toRef',
];

/** The events of a payment, each with its deliveries. */
export function eventsPanel(record, again) {
  const deliveriesOf = (event) => record.deliveries.filter(({ eventId }) => eventId === event.id);
  return panel(P.events, record.events, {
    columns: [
      'type',
      'at',
      {
        key: 'deliveries',
        label: P.deliveries,
        render: (event) => {
          const all = deliveriesOf(event);
          if (all.length === 0) return h('span', { class: 'soft' }, P.noWebhook);
          return h(
            'ul',
            { class: 'plain' },
            all.map((each) =>
              h(
                'li',
                {},
                badge(each.status),
                ' ',
                h('a', { href: `#/webhooks/${each.webhookId}` }, each.url),
                h('span', { class: 'soft' }, ` ${P.attempts(each.attempts, each.lastResponse)}`),
              ),
            ),
          );
        },
      },
    ],
    link: (row) => `#/events/${row.id}`,
    actions: (row) => deliveriesOf(row).length > 0 && resend(row.type, { ID: row.id }, again),
    none: P.noEvents,
  });
}

/** IDs of related objects, each with the member that has its name. */
const LINKED = [
  ['sourceWalletId', P.links.source, 'sourceName'],
  ['destinationWalletId', P.links.destination, 'destinationName'],
  ['beneficiaryId', P.links.beneficiary, 'destinationName'],
  ['connectorId', P.links.connector, 'connector'],
  ['associationId', P.links.association, 'association'],
];

/** Links to the related objects, by name, and the references. */
function links(record) {
  const rows = LINKED.filter(([key]) => record[key]).map(([key, text, name]) => [
    text,
    h('a', { href: placeOf(key, record[key]) }, record[name] || id(record[key])),
  ]);
  const plain = [
    [P.application, record.application],
    [P.environment, badge(record.environment, 'plain')],
    [P.fromRef, record.fromRef],
    [P.toRef, record.toRef],
    [P.description, record.description || record.memo],
    [P.reference, record.providerReference],
    [P.requests, can('logs list') && h('a', { class: 'screen', href: `#/requests?payment=${record.id}` }, P.toRequests)],
  ].filter(([, value]) => value);
  return h('section', { class: 'panel' }, h('h2', {}, P.parties), terms([...rows, ...plain]));
}

export function paymentScreen(context) {
  const ID = context.parts[1];
  return details(context, {
    back: { href: '#/payments', text: S.payments.title },
    command: 'payment show',
    ID,
    title: titleOf,
    intro,
    actions: () =>
      h('button', { type: 'button', class: 'quiet', onclick: () => window.print() }, P.print),
    body: (record, again) => [
      h('p', { class: 'paper' }, P.onPaper(record.id, record.transactionId)),
      figures(record),
      h('div', { class: 'two' }, standing(record, again), timeline(record)),
      links(record),
      panel(P.entries, record.entries, {
        columns: ['at', 'kind', ACCOUNT, 'amount', 'runningBalance', 'counterparty'],
        none: P.noEntries[record.status] || P.noEntries.other,
      }),
      record.refunds.length > 0 &&
        panel(P.refunds, record.refunds, { columns: ['at', 'state', 'amount', 'reason', 'reported'] }),
      record.legs.length > 0 && panel(P.legs.title, record.legs, { columns: LEG_COLUMNS }),
      record.instructions.length > 0 && panel(P.instructions, record.instructions),
      record.additionalFields.length > 0 && panel(P.additional, record.additionalFields),
      record.metadata.length > 0 && panel(P.metadata, record.metadata),
      h('div', { class: 'screen' }, eventsPanel(record, again)),
      folded(S.common.allDetails, members(record)),
    ],
  });
}

// --- The list of payments

/** A name with its masked account below; a dash if both are missing. */
export function side(name, masked) {
  if (!name && !masked) return h('span', { class: 'soft' }, '–');
  return h('span', { class: 'side' }, name, masked && [' ', account(masked)]);
}

const PARTIES = {
  key: 'sourceName',
  label: S.payments.parties,
  card: 'sub',
  wide: true,
  render: (row) =>
    row.type === 'p2p_own_multi'
      ? typeText(row.type)
      : h(
          'span',
          { class: 'parties' },
          side(row.sourceName, row.sourceAccount),
          h('span', { class: 'arrow', 'aria-hidden': 'true' }, ' → '),
          h('span', { class: 'unseen' }, S.payments.to),
          side(row.destinationName, row.destinationAccount),
        ),
};

/** The status, with the failure reason below it. */
const STATUS = {
  key: 'status',
  label: S.payments.status,
  card: 'badge',
  render: (row) => [
    badge(row.status),
    row.refundedAmount &&
      h('span', { class: 'reason' }, S.payment.givenBack, ' ', amount(row.refundedAmount, row.sendingAssetCode)),
    row.failureCode &&
      h('span', { class: 'reason', title: row.failureMessage }, failureText(row.failureCode)),
  ],
};

const AMOUNT = {
  key: 'sendingAmount',
  label: S.label.sendingAmount,
  numeric: true,
  card: 'value',
  render: (row) => amount(row.sendingAmount, row.sendingAssetCode),
};

/** Shortens the transaction ID of a reference payment, which contains the long ID of the reference. */
const shortId = (text) => text.replace(/([0-9a-f]{8})-[0-9a-f-]{21}([0-9a-f]{6})$/, '$1…$2');

export function paymentsScreen(context) {
  return list(context, {
    title: S.payments.title,
    command: 'payment list',
    count: 'payment count',
    columns: [
      { key: 'transactionId', card: 'title', text: (row) => shortId(row.transactionId) },
      { key: 'createdAt', card: 'when' },
      STATUS,
      PARTIES,
      AMOUNT,
      'receivingAmount',
      { key: 'type', label: S.payments.kind, render: (row) => S.typeShort[row.type] || row.type },
      'association',
    ],
    more: ['environment', 'fromRef', 'toRef', 'metadata', 'failureMessage', 'updatedAt', 'id'],
    quick: ['text', 'status', 'type', 'failure'],
    bulk: { noun: 'payment', only: ['retry'], about: (row) => row.transactionId },
    views: S.payments.views,
    actions: (again) => [
      action({ command: 'payment create', main: true, done: again }),
      action({ command: 'payment bulk', done: again }),
    ],
    link: (row) => `#/payments/${row.id}`,
    empty: [S.payments.empty, S.payments.emptyNext],
  });
}
