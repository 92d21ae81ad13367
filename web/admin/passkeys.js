// Passkeys (WebAuthn): creation, sign-in with a passkey alone or after the password, and proof of the second factor.
import { h } from './dom.js';
import { plainField, submitting } from './form.js';
import { S } from './strings.js';
import { Rejected, call, loadSession, session, signedCall } from './wire.js';

/** Whether the browser can use passkeys on this page, which requires TLS or localhost. */
export const passkeysWork = () => window.isSecureContext && 'PublicKeyCredential' in window;

function bytesOf(text) {
  const plain = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

function textOf(buffer) {
  if (!buffer) return '';
  const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('');
  return btoa(plain).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

const withBytes = (list) => list.map((each) => ({ ...each, id: bytesOf(each.id) }));

/** Runs the browser's dialog. An error, or closing the dialog, becomes a Rejected that can be shown. */
async function asked(work) {
  try {
    return await work();
  } catch (fault) {
    if (fault.name === 'InvalidStateError') {
      throw new Rejected({ title: S.passkeys.known, detail: S.passkeys.knownText });
    }
    throw new Rejected({
      title: S.passkeys.none,
      detail: S.passkeys.noneText,
    });
  }
}

async function signature(options) {
  const made = await asked(() =>
    navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: withBytes(options.allowCredentials),
      },
    }),
  );
  return {
    id: textOf(made.rawId),
    clientDataJSON: textOf(made.response.clientDataJSON),
    authenticatorData: textOf(made.response.authenticatorData),
    signature: textOf(made.response.signature),
    userHandle: textOf(made.response.userHandle),
  };
}

const posted = (body = {}) => ({ method: 'POST', body });

/** Signs in with the options from the server, or else with a passkey alone. */
export async function signInWithPasskey(given = undefined) {
  const options = given || (await call('sign-in/passkey/begin', posted()));
  await call('sign-in/passkey', posted(await signature(options)));
}

/** A passkey signature as the second factor, in place of a code. */
export const passkeyProof = async () => signature(await signedCall('passkeys/challenge', posted()));

export const ownPasskeys = () => signedCall('passkeys');
export const removePasskey = (id, proof) => signedCall('passkeys/remove', posted({ ...proof, id }));

async function createPasskey(options, name) {
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
        excludeCredentials: withBytes(options.excludeCredentials),
      },
    }),
  );
  const body = {
    name,
    clientDataJSON: textOf(made.response.clientDataJSON),
    attestationObject: textOf(made.response.attestationObject),
  };
  const added = await call('passkeys', posted(body));
  // The server has replaced the session and its token.
  await loadSession();
  return added.recoveryCodes;
}

/** A form that names and creates a passkey. `proof` is {password, code}; calls `done(codes, form)` afterwards. */
export async function passkeyForm(proof, done) {
  const options = await signedCall('passkeys/begin', posted(proof));
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack' },
    plainField({
      name: 'name',
      text: S.passkeys.name,
      required: true,
      maxlength: 64,
      value: session.operator.passkeys ? '' : S.passkeys.device,
      hint: S.passkeys.nameHint,
    }),
    place,
    h('button', { type: 'submit', class: 'primary' }, S.passkeys.create),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let codes;
    const went = await submitting(form, place, async () => {
      codes = await createPasskey(options, form.elements.name.value.trim());
    });
    if (went) done(codes, form);
  });
  return form;
}
