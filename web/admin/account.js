// The account of the signed-in operator: password, authenticator, passkeys and sessions.
import { dialog } from './action.js';
import { announce, h, quiet, replace } from './dom.js';
import { plainField, submitting } from './form.js';
import { heading } from './list.js';
import { errorBox } from './notice.js';
import { ownPasskeys, passkeyForm, passkeysWork, removePasskey } from './passkeys.js';
import { terms } from './record.js';
import { S } from './strings.js';
import {
  authenticatorForm,
  codeField,
  hasSecondFactor,
  proofForm,
  recoveryCodes,
  sameTwice,
  secondFactor,
} from './signin.js';
import {
  changePassword,
  endSession,
  loadSession,
  ownSessions,
  renewRecoveryCodes,
  session,
} from './wire.js';

function passwordForm() {
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack narrow' },
    h('input', {
      type: 'text',
      name: 'username',
      autocomplete: 'username',
      value: session.operator.name,
      hidden: true,
      'aria-hidden': 'true',
      tabindex: -1,
    }),
    plainField({
      name: 'present',
      text: S.proof.password,
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    hasSecondFactor() && codeField(),
    plainField({
      name: 'next',
      text: S.account.newPassword,
      type: 'password',
      autocomplete: 'new-password',
      required: true,
      minlength: 12,
      hint: S.account.newHint,
    }),
    plainField({
      name: 'again',
      text: S.account.again,
      type: 'password',
      autocomplete: 'new-password',
      required: true,
    }),
    place,
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, S.account.change)),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const { present, code, next, again } = form.elements;
    const went = await submitting(form, place, async () => {
      sameTwice(next.value, again.value);
      await changePassword({
        present: present.value,
        ...(await secondFactor(code)),
        next: next.value,
      });
      await loadSession();
    });
    if (!went) return;
    form.reset();
    replace(place, h('p', { class: 'notice good', role: 'status' }, S.account.changed));
  });
  return form;
}

/** A dialog that first asks for the password and second factor. */
function provedDialog(title, button, use) {
  const open = dialog(title);
  const form = proofForm(hasSecondFactor(), button, (proof) => {
    const next = use(proof, open);
    open.state.keep = true; // the next step shows secrets only once
    return next;
  });
  const cancel = quiet(S.common.cancel, open.close);
  open.box.append(form, cancel);
  form.elements.password.focus();
}

function enrolAnew() {
  provedDialog(S.authenticator.enrol, S.proof.continue, (proof, open) =>
    authenticatorForm(proof, () => {
      open.close();
      announce(S.authenticator.done);
      location.reload();
    }),
  );
}

function renewCodes() {
  provedDialog(S.recovery.renewTitle, S.recovery.renew, async (proof, open) => {
    const renewed = await renewRecoveryCodes(proof);
    return recoveryCodes(renewed.recoveryCodes, open.close);
  });
}

function addPasskey() {
  provedDialog(S.passkeys.add, S.proof.continue, (proof, open) =>
    passkeyForm(proof, (codes, form) => {
      const done = () => {
        open.close();
        announce(S.passkeys.added);
        location.reload();
      };
      if (codes.length === 0) done();
      else form.replaceWith(recoveryCodes(codes, done));
    }),
  );
}

function dropPasskey(row) {
  provedDialog(S.passkeys.removeOf(row.name), S.passkeys.remove, async (proof, open) => {
    await removePasskey(row.id, proof);
    open.close();
    location.reload();
    return h('p', {}, S.passkeys.removed);
  });
}

/** The operator's passkeys, each with a button to remove it. */
async function showPasskeys(place) {
  try {
    const { data } = await ownPasskeys();
    const rows = data.map((row) =>
      h(
        'li',
        { class: 'row' },
        h('span', {}, row.name, h('span', { class: 'soft' }, S.passkeys.at(row.site))),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': S.passkeys.removeOf(row.name),
            onclick: () => dropPasskey(row),
          },
          S.passkeys.remove,
        ),
      ),
    );
    replace(
      place,
      rows.length > 0
        ? h('ul', { class: 'plain' }, rows)
        : h('p', {}, S.passkeys.empty),
    );
  } catch (fault) {
    replace(place, errorBox(fault));
  }
}

/** The operator's sessions, each with a button to end it. */
async function showSessions(place) {
  try {
    const { data } = await ownSessions();
    replace(
      place,
      h(
        'ul',
        { class: 'plain' },
        data.map((row) =>
          h(
            'li',
            { class: 'row' },
            h(
              'span',
              {},
              row.present ? S.account.here : S.account.from,
              h('code', {}, row.address),
              row.browser && h('span', { class: 'soft' }, ` ${row.browser}`),
            ),
            !row.present &&
              h(
                'button',
                {
                  type: 'button',
                  class: 'quiet',
                  'aria-label': S.account.endOf(row.address),
                  onclick: async () => {
                    try {
                      await endSession(row.id);
                      announce(S.account.ended);
                      await showSessions(place);
                    } catch (fault) {
                      replace(place, errorBox(fault));
                    }
                  },
                },
                S.account.end,
              ),
          ),
        ),
      ),
    );
  } catch (fault) {
    replace(place, errorBox(fault));
  }
}

export function accountScreen(context) {
  const { name, role, authenticator, idleSeconds } = session.operator;
  const sessions = h('div', {}, h('p', { class: 'soft' }, S.app.loading));
  const passkeys = h('div', {}, h('p', { class: 'soft' }, S.app.loading));
  replace(
    context.main,
    heading(S.account.title),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, S.account.profile),
      terms([
        [S.account.name, name],
        [S.account.role, S.word[role] || role],
        [S.account.idle, S.account.idleText(Math.round(idleSeconds / 60))],
      ]),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, S.authenticator.title),
      h(
        'p',
        {},
        authenticator
          ? S.authenticator.enrolled
          : hasSecondFactor()
            ? S.authenticator.notEnrolled
            : S.authenticator.passwordOnly,
      ),
      h(
        'button',
        { type: 'button', onclick: enrolAnew },
        authenticator ? S.authenticator.again : S.authenticator.now,
      ),
      hasSecondFactor() &&
        quiet(S.recovery.renewTitle, renewCodes),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, S.passkeys.title),
      passkeys,
      passkeysWork()
        ? h('button', { type: 'button', onclick: addPasskey }, S.passkeys.add)
        : h('p', { class: 'soft' }, S.passkeys.needTls),
    ),
    h('section', { class: 'panel' }, h('h2', {}, S.account.password), passwordForm()),
    h('section', { class: 'panel' }, h('h2', {}, S.account.sessions), sessions),
  );
  showPasskeys(passkeys);
  showSessions(sessions);
}
