// Attacks that must be rejected: a cookie after sign-out, a post from another site, guessed passwords.
import { createServer } from 'node:http';

import { ok } from './judge.mjs';

const HEADERS = {
  'content-security-policy':
    /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/,
  'x-content-type-options': /^nosniff$/,
  'referrer-policy': /^no-referrer$/,
  'cross-origin-opener-policy': /^same-origin$/,
};

async function headers(world) {
  for (const path of ['', 'app.js', 'api/session']) {
    const answer = await fetch(world.admin + path);
    const bad = Object.entries(HEADERS).filter(
      ([name, wanted]) => !wanted.test(answer.headers.get(name) || ''),
    );
    ok(
      `/admin/${path} has the security headers`,
      bad.length === 0,
      bad.map(([name]) => `${name}: ${answer.headers.get(name)}`).join(' | '),
    );
  }
  for (const path of ['..%2f..%2fetc/passwd', '/etc/passwd', 'api/run/nothing/here', '.git/config']) {
    const answer = await fetch(world.admin + path);
    ok(`/admin/${path} is not served`, [400, 401, 404].includes(answer.status), String(answer.status));
  }
}

async function present(watched) {
  const cookie = (await watched.context.cookies()).find(({ name }) => !name.endsWith('-known'));
  const { csrfToken } = await watched.page.evaluate(() =>
    fetch('api/session').then((answer) => answer.json()),
  );
  return {
    cookie,
    sent: {
      Cookie: `${cookie.name}=${cookie.value}`,
      'X-CSRF-Token': csrfToken,
      'Content-Type': 'application/json',
    },
  };
}

function post(world, path, more) {
  return fetch(`${world.admin}api/${path}`, { method: 'POST', body: '{"NAME":"forged"}', headers: more });
}

async function forged(watched, world) {
  const { cookie, sent } = await present(watched);
  const { origin } = new URL(world.admin);
  ok(
    'the cookie is not available to scripts and other sites',
    cookie.httpOnly && cookie.sameSite === 'Strict' && cookie.path === '/',
  );
  const cases = [
    ['from another site', { ...sent, Origin: 'https://evil.example' }, 403],
    ['from nowhere', sent, 403],
    ['from a page without origin', { ...sent, Origin: 'null' }, 403],
    ['without the token', { ...sent, Origin: origin, 'X-CSRF-Token': '' }, 403],
    ['with a wrong token', { ...sent, Origin: origin, 'X-CSRF-Token': 'A'.repeat(43) }, 403],
    ['without the cookie', { ...sent, Origin: origin, Cookie: '' }, 401],
  ];
  for (const [what, more, wanted] of cases) {
    const { status } = await post(world, 'run/association/create', more);
    ok(`a change ${what} is rejected`, status === wanted, String(status));
  }
  const control = await post(world, 'run/association/create', { ...sent, Origin: origin });
  ok('control: the same change from the page succeeds', control.status === 200, String(control.status));
  const got = await fetch(`${world.admin}api/run/association/create?NAME=forged`, { headers: sent });
  ok('a change by GET is rejected', got.status === 405, String(got.status));
}

/** A form on another site, in the signed-in browser. */
async function otherSite(watched, world) {
  const evil = createServer((request, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end(`<form method="post" action="${world.admin}api/sign-out" enctype="text/plain"><input name="{}"></form>
      <iframe src="${world.admin}"></iframe><script>setTimeout(() => document.forms[0].submit(), 500)</script>`);
  });
  await new Promise((resolve) => {
    evil.listen(0, 'localhost', resolve);
  });
  const page = await watched.context.newPage();
  const answered = page.waitForResponse((each) => each.url().endsWith('/api/sign-out'), {
    timeout: 15_000,
  });
  await page.goto(`http://localhost:${evil.address().port}/`);
  const status = (await answered).status();
  ok('a form on another site is rejected', status === 403, String(status));
  await page.close();
  evil.close();
  evil.closeAllConnections();
  const still = await watched.page.evaluate(() => fetch('api/session').then((answer) => answer.status));
  ok('the session stays valid', still === 200, String(still));
}

async function framed(watched, world) {
  const answer = await fetch(world.admin);
  ok(
    'the page cannot be framed',
    /frame-ancestors 'none'/.test(answer.headers.get('content-security-policy')),
  );
}

async function stolen(watched, world) {
  const { sent } = await present(watched);
  const before = await fetch(`${world.admin}api/session`, { headers: sent });
  ok(
    'control: a stolen cookie works while the session lasts',
    before.status === 200,
    String(before.status),
  );
  await watched.page.click('text=Sign out');
  await watched.page.waitForSelector('dialog.cover input[name=password]');
  const { status } = await fetch(`${world.admin}api/session`, { headers: sent });
  ok('after sign-out, the cookie is rejected for reading', status === 401, String(status));
  const run = await post(world, 'run/association/create', { ...sent, Origin: new URL(world.admin).origin });
  ok('after sign-out, the cookie is rejected for changes', run.status === 401, String(run.status));
}

export async function attacks(watched, world) {
  await headers(world);
  await forged(watched, world);
  await otherSite(watched, world);
  await framed(watched, world);
  await stolen(watched, world);
}

/** The last chapter, because sign-in from this address pauses afterwards. */
export async function guessing(_, world) {
  const { origin } = new URL(world.admin);
  const attempt = (name, password) =>
    fetch(`${world.admin}api/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ name, password, code: '' }),
    });
  const { adminUser, adminPassword } = world.facts;
  ok('control: the right password signs in', (await attempt(adminUser, adminPassword)).status === 204);
  const answers = [];
  for (let i = 0; i < 100; i += 1) answers.push(await attempt(adminUser, `wrong password ${i}`));
  const statuses = answers.map(({ status }) => status);
  ok(
    'of a hundred wrong passwords, five are checked and the others rejected',
    statuses.every((each, i) => each === (i < 5 ? 401 : 429)),
    statuses.join(' '),
  );
  ok('the response says how long to wait', Number(answers[99].headers.get('Retry-After')) > 600);
  const right = await attempt(adminUser, adminPassword);
  ok('during the pause, the right password is rejected too', right.status === 429, String(right.status));
  const together = await Promise.all(
    Array.from({ length: 30 }, (each, i) => attempt('stranger', `guess ${i}`)),
  );
  const looked = together.filter(({ status }) => status === 401).length;
  ok('concurrent guesses do not bypass the limit', looked <= 5, `${looked} were checked`);
}
