// Part of passkeys.py: correct and wrong registrations and signatures by a software authenticator. coffer and
// @simplewebauthn/server check each, and must agree.
import { randomBytes } from 'node:crypto';
import http from 'node:http';

import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

import { ok } from './judge.mjs';
import { SoftAuthenticator } from './soft_authenticator.mjs';

/** The page's calls, without a browser. A response is {status, body}. */
export class Caller {
  cookies = new Map();
  csrf = '';

  constructor(origin) {
    this.origin = origin;
  }

  call(method, path, body) {
    const headers = { Origin: this.origin, Cookie: [...this.cookies.values()].join('; ') };
    if (body) headers['Content-Type'] = 'application/json';
    if (this.csrf) headers['X-CSRF-Token'] = this.csrf;
    return new Promise((resolve, reject) => {
      const request = http.request(`${this.origin}/admin/api/${path}`, { method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => {
          for (const cookie of response.headers['set-cookie'] || []) {
            this.cookies.set(cookie.split('=')[0], cookie.split(';')[0]);
          }
          resolve({ status: response.statusCode, body: text ? JSON.parse(text) : null });
        });
      });
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  }

  async load() {
    this.csrf = '';
    this.csrf = (await this.call('GET', 'session')).body.csrfToken;
  }
}

export async function judgedRegistration(made, expected) {
  const id = made.id || randomBytes(32).toString('base64url');
  try {
    const done = await verifyRegistrationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: made },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.site,
      requireUserVerification: false,
    });
    return done.verified ? done.registrationInfo.credential : null;
  } catch {
    return null;
  }
}

export async function judgedSignature(made, credential, expected) {
  const { id, ...response } = made;
  try {
    const done = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      credential,
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.site,
      requireUserVerification: expected.verified,
    });
    return done.verified;
  } catch {
    return false;
  }
}

/** Errors of a signature, introduced before or after signing. */
const WRONG = {
  'another origin': { before: (device) => Object.assign(device, { origin: 'https://evil.example' }) },
  'another port': { before: (device) => Object.assign(device, { origin: 'http://localhost:1' }) },
  'another site': { before: (device) => Object.assign(device, { site: 'evil.example' }) },
  'another type': { before: (device) => Object.assign(device, { client: { type: 'webauthn.create' } }) },
  'another challenge': {
    before: (device) => Object.assign(device, { client: { challenge: randomBytes(56).toString('base64url') } }),
  },
  'the user not present': { before: (device) => Object.assign(device, { flags: 0x04 }) },
  'the user not verified': { before: (device) => Object.assign(device, { flags: 0x01 }) },
  'a counter that goes back': { before: (device) => Object.assign(device, { counter: 1 }) },
  'a signature that was changed': {
    after: (made) => {
      const bytes = Buffer.from(made.signature, 'base64url');
      bytes[bytes.length - 1] ^= 1;
      return { ...made, signature: bytes.toString('base64url') };
    },
  },
  'data that was changed': {
    after: (made) => {
      const bytes = Buffer.from(made.authenticatorData, 'base64url');
      bytes[36] ^= 0x40;
      return { ...made, authenticatorData: bytes.toString('base64url') };
    },
  },
};

async function register(caller, proof, device) {
  const begun = await caller.call('POST', 'passkeys/begin', proof);
  if (begun.status !== 200) throw new Error(`passkeys/begin: ${begun.status} ${JSON.stringify(begun.body)}`);
  const { challenge, user } = begun.body;
  Object.assign(device, { userHandle: user.id });
  const made = device.create(challenge);
  const added = await caller.call('POST', 'passkeys', { ...made, name: device.kind });
  if (added.status === 200) await caller.load();
  return { challenge, made, added };
}

async function signIn(origin, device, change = {}) {
  const caller = new Caller(origin);
  const { challenge } = (await caller.call('POST', 'sign-in/passkey/begin', {})).body;
  const kept = { ...device };
  if (change.before) change.before(device);
  const made = device.get(challenge);
  const { counter } = device;
  Object.assign(device, kept, { counter: Math.max(counter, kept.counter) });
  const sent = change.after ? change.after(made) : made;
  return { challenge, sent, status: (await caller.call('POST', 'sign-in/passkey', sent)).status };
}

/** `codes`: recovery codes, which are required to add a second passkey. */
export async function vectors({ adminUser, adminPassword }, origin, codes) {
  const site = new URL(origin).hostname;
  const caller = new Caller(origin);
  const signed = await caller.call('POST', 'sign-in', { name: adminUser, password: adminPassword, code: '' });
  ok('the operator signs in', signed.status === 204, JSON.stringify(signed.body));
  await caller.load();
  for (const kind of ['ES256', 'EdDSA', 'RS256']) {
    const device = new SoftAuthenticator(kind, { origin, site });
    const proof = () => ({ password: adminPassword, code: codes.shift() || '' });
    const { challenge, made, added } = await register(caller, proof(), device);
    ok(`${kind}: coffer registers it`, added.status === 200, JSON.stringify(added.body));
    const expected = { challenge, origin, site };
    const credential = await judgedRegistration({ ...made, id: device.id.toString('base64url') }, expected);
    ok(`${kind}: the other library registers it`, credential !== null);
    const right = await signIn(origin, device);
    ok(`${kind}: a correct signature signs in`, right.status === 204, String(right.status));
    const agreed = { challenge: right.challenge, origin, site, verified: true };
    ok(`${kind}: the other library accepts it`, await judgedSignature(right.sent, credential, agreed));
    credential.counter = 1;
    for (const [what, change] of Object.entries(WRONG)) {
      const wrong = await signIn(origin, device, change);
      // After ten failures, sign-in from this address pauses for wrong signatures.
      ok(`${kind}: ${what} is rejected`, [401, 429].includes(wrong.status), String(wrong.status));
      const judged = { challenge: wrong.challenge, origin, site, verified: true };
      ok(`${kind}: the other library rejects it`, !(await judgedSignature(wrong.sent, credential, judged)), what);
    }
    const last = await signIn(origin, device);
    ok(`${kind}: no attack locks the owner out`, last.status === 204, String(last.status));
  }
  const foreign = new SoftAuthenticator('ES256', { origin, site });
  foreign.origin = 'https://evil.example';
  const rejected = await register(caller, { password: adminPassword, code: codes.shift() }, foreign);
  ok('a registration from another page is rejected', rejected.added.status === 422, String(rejected.added.status));
  const { data } = (await caller.call('GET', 'passkeys')).body;
  ok('the list has the three passkeys', data.map((row) => row.name).join() === 'ES256,EdDSA,RS256', JSON.stringify(data));
  for (const row of data) {
    const done = await caller.call('POST', 'passkeys/remove', {
      id: row.id,
      password: adminPassword,
      code: codes.shift(),
    });
    ok(`${row.name}: removed`, done.status === 204, JSON.stringify(done.body));
    await caller.load();
  }
}
