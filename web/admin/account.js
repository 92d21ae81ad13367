// The account of the signed-in operator: password, authenticator, passkeys and sessions.
import { dialog } from './action.js';
import { announce, h, replace } from './dom.js';
import { plainField, submitting } from './form.js';
import { heading } from './list.js';
import { errorBox } from './notice.js';
import { ownPasskeys, passkeyForm, passkeysWork, removePasskey } from './passkeys.js';
import { terms } from './record.js';
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
      text: 'Current password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    hasSecondFactor() && codeField(),
    plainField({
      name: 'next',
      text: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      required: true,
      minlength: 12,
      hint: 'At least 12 characters. Your other sessions end.',
    }),
    plainField({
      name: 'again',
      text: 'Repeat the new password',
      type: 'password',
      autocomplete: 'new-password',
      required: true,
    }),
    place,
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, 'Change password')),
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
    replace(place, h('p', { class: 'notice good', role: 'status' }, 'Password changed.'));
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
  const cancel = h('button', { type: 'button', class: 'quiet', onclick: open.close }, 'Cancel');
  open.box.append(form, cancel);
  form.elements.password.focus();
}

function enrolAnew() {
  provedDialog('Enrol an authenticator', 'Continue', (proof, open) =>
    authenticatorForm(proof, () => {
      open.close();
      announce('Your authenticator is enrolled');
      location.reload();
    }),
  );
}

function renewCodes() {
  provedDialog('Renew recovery codes', 'Renew', async (proof, open) => {
    const renewed = await renewRecoveryCodes(proof);
    return recoveryCodes(renewed.recoveryCodes, open.close);
  });
}

function addPasskey() {
  provedDialog('Add a passkey', 'Continue', (proof, open) =>
    passkeyForm(proof, (codes, form) => {
      const done = () => {
        open.close();
        announce('The passkey is added');
        location.reload();
      };
      if (codes.length === 0) done();
      else form.replaceWith(recoveryCodes(codes, done));
    }),
  );
}

function dropPasskey(row) {
  provedDialog(`Remove the passkey ${row.name}`, 'Remove', async (proof, open) => {
    await removePasskey(row.id, proof);
    open.close();
    location.reload();
    return h('p', {}, 'Removed');
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
        h('span', {}, row.name, h('span', { class: 'soft' }, ` at ${row.site}`)),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': `Remove the passkey ${row.name}`,
            onclick: () => dropPasskey(row),
          },
          'Remove',
        ),
      ),
    );
    replace(
      place,
      rows.length > 0
        ? h('ul', { class: 'plain' }, rows)
        : h('p', {}, 'None. A passkey signs you in with your device instead of a password and code.'),
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
              row.present ? 'This browser, from ' : 'From ',
              h('code', {}, row.address),
              row.browser && h('span', { class: 'soft' }, ` ${row.browser}`),
            ),
            !row.present &&
              h(
                'button',
                {
                  type: 'button',
                  class: 'quiet',
                  'aria-label': `End the session from ${row.address}`,
                  onclick: async () => {
                    try {
                      await endSession(row.id);
                      announce('The session is ended');
                      await showSessions(place);
                    } catch (fault) {
                      replace(place, errorBox(fault));
                    }
                  },
                },
                'End',
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
  const sessions = h('div', {}, h('p', { class: 'soft' }, 'Loading…'));
  const passkeys = h('div', {}, h('p', { class: 'soft' }, 'Loading…'));
  replace(
    context.main,
    heading('My account'),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Profile'),
      terms([
        ['Name', name],
        ['Role', role],
        ['Signed out after', `${Math.round(idleSeconds / 60)} min without input`],
      ]),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Authenticator'),
      h(
        'p',
        {},
        authenticator
          ? 'Enrolled. A new authenticator replaces the old one after its first correct code.'
          : hasSecondFactor()
            ? 'Not enrolled.'
            : 'Not enrolled: only your password protects your account.',
      ),
      h(
        'button',
        { type: 'button', onclick: enrolAnew },
        authenticator ? 'Enrol a new one' : 'Enrol one now',
      ),
      hasSecondFactor() &&
        h('button', { type: 'button', class: 'quiet', onclick: renewCodes }, 'Renew recovery codes'),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Passkeys'),
      passkeys,
      passkeysWork()
        ? h('button', { type: 'button', onclick: addPasskey }, 'Add a passkey')
        : h('p', { class: 'soft' }, 'This browser offers passkeys only over TLS, or at localhost.'),
    ),
    h('section', { class: 'panel' }, h('h2', {}, 'Password'), passwordForm()),
    h('section', { class: 'panel' }, h('h2', {}, 'Sessions'), sessions),
  );
  showPasskeys(passkeys);
  showSessions(sessions);
}
