// Part of passkeys.py: an operator adds a passkey, signs in with only the passkey and with it after the password,
// confirms an action with it, and removes it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { Watched, failures, ok } from './judge.mjs';
import { judgedRegistration, judgedSignature, vectors } from './passkey_vectors.mjs';

const facts = JSON.parse(process.env.COFFER_TEST);

/** The browser's virtual authenticator. Records its messages. */
class Device {
  sent = [];
  answers = [];

  static async plugInto(watched, options = {}) {
    const self = new Device();
    self.session = await watched.context.newCDPSession(watched.page);
    await self.session.send('WebAuthn.enable');
    const { authenticatorId } = await self.session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        ...options,
      },
    });
    self.id = authenticatorId;
    watched.page.on('response', async (response) => {
      const call = response.url().split('/admin/api/')[1];
      if (!call || !/passkey|^sign-in$/.test(call) || response.request().method() !== 'POST') return;
      self.sent.push([call, response.request().postDataJSON()]);
      if (response.status() === 200) self.answers.push([call, await response.json().catch(() => null)]);
    });
    return self;
  }

  /** The last request body of a call, and its last response. */
  lastSent = (call) => this.sent.filter(([name]) => name === call).at(-1)?.[1];
  lastAnswer = (call) => this.answers.filter(([name]) => name === call).at(-1)?.[1];

  credentials = async () =>
    (await this.session.send('WebAuthn.getCredentials', { authenticatorId: this.id })).credentials;
}

const WITH_PASSKEY = 'dialog.cover button:has-text("Sign in with a passkey")';

async function signedIn(page) {
  await page.waitForSelector('dialog.cover', { state: 'detached' });
  return (await page.evaluate(() => fetch('api/session').then((each) => each.json()))).name;
}

async function signOut(watched) {
  const { page } = watched;
  await page.evaluate(async () => {
    const { csrfToken } = await (await fetch('api/session')).json();
    await fetch('api/sign-out', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken },
      body: '{}',
    });
  });
  await page.goto('about:blank');
  await page.goto(watched.world.admin);
  await page.waitForSelector('dialog.cover input[name=name]');
}

async function addOne(watched, device, world) {
  const { page } = watched;
  await watched.visit('account');
  await watched.axe('the account, without a passkey');
  await page.click('main button:has-text("Add a passkey")');
  await page.fill('dialog input[name=password]', facts.adminPassword);
  await page.click('dialog button[type=submit]');
  await page.fill('dialog input[name=name]', 'Laptop');
  await watched.axe('naming a passkey');
  await page.click('dialog button[type=submit]');
  const codes = (await page.textContent('dialog pre')).trim().split('\n');
  ok('the first passkey gives ten recovery codes', codes.length === 10, codes.join());
  world.codes = codes;
  await page.click('dialog button:has-text("I have copied them")');
  await page.waitForSelector('main li:has-text("Laptop")');
  await watched.axe('the account, with a passkey');
  ok('the authenticator holds one passkey', (await device.credentials()).length === 1);
}

async function judge(device, watched, world) {
  const origin = new URL(watched.world.admin).origin;
  const made = device.lastSent('passkeys');
  const { challenge } = device.lastAnswer('passkeys/begin');
  const [held] = await device.credentials();
  const id = Buffer.from(held.credentialId, 'base64').toString('base64url');
  const { name, ...registration } = made;
  const site = new URL(origin).hostname;
  world.credential = await judgedRegistration({ ...registration, id }, { challenge, origin, site });
  ok("the other library accepts the browser's registration", world.credential !== null && name === 'Laptop');
}

async function alone(watched, device, world) {
  const { page } = watched;
  await signOut(watched);
  await page.click(WITH_PASSKEY);
  ok('only a passkey signs in', (await signedIn(page)) === facts.adminUser);
  const sent = device.lastSent('sign-in/passkey');
  const { challenge } = device.lastAnswer('sign-in/passkey/begin');
  const { origin, hostname: site } = new URL(watched.world.admin);
  const agreed = await judgedSignature(sent, world.credential, { challenge, origin, site, verified: true });
  ok("the other library accepts the browser's signature", agreed);
  const again = await page.evaluate(
    (body) =>
      fetch('api/sign-in/passkey', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }).then((each) => each.status),
    sent,
  );
  ok('a replayed signature is rejected', again === 401, String(again));
}

async function afterPassword(watched, device) {
  const { page } = watched;
  await signOut(watched);
  await watched.signIn(facts.adminUser, facts.adminPassword);
  ok('a passkey works as the second factor', (await signedIn(page)) === facts.adminUser);
  const { passkey } = device.lastAnswer('sign-in');
  ok('the server names the passkey', passkey.allowCredentials.length === 1);
}

async function unverified(watched, device) {
  const { page } = watched;
  await signOut(watched);
  await device.session.send('WebAuthn.setUserVerified', { authenticatorId: device.id, isUserVerified: false });
  await page.click(WITH_PASSKEY);
  await page.waitForSelector('dialog.cover [role=alert], dialog.cover .notice.bad');
  ok('without user verification, sign-in fails', (await page.$('dialog.cover')) !== null);
  await device.session.send('WebAuthn.setUserVerified', { authenticatorId: device.id, isUserVerified: true });
  await page.click(WITH_PASSKEY);
  ok('with user verification, sign-in succeeds', (await signedIn(page)) === facts.adminUser);
}

async function removeIt(watched) {
  const { page } = watched;
  await watched.visit('account');
  await page.click('main button[aria-label="Remove the passkey Laptop"]');
  await page.fill('dialog input[name=password]', facts.adminPassword);
  await watched.axe('removing a passkey');
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('main p:has-text("None. A passkey signs you in")');
  ok('the passkey is removed after a confirmation with itself', true);
  await signOut(watched);
  await page.click(WITH_PASSKEY);
  await page.waitForSelector('dialog.cover [role=alert], dialog.cover .notice.bad');
  ok('the removed passkey does not sign in', (await page.$('dialog.cover')) !== null);
}

async function atAnAddress(world) {
  const page = await Watched.open({ ...world, admin: facts.adminUrl.replace(/\/?$/, '/') }, 'wide');
  await page.page.waitForSelector(WITH_PASSKEY);
  await page.page.click(WITH_PASSKEY);
  await page.page.waitForSelector('dialog.cover :text("http://localhost:")');
  ok('on an IP address, the page says where passkeys work', true);
  await page.context.close();
}

function audited() {
  const database = join(facts.folder, 'ledger.db');
  const text = execFileSync(facts.binary, ['audit', 'list', '--json', '--limit', '500', '--db', database]);
  const entries = JSON.parse(text);
  for (const [command, details] of [
    ['add passkey', 'Laptop'],
    ['sign-in', 'with a passkey'],
    ['sign-in', 'with password and passkey'],
    ['remove passkey', 'with password and passkey'],
  ]) {
    const found = entries.some((entry) => entry.command === command && entry.details === details);
    ok(`the audit log has: ${command}, ${details}`, found);
  }
}

async function walk(world) {
  const watched = await Watched.open(world, 'wide');
  const device = await Device.plugInto(watched);
  await watched.axe('sign-in with passkeys');
  await watched.signIn(facts.adminUser, facts.adminPassword);
  await watched.settled();
  await addOne(watched, device, world);
  await judge(device, watched, world);
  await alone(watched, device, world);
  await afterPassword(watched, device);
  await unverified(watched, device);
  await removeIt(watched);
  await watched.quiet('the walk with a passkey');
  await atAnAddress(world);
  audited();
}

const port = new URL(facts.adminUrl).port;
const browser = await chromium.launch({
  executablePath: facts.browser,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  const world = { facts, browser, admin: `http://localhost:${port}/admin/` };
  await walk(world);
  await vectors(facts, `http://localhost:${port}`, world.codes);
} catch (fault) {
  ok(`the test completes: ${fault.stack}`, false);
} finally {
  await browser.close();
}
process.exitCode = failures() > 0 ? 1 : 0;
