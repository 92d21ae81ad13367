// The queue of wallets under review. A drawer shows one wallet at a time with its review data.
import { dialog } from './action.js';
import { freshId, h, quiet, replace } from './dom.js';
import { submitting, textField } from './form.js';
import { account, ago, badge, label } from './format.js';
import { list } from './list.js';
import { errorBox, toast } from './notice.js';
import { terms } from './record.js';
import { S } from './strings.js';
import { DECISIONS } from './wallets.js';
import { act, can, read } from './wire.js';

const R = S.reviews;

function codeField() {
  const id = freshId('code');
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, R.code),
    h(
      'select',
      { id, name: 'code' },
      Object.entries(R.codes).map(([code, text]) => h('option', { value: code }, text)),
    ),
  );
}

/** The review data that the integrator sent. */
function evidence(record) {
  return h(
    'div',
    { class: 'panel' },
    h('h3', {}, S.wallets.evidence),
    record.details.length === 0
      ? h('p', { class: 'soft' }, R.noEvidence)
      : terms(record.details.map(({ name, value }) => [label(name), value])),
  );
}

class Drawer {
  constructor(rows, again) {
    this.rows = rows;
    this.again = again;
    this.open = dialog(R.title);
    this.open.box.classList.add('drawer');
    this.open.box.querySelector('h2').tabIndex = -1;
    this.open.box.addEventListener('close', again, { once: true });
    this.place = h('div', { class: 'stack' });
    this.open.box.append(this.place);
  }

  async show(at) {
    this.at = at;
    const row = this.rows[at];
    this.open.box.querySelector('h2').textContent = R.drawer(row.walletName);
    replace(this.place, h('p', { class: 'soft', role: 'status' }, S.app.loading));
    try {
      const { data } = await read('wallet show', { ID: row.id });
      this.draw(data);
    } catch (fault) {
      replace(this.place, errorBox(fault));
    }
  }

  draw(record) {
    const error = h('div', {});
    const form = h(
      'form',
      { class: 'stack' },
      codeField(),
      textField({ name: 'message', text: R.message, hint: R.messageHint }),
      error,
      h(
        'div',
        { class: 'row' },
        this.button(record, 'wallet verify', R.approve, 'primary', () => ({})),
        this.button(record, 'wallet reject', R.reject, 'danger', () => ({
          code: form.elements.code.value,
          message: form.elements.message.value.trim(),
        })),
        h('span', { class: 'grow' }),
        h('span', { class: 'soft' }, R.waiting(this.at + 1, this.rows.length)),
        this.rows.length > 1 &&
          h(
            'button',
            { type: 'button', onclick: () => this.show((this.at + 1) % this.rows.length) },
            R.next,
          ),
        quiet(S.common.close, this.open.close),
      ),
    );
    this.error = error;
    this.form = form;
    replace(
      this.place,
      h(
        'p',
        {},
        badge(record.status),
        ' ',
        account(record.accountNumber),
        ` ${record.association}, ${S.word[record.environment]}, `,
        ago(record.createdAt),
      ),
      evidence(record),
      form,
      h('p', {}, h('a', { href: `#/wallets/${record.id}`, onclick: this.open.close }, S.wallets.one)),
    );
    this.open.box.querySelector('h2').focus(); // so that a key held down does not decide the next wallet
  }

  button(record, command, text, tone, values) {
    if (!can(command)) return null;
    const button = h('button', { type: 'button', class: tone, 'data-command': command }, text);
    button.addEventListener('click', async () => {
      const given = values();
      const message = this.form.elements.message;
      message.required = command === 'wallet reject';
      if (!message.reportValidity()) return;
      const went = await submitting(this.form, this.error, () => act(command, { ID: record.id, ...given }));
      if (!went) return;
      toast(command === 'wallet verify' ? R.approved(record.walletName) : R.rejected(record.walletName));
      this.rows.splice(this.at, 1);
      if (this.rows.length === 0) this.open.close();
      else this.show(Math.min(this.at, this.rows.length - 1));
    });
    return button;
  }
}

export function reviewsScreen(context) {
  let rows = [];
  const open = (row, again) => {
    const drawer = new Drawer([...rows], again);
    drawer.show(Math.max(0, rows.findIndex(({ id }) => id === row.id)));
  };
  return list(context, {
    title: R.title,
    intro: R.intro,
    command: 'wallet list',
    fixed: { status: 'Pending', order: 'oldest' },
    quick: ['text'],
    rows: (data) => {
      rows = data;
      return data;
    },
    columns: [
      { key: 'walletName', card: 'title' },
      { key: 'accountNumber', card: 'sub' },
      'assetCode',
      'association',
      'environment',
      { key: 'createdAt', label: R.since, card: 'value', render: (row) => ago(row.createdAt) },
    ],
    link: (row) => `#/wallets/${row.id}`,
    bulk: DECISIONS,
    rowActions: (row, again) => [
      h(
        'button',
        { type: 'button', class: 'primary', 'data-review': row.id, onclick: () => open(row, again) },
        R.review,
      ),
    ],
    empty: [R.empty, R.emptyNext],
  });
}
