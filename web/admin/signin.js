// Sign-in with name, password and code, or with the identity provider; one-time links; enrolment of an authenticator.
import { copyButton, freshId, h, replace } from './dom.js';
import { plainField, submitting, valuesOf } from './form.js';
import { inWords } from './format.js';
import { errorBox } from './notice.js';
import { passkeyForm, passkeyProof, passkeysWork, signInWithPasskey } from './passkeys.js';
import { qrCode } from './qr.js';
import { S } from './strings.js';
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

/** The error of a rejected sign-in; a pause tells its length and the way out. */
function pausedOr(fault) {
  if (fault.status !== 429) return fault;
  fault.title = S.signIn.paused(inWords(Math.ceil(fault.retryAfter / 60) * 60));
  fault.message = S.signIn.pausedNext;
  return fault;
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
        text: S.signIn.name,
        autocomplete: 'username',
        required: true,
        value: presetName,
        autocapitalize: 'off',
        spellcheck: 'false',
      }),
      plainField({
        name: 'password',
        text: S.signIn.password,
        type: 'password',
        autocomplete: 'current-password',
        required: true,
      }),
      plainField({
        name: 'code',
        text: S.signIn.code,
        inputmode: 'numeric',
        autocomplete: 'one-time-code',
        maxlength: 19,
        hint: S.signIn.codeHint,
      }),
      place,
      h('button', { type: 'submit', class: 'primary' }, S.signIn.signIn),
      passkeysWork() &&
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => attempt(() => signInWithPasskey()) },
          S.signIn.withPasskey,
        ),
    );
    const box = cover(
      S.signIn.signIn,
      why && h('p', { class: 'notice' }, why),
      form,
      h(
        'details',
        {},
        h('summary', {}, S.signIn.lost),
        h(
          'p',
          { class: 'soft' },
          S.signIn.lostText.map(([command, text]) => [command && h('code', {}, command), text]),
        ),
      ),
    );
    async function attempt(signIn) {
      const password = form.elements.password.value;
      const went = await submitting(form, place, async () => {
        await signIn(password).catch((fault) => {
          throw pausedOr(fault);
        });
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
          h('button', { type: 'button', class: 'quiet', onclick: () => attempt(goToProvider) }, S.signIn.with(host)),
        ),
      () => {}, // the server does not respond: the next call reports it
    );
    form.elements[presetName ? 'password' : 'name'].focus();
  });
}

/** The form of a one-time link: a new password, and a name if the link creates an administrator. */
export async function claimDialog(link) {
  let known;
  try {
    known = await wire.openLink(link);
  } catch (fault) {
    return linkRefused(fault);
  }
  return new Promise((resolve) => {
    const place = h('div', { 'aria-live': 'polite' });
    const form = h(
      'form',
      { class: 'stack' },
      !known.name &&
        plainField({
          name: 'name',
          text: S.claim.name,
          autocomplete: 'username',
          autocapitalize: 'off',
          spellcheck: 'false',
          required: true,
          hint: S.claim.nameHint,
        }),
      plainField({
        name: 'password',
        text: S.claim.password,
        type: 'password',
        autocomplete: 'new-password',
        required: true,
        minlength: PASSWORD_MIN,
        hint: S.claim.passwordHint(PASSWORD_MIN),
      }),
      plainField({
        name: 'again',
        text: S.claim.again,
        type: 'password',
        autocomplete: 'new-password',
        required: true,
      }),
      place,
      h('button', { type: 'submit', class: 'primary' }, S.claim.button),
    );
    const box = cover(known.name ? S.claim.titleOf(known.name) : S.claim.title, form);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { name, password, again } = form.elements;
      const went = await submitting(form, place, async () => {
        sameTwice(password.value, again.value);
        await wire.claim({ link, name: name ? name.value.trim() : '', password: password.value });
        await wire.loadSession();
      });
      if (!went) return;
      leave(box);
      if (wire.session.operator.mustEnrol) await enrolDialog(password.value);
      resolve();
    });
    form.querySelector('input').focus();
  });
}

/** Reports a link that does not work, before anything is typed. Never resolves: the page reloads. */
function linkRefused(fault) {
  const leaving = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => location.reload() },
    S.claim.toSignIn,
  );
  cover(S.claim.gone, errorBox(fault), leaving);
  leaving.focus();
  return new Promise(() => {});
}

export function sameTwice(first, second) {
  if (first === second) return;
  throw new wire.Rejected({ title: S.claim.differ, detail: S.claim.differText });
}

/** Whether a proof requires more than the password. */
export const hasSecondFactor = () => wire.session.operator.authenticator || wire.session.operator.passkeys > 0;

/** The field for the code of a proof. It may be empty if a passkey can replace the code. */
export function codeField() {
  const passkey = wire.session.operator.passkeys > 0 && passkeysWork();
  return plainField({
    name: 'code',
    text: S.proof.code,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    required: !passkey,
    maxlength: 19,
    hint: S.proof.codeHint + (passkey ? S.proof.codeOrPasskey : ''),
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
      text: S.proof.password,
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
      S.recovery.text,
    ),
    h('pre', { class: 'secret-text' }, codes.join('\n')),
    copyButton(codes.join('\n'), S.recovery.what),
    h('button', { type: 'button', class: 'primary', onclick: done }, S.common.secretsCopied),
  );
}

/**
 * Shows the key of a new authenticator and asks for its first code. `proof` is {password, code}; `confirmed` is called
 * when the code was right, `done` last.
 */
export async function authenticatorForm(proof, done, confirmed = () => {}) {
  const { otpauthUri } = await wire.beginAuthenticator(proof);
  const key = new URL(otpauthUri).searchParams.get('secret') || '';
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack' },
    h('p', {}, S.authenticator.scan),
    qrCode(otpauthUri),
    h(
      'p',
      {},
      h('span', { class: 'soft' }, S.authenticator.key),
      h('code', { class: 'secret-text' }, key.replace(/(.{4})(?=.)/g, '$1 ')),
      ' ',
      copyButton(key, S.authenticator.keyName),
    ),
    plainField({
      name: 'code',
      text: S.authenticator.code,
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      required: true,
      maxlength: 8,
      hint: S.authenticator.codeHint,
    }),
    place,
    h('button', { type: 'submit', class: 'primary' }, S.authenticator.confirm),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let enrolled;
    const went = await submitting(form, place, async () => {
      enrolled = await wire.confirmAuthenticator(form.elements.code.value.trim());
      // The server has replaced the session and its token.
      await wire.loadSession();
    });
    if (!went) return;
    confirmed();
    form.replaceWith(recoveryCodes(enrolled.recoveryCodes, done));
  });
  return form;
}

/** Enrols the first second factor, before the page opens. `password` is the one used to sign in, if known. */
export function enrolDialog(password) {
  return new Promise((resolve) => {
    const content = h('div', {}, h('p', { class: 'soft' }, S.app.loading));
    const out = h('button', { type: 'button', class: 'quiet' }, S.app.signOut);
    const box = cover(
      S.authenticator.enrol,
      h('p', {}, S.authenticator.once),
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
    const instead = h('button', { type: 'button', class: 'quiet' }, S.authenticator.instead);
    instead.addEventListener('click', async () => {
      instead.remove();
      const form = password
        ? await withPasskey({ password, code: '' }).catch(errorBox)
        : proofForm(false, S.proof.continue, withPasskey);
      replace(content, form);
      const first = form.querySelector('input');
      if (first) first.focus();
    });
    if (passkeysWork()) out.before(instead, ' ');
    const begin = async () => {
      // Recovery codes are shown once, so nothing below may replace them.
      const enrol = (proof) => authenticatorForm(proof, done, () => instead.remove());
      const form = password
        ? await enrol({ password, code: '' })
        : proofForm(false, S.proof.continue, enrol);
      replace(content, form);
      form.querySelector('input').focus();
    };
    begin().catch((fault) => replace(content, errorBox(fault)));
  });
}

// --- Sign-in with the identity provider

const posted = (body = {}) => ({ method: 'POST', body });

/** The host of the configured provider, or null. */
export async function offeredProvider() {
  return (await wire.call('sign-in/options')).provider;
}

/** Leaves the page. */
export async function goToProvider() {
  const { url } = await wire.call('sign-in/provider/begin', posted());
  location.assign(url);
  await new Promise(() => {});
}

/** The parameters with which the provider sent the browser back, or null. Removes them from the address. */
export function returnedFromProvider() {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return null;
  history.replaceState(null, '', location.pathname + location.hash);
  return Object.fromEntries(query);
}

export async function signInWithProvider({ code, state, iss, error }) {
  if (error) {
    throw new wire.Rejected({ title: S.signIn.notByProvider, detail: S.signIn.byProvider(error) });
  }
  await wire.call('sign-in/provider', posted({ code, state, iss: iss || '' }));
}
