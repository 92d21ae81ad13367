// Resolves a payment manually: the possible results with their effect on the money, the evidence, and the amount typed
// again as confirmation.
import { dialog, said } from './action.js';
import { announce, freshId, h, quiet } from './dom.js';
import { labelled, plainField, submitting, textField, valuesOf } from './form.js';
import { account, amount, localised } from './format.js';
import { terms } from './record.js';
import { S } from './strings.js';
import { act, can } from './wire.js';

const R = S.resolve;
const OPEN = ['initiated', 'processing'];
const REFUNDS = ['refund_pending', 'refund_failed'];

const isPayout = (record) => record.type === 'offramp';
const isFinal = (record) => !OPEN.includes(record.status) && record.status !== 'refund_pending';
/** Whether an operator books money that was collected but not credited. */
const isLate = (record) => !isPayout(record) && isFinal(record) && record.status !== 'succeeded';

/** The refunds of an on-ramp in this state. */
const refunds = (record, state) => record.refunds.filter((each) => each.refundId && each.state === state);
/** The refund that waits, or those that failed although their payer may have the money. */
const decided = (record) => [...refunds(record, 'waiting'), ...refunds(record, 'failed')];

/** Results of a payment that has ended, if its provider contradicts it or its money was not credited. */
function corrections(record) {
  if (record.openItem === 'unbooked') return ['succeeded', 'returned'];
  if (record.openItem !== 'contradicted') return record.status === 'refund_failed' && isPayout(record) ? ['refunded'] : [];
  if (refunds(record, 'failed').length > 0) return ['refunded', 'unchanged'];
  if (refunds(record, 'booked').length > 0) return ['unchanged'];
  if (record.status === 'succeeded') return ['refunded', 'unchanged'];
  if (!isPayout(record)) return ['succeeded', 'returned', 'unchanged'];
  return record.status === 'refund_failed' ? ['succeeded', 'refunded', 'unchanged'] : ['succeeded', 'unchanged'];
}

/** Results that the state permits; the server decides. */
function choices(record) {
  const debited = record.entries.length > 0;
  if (!['offramp', 'onramp', 'onramp_reference'].includes(record.type)) return [];
  if (refunds(record, 'waiting').length > 0) return ['refunded', 'failed'];
  if (isFinal(record)) return corrections(record);
  if (REFUNDS.includes(record.status)) return ['refunded'];
  if (record.type === 'onramp_reference') return ['failed', 'returned'];
  return isPayout(record) && debited ? ['succeeded', 'failed', 'refunded'] : ['succeeded', 'failed'];
}

function facts(record) {
  return {
    total: [amount(record.total || record.sendingAmount, record.sendingAssetCode)],
    received: [amount(record.receivingAmount, record.receivingAssetCode)],
    from: record.sourceName || S.payment.unknown,
    to: record.destinationName || S.payment.unknown,
    provider: record.connector,
    debited: record.entries.length > 0,
    again: isFinal(record) && record.status !== 'refund_failed',
  };
}

function kind(record) {
  if (isPayout(record)) return 'offramp';
  return decided(record).length > 0 ? 'refund' : 'onramp';
}

/** Names the refund, because another one can begin while a decision waits for its approval. */
function refundField(record) {
  const options = refunds(record, 'waiting').length > 0 ? refunds(record, 'waiting') : refunds(record, 'failed');
  if (options.length === 0) return null;
  const select = h(
    'select',
    { id: freshId('field'), name: 'refund' },
    options.map((each) => h('option', { value: each.refundId }, R.refund(each.amount, each.assetCode, each.reason))),
  );
  return labelled(select, R.whichRefund);
}

function choice(record, result, only) {
  const name = freshId('result');
  const hint = freshId('hint');
  return h(
    'div',
    { class: 'choice' },
    h('input', {
      type: 'radio',
      name: 'as',
      value: result,
      id: name,
      required: true,
      checked: only,
      'aria-describedby': hint,
    }),
    h(
      'div',
      {},
      h('label', { for: name }, R.results[result]),
      h('p', { class: 'hint', id: hint }, R.consequences[kind(record)][result](facts(record))),
    ),
  );
}

function summary(record) {
  return terms([
    [R.payer, record.sourceName, ' ', account(record.sourceAccount)],
    [R.payee, record.destinationName, ' ', account(record.destinationAccount)],
    [R.amount, amount(record.sendingAmount, record.sendingAssetCode)],
    [R.receives, amount(record.receivingAmount, record.receivingAssetCode)],
    [R.provider, record.connector, record.providerReference && ` ${record.providerReference}`],
  ]);
}

/** The form can only be submitted with the correct amount in this field. */
function confirmation(record) {
  const wanted = String(record.sendingAmount);
  return plainField({
    name: 'confirmation',
    text: R.confirm(localised(wanted)),
    required: true,
    title: R.confirmTitle(localised(wanted)),
    'data-amount': '',
    'data-wanted': wanted,
  });
}

function ask(record, again) {
  const open = dialog(R.title(record.transactionId));
  const place = h('div', {});
  const possible = choices(record);
  const form = h(
    'form',
    { class: 'stack' },
    h('p', { class: 'notice warn' }, R.warning),
    summary(record),
    h(
      'fieldset',
      { class: 'choices' },
      h('legend', {}, R.question),
      possible.map((result) => choice(record, result, possible.length === 1)),
    ),
    h(
      'div',
      { class: 'fields' },
      refundField(record),
      isLate(record) && plainField({ name: 'amount', text: R.credit(record.receivingAssetCode), hint: R.creditHint, 'data-amount': '' }),
      textField({ name: 'reason', text: R.evidence, hint: R.evidenceHint, required: true, rows: 2 }),
      confirmation(record),
    ),
    place,
    h('div', { class: 'row end' }, quiet(S.common.cancel, open.close), h('button', { type: 'submit', class: 'danger' }, R.button)),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const as = form.elements.as.value;
    const reason = form.elements.reason.value.trim().replace(/\s*\n\s*/g, ' ');
    const credit = as === 'succeeded' && valuesOf(form).amount;
    let resolved;
    const went = await submitting(form, place, async () => {
      const refund = as !== 'unchanged' && form.elements.refund?.value;
      resolved = await act('payment resolve', {
        ID: record.id,
        as,
        reason,
        ...(credit && { amount: credit }),
        ...(refund && { refund }),
      });
    });
    if (!went) return;
    open.box.addEventListener('close', again, { once: true });
    open.close();
    said(resolved, R.done(record.transactionId, R.results[as]));
  });
  open.box.classList.add('wide');
  open.box.append(form);
  form.querySelector('input').focus();
  announce(R.warning);
}

export function resolveButton(record, again) {
  if (!can('payment resolve') || choices(record).length === 0) return null;
  return h(
    'button',
    {
      type: 'button',
      class: 'quiet danger-text',
      'data-command': 'payment resolve',
      onclick: () => ask(record, again),
    },
    R.open,
  );
}
