// A viewer is invited, opens the link, enrols an authenticator from the QR code, and can only read.
import { createHmac } from 'node:crypto';
import jsQR from 'jsqr';

import { ok, Watched } from './judge.mjs';

const PASSWORD = 'correct horse battery staple';

/** RFC 6238 from an otpauth URI. */
export function totp(uri, at = Date.now()) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...new URL(uri).searchParams.get('secret')]
    .map((each) => alphabet.indexOf(each).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((each) => parseInt(each, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = mac[19] & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** The content of the QR code on the page. */
async function scanned(page) {
  const image = await page.evaluate(() => {
    const svg = document.querySelector('.qr');
    const size = Number(svg.getAttribute('viewBox').split(' ')[2]);
    const dark = [
      ...svg
        .querySelector('path')
        .getAttribute('d')
        .matchAll(/M(\d+) (\d+)/g),
    ].map(([, x, y]) => [Number(x), Number(y)]);
    return { size, dark };
  });
  const scale = 4;
  const side = image.size * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [x, y] of image.dark) {
    for (let row = 0; row < scale; row += 1) {
      for (let column = 0; column < scale; column += 1) {
        const at = ((y * scale + row) * side + x * scale + column) * 4;
        pixels.fill(0, at, at + 3);
      }
    }
  }
  const read = jsQR(pixels, side, side);
  return read ? read.data : '';
}

async function invite(admin, name, role) {
  const { page } = admin;
  await admin.visit('operators');
  await page.click('main [data-command="operator add"]');
  await page.fill('dialog[open] [name=NAME]', name);
  await page.selectOption('dialog[open] [name=role]', role);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .secret-text');
  const link = await page.textContent('dialog[open] .secret-text');
  await page.click('dialog[open] .primary');
  return link;
}

/** Opens a one-time link and continues up to the QR code of the authenticator key. */
export async function claimed(world, link) {
  const watched = await Watched.open({ ...world, admin: link }, 'wide');
  const { page } = watched;
  await page.waitForSelector('dialog.cover input[name=again]');
  ok('the link is removed from the address', !page.url().includes('claim'));
  ok('the link of a named operator asks for no name', (await page.$('input[name=name]')) === null);
  await watched.axe('claiming a link');
  await watched.shot('claim');
  await page.fill('input[name=password]', PASSWORD);
  await page.fill('input[name=again]', `${PASSWORD}r`);
  await page.click('dialog.cover button[type=submit]');
  await page.waitForSelector('.notice.bad');
  ok('two different passwords are rejected', true);
  await page.fill('input[name=again]', PASSWORD);
  await page.click('dialog.cover button[type=submit]');
  return watched;
}

/** Enrols the authenticator. Returns the recovery codes. */
export async function enrolled(watched) {
  const { page } = watched;
  await page.waitForSelector('.qr');
  await watched.axe('enrolling');
  await watched.shot('enrol');
  const uri = await scanned(page);
  const key = (await page.textContent('.cover .secret-text')).replaceAll(' ', '');
  ok(
    'the QR code is readable, and contains the displayed key',
    uri.startsWith('otpauth://totp/') && new URL(uri).searchParams.get('secret') === key,
    uri,
  );
  const early = await page.evaluate(() => fetch('api/commands').then((answer) => answer.status));
  ok('commands are rejected before the enrolment', early === 403, String(early));
  await page.fill('input[name=code]', '000000');
  await page.click('dialog.cover button[type=submit]');
  await page.waitForSelector('.field:has([name=code]) .field-error');
  ok('a wrong code is rejected, at its field', true);
  await page.fill('input[name=code]', totp(uri));
  await page.click('dialog.cover button[type=submit]');
  await page.waitForSelector('dialog.cover pre.secret-text');
  const codes = (await page.textContent('dialog.cover pre.secret-text')).trim().split('\n');
  ok('ten recovery codes are shown once', codes.length === 10, String(codes.length));
  const beside = await page.evaluate(() => [...document.querySelectorAll('dialog.cover button')].map((each) => each.textContent));
  ok('nothing beside recovery codes replaces them', !beside.some((each) => /passkey/.test(each)), beside.join());
  await watched.axe('recovery codes');
  await page.click('dialog.cover button.primary');
  await page.waitForSelector('#menu a');
  return codes;
}

function call({ page }, path, body) {
  return page.evaluate(
    async ([command, sent]) => {
      const { csrfToken } = await (await fetch('api/session')).json();
      const answer = await fetch(`api/run/${command}`, {
        method: 'POST',
        body: JSON.stringify(sent),
        headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken },
      });
      return answer.status;
    },
    [path, body],
  );
}

async function onlyLooks(watched, admin, world) {
  const { page } = watched;
  const { wallets } = world.facts;
  for (const place of [
    'associations',
    'applications',
    'wallets',
    'connectors',
    'rates',
    'operators',
    'events',
    'webhooks',
    `wallets/${wallets[0].id}`,
    `payments/${world.seeded.paid}`,
  ]) {
    await watched.visit(place);
    const buttons = await page.evaluate(() =>
      [...document.querySelectorAll('main [data-command]')].map((each) => each.dataset.command),
    );
    ok(`a viewer sees no action at #/${place}`, buttons.length === 0, buttons.join(', '));
  }
  const tries = [
    ['association/create', { NAME: 'x' }],
    ['wallet/fund', { ID: wallets[0].id, asset: wallets[0].assetCode, amount: '1' }],
    ['payment/resolve', { ID: world.seeded.paid, as: 'failed', reason: 'x' }],
    ['operator/add', { NAME: 'friend', role: 'administrator' }],
  ];
  for (const [path, body] of tries) {
    const status = await call(watched, path, body);
    ok(`a direct call of ${path} by a viewer is rejected`, status === 403, String(status));
  }
  for (const [path, body] of tries.slice(0, 2)) {
    const status = await call(admin, path, body);
    ok(`control: an administrator can call ${path}`, status === 200, String(status));
  }
  await watched.quiet('a viewer');
}

async function ownPassword(watched, codes) {
  const { page } = watched;
  await watched.visit('account');
  const change = async (present, next) => {
    await page.fill('main [name=present]', present);
    await page.fill('main [name=code]', codes.pop());
    await page.fill('main [name=next]', next);
    await page.fill('main [name=again]', next);
    await page.click('main form button[type=submit]');
    await page.waitForSelector('main form[aria-busy]', { state: 'detached' });
    return page.textContent('main form .notice');
  };
  ok(
    'a wrong current password changes nothing',
    !/Password changed/.test(await change('not the one', `${PASSWORD}2`)),
  );
  ok('a wrong password does not sign out the operator', (await page.$('dialog.cover')) === null);
  ok('an operator can change their own password', /Password changed/.test(await change(PASSWORD, `${PASSWORD}2`)));
  await watched.visit('wallets');
  ok('the operator stays signed in', (await page.$('dialog.cover')) === null);
  await watched.quiet('an own password');
}

export async function newcomer(_, world) {
  const admin = await Watched.open(world, 'wide');
  await admin.signIn(world.facts.adminUser, world.facts.adminPassword);
  await admin.settled();
  const link = await invite(admin, 'watcher', 'viewer');
  ok('an invitation gives a link', link.includes('#claim='), link);
  const watched = await claimed(world, link);
  const codes = await enrolled(watched);
  await watched.settled();
  await onlyLooks(watched, admin, world);
  await ownPassword(watched, codes);
  const again = await Watched.open({ ...world, admin: link }, 'wide');
  await again.page.waitForSelector('dialog.cover .notice.bad');
  ok('the link works once, which is said before a password is typed', (await again.page.$('input[name=password]')) === null);
  for (const each of [admin, watched, again]) await each.context.close();
}
