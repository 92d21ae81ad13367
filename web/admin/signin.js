// Sign-in with name, password and code; one-time links; enrolment of an authenticator.
import { copyButton, freshId, h, replace } from './dom.js';
import { plainField, submitting, valuesOf } from './form.js';
import { errorBox } from './notice.js';
import { passkeyForm, passkeyProof, passkeysWork, signInWithPasskey } from './passkeys.js';
import { goToProvider, offeredProvider, returnedFromProvider, signInWithProvider } from './provider.js';
import { qrCode } from './qr.js';
import * as wire from './wire.js';

const PASSWORD_MIN = 12;

/** A dialog that covers the page. The page below keeps its state but is not visible. */
function cover(title, ...content) {
  const heading = freshId('cover');
  const box = h(
    'dialog',
    { class: 'cover', 'aria-labelledby': heading },
    h(
      'div',
      { class: 'card' },
      h('p', { class: 'brand' }, 'coffer'),
      h('h1', { id: heading }, title),
      ...content,
    ),
  );
  box.addEventListener('cancel', (event) => event.preventDefault());
  document.body.append(box);
  box.showModal();
  return box;
}

function leave(box) {
  box.close();
  box.remove();
}

/** Resolves when an operator has signed in. `why` is the text above the form. */
export function signInDialog(why, presetName = '') {
  return new Promise((resolve) => {
    const place = h('div', { 'aria-live': 'polite' });
    const form = h(
      'form',
      { class: 'stack' },
      plainField({
        name: 'name',
        text: 'Name',
        autocomplete: 'username',
        required: true,
        value: presetName,
        autocapitalize: 'off',
        spellcheck: 'false',
      }),
      plainField({
        name: 'password',
        text: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        required: true,
      }),
      plainField({
        name: 'code',
        text: 'Code',
        inputmode: 'numeric',
        autocomplete: 'one-time-code',
        maxlength: 19,
        hint:
          'Six digits from your authenticator app, or a recovery code. ' +
          'Leave it empty if you have neither, or to use a passkey.',
      }),
      place,
      h('button', { type: 'submit', class: 'primary' }, 'Sign in'),
      passkeysWork() &&
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => attempt(() => signInWithPasskey()) },
          'Sign in with a passkey',
        ),
    );
    const box = cover(
      'Sign in',
      why && h('p', { class: 'notice' }, why),
      form,
      h(
        'details',
        {},
        h('summary', {}, 'No password yet, or lost it?'),
        h(
          'p',
          { class: 'soft' },
          'The first start of the server prints a one-time link; ',
          h('code', {}, 'coffer admin link'),
          ' prints another. Administrators create a link for a new operator with ',
          h('code', {}, 'coffer operator add'),
          ' and replace a lost password with ',
          h('code', {}, 'coffer operator reset'),
          '.',
        ),
      ),
    );
    async function attempt(signIn) {
      const password = form.elements.password.value;
      const went = await submitting(form, place, async () => {
        await signIn(password);
        await wire.loadSession();
      });
      if (!went) {
        form.elements.password.value = '';
        form.elements.code.value = '';
        form.elements.password.focus();
        return;
      }
      leave(box);
      if (wire.session.operator.mustEnrol) await enrolDialog(password);
      resolve();
    }
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      attempt(async (password) => {
        const next = await wire.signIn({ code: '', ...valuesOf(form), password });
        if (next) await signInWithPasskey(next.passkey);
      });
    });
    const returned = returnedFromProvider();
    if (returned) attempt(() => signInWithProvider(returned));
    offeredProvider().then(
      (host) =>
        host &&
        form.append(
          h('button', { type: 'button', class: 'quiet', onclick: () => attempt(goToProvider) }, `Sign in with ${host}`),
        ),
      () => {}, // the server does not respond: the next call reports it
    );
    form.elements[presetName ? 'password' : 'name'].focus();
  });
}

/** The form of a one-time link: a new password, and a name if the link creates an administrator. */
export function claimDialog(link) {
  return new Promise((resolve) => {
    const place = h('div', { 'aria-live': 'polite' });
    const form = h(
      'form',
      { class: 'stack' },
      plainField({
        name: 'name',
        text: 'Name',
        autocomplete: 'username',
        autocapitalize: 'off',
        spellcheck: 'false',
        hint:
          'Your operator name: letters, digits and . _ @ + -. ' +
          'Leave it empty if the link was created for your name.',
      }),
      plainField({
        name: 'password',
        text: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        required: true,
        minlength: PASSWORD_MIN,
        hint: `At least ${PASSWORD_MIN} characters. Several unrelated words are easy to remember.`,
      }),
      plainField({
        name: 'again',
        text: 'Repeat the password',
        type: 'password',
        autocomplete: 'new-password',
        required: true,
      }),
      place,
      h('button', { type: 'submit', class: 'primary' }, 'Begin'),
    );
    const box = cover('Use your one-time link', form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { name, password, again } = form.elements;
      const went = await submitting(form, place, async () => {
        sameTwice(password.value, again.value);
        await wire.claim({ link, name: name.value.trim(), password: password.value });
        await wire.loadSession();
      });
      if (!went) return;
      leave(box);
      if (wire.session.operator.mustEnrol) await enrolDialog(password.value);
      resolve();
    });
    form.elements.name.focus();
  });
}

export function sameTwice(first, second) {
  if (first === second) return;
  throw new wire.Rejected({ title: 'Passwords differ', detail: 'The two passwords do not match. Type them again.' });
}

/** Whether a proof requires more than the password. */
export const hasSecondFactor = () => wire.session.operator.authenticator || wire.session.operator.passkeys > 0;

/** The field for the code of a proof. It may be empty if a passkey can replace the code. */
export function codeField() {
  const passkey = wire.session.operator.passkeys > 0 && passkeysWork();
  return plainField({
    name: 'code',
    text: 'Code',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    required: !passkey,
    maxlength: 19,
    hint: `Six digits from your authenticator app, or a recovery code.${
      passkey ? ' Leave it empty to use a passkey.' : ''
    }`,
  });
}

/** The second factor of a proof: the code in `field`, or a passkey if the field is empty. */
export async function secondFactor(field) {
  const code = field ? field.value.trim() : '';
  if (!field || code !== '') return { code };
  return { code, passkey: await passkeyProof() };
}

/** The fields that prove the operator's identity; `withCode` adds the second factor. */
export function proofFields(withCode) {
  return [
    plainField({
      name: 'password',
      text: 'Current password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    withCode && codeField(),
  ];
}

/** Asks for password and second factor and passes them to `use`, whose result replaces the form. */
export function proofForm(withCode, text, use) {
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack' },
    proofFields(withCode),
    place,
    h('button', { type: 'submit', class: 'primary' }, text),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const { password, code } = form.elements;
    let next;
    const went = await submitting(form, place, async () => {
      next = await use({ password: password.value, ...(await secondFactor(code)) });
    });
    if (!went) return;
    form.replaceWith(next);
    const first = next.querySelector('input, button');
    if (first) first.focus();
  });
  return form;
}

/** Recovery codes, shown once. */
export function recoveryCodes(codes, done) {
  return h(
    'div',
    { class: 'stack' },
    h(
      'p',
      { class: 'notice warn' },
      "Keep these recovery codes apart from your password. Each replaces a code of the authenticator once. You won't see them again.",
    ),
    h('pre', { class: 'secret-text' }, codes.join('\n')),
    copyButton(codes.join('\n'), 'recovery codes'),
    h('button', { type: 'button', class: 'primary', onclick: done }, 'I have copied them'),
  );
}

/** Shows the key of a new authenticator and asks for its first code. `proof` is {password, code}; `done` is called last. */
export async function authenticatorForm(proof, done) {
  const { otpauthUri } = await wire.beginAuthenticator(proof);
  const key = new URL(otpauthUri).searchParams.get('secret') || '';
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack' },
    h('p', {}, 'Scan this with an authenticator app, or type the key into it.'),
    qrCode(otpauthUri),
    h(
      'p',
      {},
      h('span', { class: 'soft' }, 'Key '),
      h('code', { class: 'secret-text' }, key.replace(/(.{4})(?=.)/g, '$1 ')),
      ' ',
      copyButton(key, 'key'),
    ),
    plainField({
      name: 'code',
      text: 'Code',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      required: true,
      maxlength: 8,
      hint: 'The six digits that the app shows.',
    }),
    place,
    h('button', { type: 'submit', class: 'primary' }, 'Confirm'),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let enrolled;
    const went = await submitting(form, place, async () => {
      enrolled = await wire.confirmAuthenticator(form.elements.code.value.trim());
      // The server has replaced the session and its token.
      await wire.loadSession();
    });
    if (went) form.replaceWith(recoveryCodes(enrolled.recoveryCodes, done));
  });
  return form;
}

/** Enrols the first second factor, before the page opens. `password` is the one used to sign in, if known. */
export function enrolDialog(password) {
  return new Promise((resolve) => {
    const content = h('div', {}, h('p', { class: 'soft' }, 'Loading…'));
    const out = h('button', { type: 'button', class: 'quiet' }, 'Sign out');
    const box = cover(
      'Enrol an authenticator',
      h('p', {}, 'Signing in requires a password and a code. You set this up once.'),
      content,
      out,
    );
    out.addEventListener('click', async () => {
      await wire.signOut().catch(() => {});
      location.reload();
    });
    const done = () => {
      leave(box);
      resolve();
    };
    const withPasskey = (proof) =>
      passkeyForm(proof, (codes, form) => form.replaceWith(recoveryCodes(codes, done)));
    const instead = h('button', { type: 'button', class: 'quiet' }, 'Use a passkey instead');
    instead.addEventListener('click', async () => {
      instead.remove();
      const form = password
        ? await withPasskey({ password, code: '' }).catch(errorBox)
        : proofForm(false, 'Continue', withPasskey);
      replace(content, form);
      const first = form.querySelector('input');
      if (first) first.focus();
    });
    if (passkeysWork()) out.before(instead, ' ');
    const begin = async () => {
      const enrol = (proof) => authenticatorForm(proof, done);
      const form = password
        ? await enrol({ password, code: '' })
        : proofForm(false, 'Continue', enrol);
      replace(content, form);
      form.querySelector('input').focus();
    };
    begin().catch((fault) => replace(content, errorBox(fault)));
  });
}
