// Every action: all forms open and close. Actions of the screens are performed, their result is visible, and they are
// in the audit log.
import { readFileSync } from 'node:fs';

import { ok } from './judge.mjs';
import { SCRIPT } from './outside.mjs';

const done = new Set();
const issued = []; // displayed secrets

/** Presses the button of a command: in the row that contains `about`, or the first one. */
async function press({ page }, command, about) {
  const row = about ? `main tr:has-text(${JSON.stringify(about)})` : 'main';
  await page.locator(`${row} [data-command="${command}"]`).first().click();
  await page.waitForSelector('dialog[open] form');
}

/** Fills in a field of the open dialog. */
async function fillIn(page, name, value) {
  const field = page.locator(`dialog[open] [name="${name}"]`).first();
  const kind = await field.evaluate((element) => element.type);
  if (kind.startsWith('select')) {
    // The choices arrive from the server.
    await page.waitForFunction(
      ([at, wanted]) => [...document.querySelector(`dialog[open] [name="${at}"]`).options].some((each) => each.value === wanted),
      [name, value],
    );
    await field.selectOption(value);
  } else if (kind === 'hidden') {
    for (const code of value.split(/[ ,]/)) await page.check(`dialog[open] .field:has([name="${name}"]) input[value="${code}"]`);
  } else if (kind === 'checkbox') await field.check();
  else if (kind === 'radio') await page.check(`dialog[open] [name="${name}"][value="${value}"]`);
  else await field.fill(value);
}

const stageOf = ({ page }) => page.evaluate(() => (document.querySelector('dialog[open] form') || { dataset: {} }).dataset.stage);

/** Fills the open dialog, step by step, submits it and waits until it closes or shows the result. Returns the error. */
async function send(watched, values) {
  const { page } = watched;
  const left = new Map(Object.entries(values));
  for (;;) {
    const stage = await stageOf(watched);
    await page.evaluate(() => document.querySelectorAll('dialog[open] .step:not([hidden]) details').forEach((each) => (each.open = true)));
    // A field may appear with the value of another.
    for (const [name, value] of [...left, ...left]) {
      if (!left.has(name)) continue;
      const field = page.locator(`dialog[open] .field:has([name="${name}"]), dialog[open] .choice:has([name="${name}"])`).first();
      if (!(await field.isVisible())) continue;
      await fillIn(page, name, value);
      left.delete(name);
    }
    await page.click('dialog[open] button[type=submit]');
    await page.waitForFunction((before) => {
      const open = document.querySelector('dialog[open]');
      const form = open && open.querySelector('form');
      return !form || form.dataset.stage !== before || open.querySelector('.notice.bad, .field-error');
    }, stage);
    const fault = await page.evaluate(() => (document.querySelector('dialog[open] :is(.notice.bad, .field-error)') || {}).textContent || '');
    const next = await stageOf(watched);
    if (fault || next === undefined || next === stage) return fault;
  }
}

/** Closes the result of a command, if one is shown, also if a button beside it leads on. Returns its secrets. */
async function leaveAnswer({ page }) {
  const secrets = await page.evaluate(() =>
    [...document.querySelectorAll('dialog[open] .secret-text')].map((each) => each.textContent),
  );
  issued.push(...secrets);
  if (await page.$('dialog[open]')) await page.click('dialog[open] .row.end button:first-child');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  return secrets;
}

function seen({ page }, text) {
  return page.waitForFunction(
    (wanted) => document.querySelector('main').textContent.includes(wanted),
    text,
  );
}

/** One action from its button to its result; `then` is the text on the screen afterwards. */
export async function doing(watched, { place, command, about, values = {}, then }) {
  let fault = '';
  let secrets = [];
  try {
    if (place) await watched.visit(place);
    await press(watched, command, about);
    fault = await send(watched, values);
    for (let tries = 0; /a request to the provider is in progress/i.test(fault) && tries < 50; tries += 1) {
      await watched.page.waitForTimeout(100);
      fault = await send(watched, {});
    }
    if (!fault) {
      secrets = await leaveAnswer(watched);
      if (then) await seen(watched, then);
      done.add(command);
    }
  } catch (error) {
    fault = error.message.split('\n')[0];
  }
  ok(`${command} succeeds`, fault === '', fault);
  if (fault) await watched.leaveDialogs();
  return secrets;
}

export async function tenants(watched, { facts }) {
  const { page } = watched;
  await doing(watched, {
    place: 'associations',
    command: 'association create',
    values: { NAME: SCRIPT },
    then: SCRIPT,
  });
  await doing(watched, { command: 'association suspend', about: 'window.owned', then: 'Suspended' });
  await doing(watched, { command: 'association activate', about: 'window.owned' });
  await watched.quiet('an association whose name is a script');

  await watched.visit('applications');
  await press(watched, 'application register');
  const fault = await send(watched, { name: 'walker', association: facts.associationId });
  ok('application register succeeds', fault === '', fault);
  await watched.axe('secrets that are shown once');
  await watched.shot('secrets');
  await page.keyboard.press('Escape');
  ok('Escape does not close the secrets', (await page.$('dialog[open]')) !== null);
  const secrets = await leaveAnswer(watched);
  const secret = secrets.find((each) => each.startsWith('sk_'));
  ok('all secrets are shown', secret !== undefined && secrets.length >= 3);
  done.add('application register');
  await watched.settled();
  // The close event of a dialog comes a moment after it has closed.
  const gone = await page
    .waitForFunction((text) => !document.documentElement.outerHTML.includes(text), secret, { timeout: 5000 })
    .then(
      () => true,
      () => false,
    );
  ok('after closing, the page contains no secret', gone);
  await page.click('main tbody a:has-text("walker")');
  await watched.settled();
  await doing(watched, {
    command: 'application scopes',
    values: { SCOPES: 'wallets:read' },
    then: 'wallets:read',
  });
  await doing(watched, { command: 'application rotate' });
  await doing(watched, { command: 'application suspend', then: 'Suspended' });
  await doing(watched, { command: 'application resume', then: 'Active' });

  await doing(watched, {
    place: 'users',
    command: 'user add',
    values: { USERNAME: 'walker@example.com', association: facts.associationId },
    then: 'walker@example.com',
  });
  await doing(watched, { command: 'user reset-otp' });
  await doing(watched, { command: 'user reset-password' });
  await doing(watched, { command: 'user suspend', then: 'Suspended' });
  await doing(watched, { command: 'user resume' });
}

/** Decides on one wallet in the drawer of the review queue, and closes the drawer. */
async function review({ page }, name, command, values = {}) {
  await page.locator(`main tr:has-text(${JSON.stringify(name)}) [data-review]`).click();
  await page.waitForSelector('dialog.drawer form');
  for (const [field, value] of Object.entries(values)) {
    const input = page.locator(`dialog.drawer [name="${field}"]`);
    if (field === 'code') await input.selectOption(value);
    else await input.fill(value);
  }
  const title = await page.textContent('dialog.drawer h2');
  await page.click(`dialog.drawer [data-command="${command}"]`);
  await page.waitForFunction(
    (before) => {
      const heading = document.querySelector('dialog.drawer h2');
      return !heading || heading.textContent !== before || document.querySelector('dialog.drawer .notice.bad');
    },
    title,
  );
  const fault = await page.evaluate(() => (document.querySelector('dialog .notice.bad') || {}).textContent || '');
  ok(`${command} succeeds in the drawer`, fault === '', fault);
  done.add(command);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
}

/** The number of entries in a statement, depending on the format. */
const ENTRIES = {
  csv: (text) => text.trim().split('\r\n').length - 1,
  ndjson: (text) => text.trim().split('\n').length,
  json: (text) => JSON.parse(text).data.length,
  'camt.053': (text) => (text.includes('camt.053.001.08') ? text.split('<Ntry>').length - 1 : -1),
};

/** The file that the browser saves. */
async function saved(page, act) {
  const [file] = await Promise.all([page.waitForEvent('download'), act()]);
  const bytes = readFileSync(await file.path());
  return { name: file.suggestedFilename(), bytes, text: bytes.toString() };
}

export async function money(watched, { facts, seeded }) {
  const { page } = watched;
  await watched.visit('reviews');
  await review(watched, 'Second', 'wallet reject', { code: 'DOCUMENTS', message: SCRIPT });
  await watched.visit(`wallets/${seeded.rejected.id}`);
  ok('the wallet shows the reason', (await page.textContent('main')).includes(SCRIPT));
  await watched.visit('reviews');
  await review(watched, 'Ada Obi', 'wallet verify');
  await page.waitForSelector('tr:has-text("Ada Obi")', { state: 'detached' });
  ok('a reviewed wallet leaves the queue', true);
  await doing(watched, {
    place: `wallets/${facts.wallets[0].id}`,
    command: 'wallet fund',
    values: { asset: facts.wallets[0].assetCode, amount: '1000000.25' },
  });
  await watched.quiet('wallets that were reviewed');

  await doing(watched, { place: `payments/${seeded.stuck}`, command: 'payment retry' });
  await doing(watched, {
    command: 'payment resolve',
    values: { as: 'failed', reason: `Asked the bank ${SCRIPT}`, confirmation: '25' },
  });
  await page.waitForSelector('main header .badge:text-is("Refunded")');
  ok('resolving a stuck payout as refunded returns its amount', true);
  ok('the payment page shows the reason', (await page.textContent('main')).includes('Asked the bank <img'));
  await watched.quiet('a payment that was resolved');

  await watched.visit(`statements?wallet=${facts.wallets[0].id}`);
  const formats = await page.evaluate(() => [...document.querySelectorAll('main [data-format]')].map((each) => each.dataset.format));
  ok('a statement has the formats of the API', formats.join() === 'csv,camt.053,ndjson,json', formats.join());
  const counts = [];
  for (const format of formats) {
    const { name, text } = await saved(page, () => page.click(`main [data-format="${format}"]`));
    ok(`${format}: the file name contains the wallet's ID`, name.includes(facts.wallets[0].id), name);
    counts.push(ENTRIES[format](text));
  }
  ok('every format has all entries', counts[0] > 60 && new Set(counts).size === 1, counts.join());
  await watched.quiet('statements that were exported');
}

export async function market(watched, { facts }) {
  await doing(watched, {
    place: 'connectors',
    command: 'connector pause',
    about: 'Nigeria bank',
    then: 'Paused',
  });
  await doing(watched, { command: 'connector resume', about: 'Nigeria bank' });
  await watched.page.click('main tbody a:has-text("Liar")');
  await watched.settled();
  await doing(watched, { command: 'connector set-rate', values: { RATE: '1.5' }, then: '1.5' });
  await doing(watched, { command: 'connector set-fee', values: { 'fee-bps': '50' } });
  await doing(watched, { command: 'connector set-tolerance', values: { 'tolerance-bps': '9000' }, then: '9,000' });
  await doing(watched, { command: 'connector set-decimals', values: { DECIMALS: '3' } });
  await doing(watched, { command: 'connector limits', values: { min: '2', max: '900' } });
  await doing(watched, { command: 'connector require', values: { NAME: 'taxNumber' }, then: 'taxNumber' });
  await doing(watched, { command: 'connector unrequire', values: { NAME: 'taxNumber' } });
  await doing(watched, { command: 'connector set-url', values: { URL: 'http://127.0.0.1:9', confirm: true } });
  await doing(watched, { command: 'connector rotate-secret' });
  await watched.quiet('a connector');

  await doing(watched, {
    place: 'rates',
    command: 'asset add',
    values: { CODE: 'WALK', name: SCRIPT },
    then: 'WALK',
  });
  await doing(watched, { command: 'asset liquidity', about: 'WALK', values: { AMOUNT: '500000' } });
  await doing(watched, {
    command: 'rate set',
    values: { SELL: 'WALK', BUY: 'USDC', RATE: '0.5' },
    then: '0.5',
  });
  await doing(watched, { command: 'rate remove', about: 'WALK' });
  await doing(watched, {
    place: 'fees',
    command: 'fee set',
    values: {
      ASSOCIATION: facts.associationId,
      CONNECTOR: facts.connectors[0].id,
      TYPE: 'B2C',
      'fee-bps': '25',
    },
    then: '0.25',
  });
  await doing(watched, { command: 'fee remove', then: 'Every association pays' });
  await watched.quiet('the market');
}

export async function hooks(watched, { facts }) {
  await doing(watched, {
    place: `events?association=${facts.associationId}`,
    command: 'trigger',
    values: { TYPE: 'payment.succeeded', association: facts.associationId },
    then: 'Test event',
  });
  await doing(watched, { command: 'events resend' });
  await watched.visit('webhooks');
  await watched.page.click('main tbody a');
  await watched.settled();
  const webhook = new URL(watched.page.url()).hash;
  await doing(watched, { command: 'webhook test' });
  await watched.page.waitForFunction((from) => location.hash.startsWith(`${from}/`), webhook);
  ok('a test event opens its delivery, with the response', true);
  await watched.visit(webhook.slice(2));
  await doing(watched, { command: 'webhook recover', values: { from: '2026-01-01T00:00' } });
  await doing(watched, { command: 'events resend' });
  await doing(watched, { command: 'webhook disable', then: 'Disabled' });
  await watched.quiet('a webhook');
  await doing(watched, { place: 'alerts', command: 'alert test' });
  await watched.quiet('alerts');
  await alerts(watched);
}

/** An alert as the server lists it. A real condition would depend on the machine. */
async function alerts(watched) {
  const { page } = watched;
  const at = '2026-01-31T09:15:00.000Z';
  const message = { attempts: 1, createdAt: at, dueAt: null, closedAt: at, state: 'sent', kind: 'began' };
  const data = [{
    id: '019b7653-d4c0-7000-8000-000000000001', condition: 'payments_stuck', summary: SCRIPT, state: 'open',
    count: 3, beganAt: at, endedAt: null,
    messages: [{ ...message, channel: 'webhook', target: 'https://ops.example', result: SCRIPT }],
  }];
  await watched.visit('overview');
  await page.route(/run\/alert\/list/, (route) => route.fulfill({ json: { data } }));
  await watched.visit('alerts');
  const row = await page.textContent('main tbody tr');
  ok('an alert shows each message, its target and its result', /Open/.test(row) && /Sent\s*Began, https:\/\/ops\.example/.test(row), row);
  await watched.axe('#/alerts with an alert');
  await watched.shot('alerts with an alert');
  await page.unroute(/run\/alert\/list/);
  await watched.quiet('an alert');
}

export async function people(watched) {
  const { page } = watched;
  await doing(watched, {
    place: 'operators',
    command: 'operator add',
    values: { NAME: 'walker' },
    then: 'walker',
  });
  await doing(watched, {
    command: 'operator role',
    about: 'walker',
    values: { role: 'viewer' },
    then: 'viewer',
  });
  await doing(watched, { command: 'operator suspend', about: 'walker', then: 'Suspended' });
  await doing(watched, { command: 'operator resume', about: 'walker' });
  const [link] = await doing(watched, { command: 'operator reset', about: 'walker' });
  ok('a reset gives a new link', link.includes('#claim='));
  await doing(watched, { command: 'admin link' });
  const own = [];
  for (const command of ['suspend', 'role', 'reset']) {
    own.push(...(await page.$$(`tr:has-text("administrator") [data-command="operator ${command}"]`)));
  }
  ok('an operator cannot suspend themselves', own.length === 0, String(own.length));
}

export async function checks(watched) {
  const { page } = watched;
  await watched.visit('checks');
  for (const command of ['verify', 'backup']) {
    const panel = page.locator(`main .panel:has([data-command="${command}"])`);
    await panel.locator('button').click();
    await panel.locator('.notice[role]').waitFor();
    const said = await panel.locator('.notice[role]').first().textContent();
    ok(`${command} reports no errors`, said === 'No errors found.', said);
  }
  done.add('backup');
  await watched.visit('checks');
  await page.locator('main [data-command="backups download"]').first().click();
  await page.waitForSelector('dialog[open] form');
  await watched.axe('downloading a backup');
  const { name, bytes } = await saved(page, () => page.click('dialog[open] button[type=submit]'));
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  const head = bytes.subarray(0, 15).toString();
  ok('a backup is downloaded completely', /\.db$/.test(name) && head === 'SQLite format 3', `${name} ${head}`);
  const listed = await page.evaluate(async () => (await (await fetch('api/run/backups/list')).json()).data);
  ok('the list has the size of the backup', listed.some((each) => each.file === name && each.bytes === bytes.length), String(bytes.length));
  done.add('backups download');
  await page.locator('main [data-command="backups signature"]').first().click();
  await page.waitForSelector('dialog[open] form');
  const beside = await saved(page, () => page.click('dialog[open] button[type=submit]'));
  ok('the file name of the signature is the one that restore expects', beside.name === `${name}.checkpoint`, beside.name);
  done.add('backups signature');
  await watched.visit('overview');
  const last = await page.locator('main .figures li', { hasText: 'Last backup' }).textContent();
  ok('the overview shows the backup', / ago.*verified/.test(last), last);
  await watched.quiet('checks');
}

/** The audit log contains all performed actions. */
export async function audited(watched, world) {
  const { page } = watched;
  await watched.visit('audit');
  ok('the audit log shows the operator', (await page.textContent('main tbody')).includes(world.facts.adminUser));
  const [acts, all] = await page.evaluate(() =>
    Promise.all(
      ['api/run/audit/list?limit=500', 'api/commands'].map(
        async (path) => (await (await fetch(path)).json()).data,
      ),
    ),
  );
  const recorded = new Set(acts.filter(({ outcome }) => outcome === 'done').map(({ command }) => command));
  const lost = [...done].filter((each) => !recorded.has(each));
  ok(`the audit log has the ${done.size} performed actions`, lost.length === 0, lost.join(', '));
  const log = JSON.stringify(acts);
  const told = issued.filter((secret) => log.includes(secret));
  ok(`the audit log has none of the ${issued.length} secrets`, issued.length > 8 && told.length === 0, told.join(' '));
  ok('control: the audit log has values that are not secret', log.includes('walker@example.com'));
  await watched.quiet('the audit log');
  // Print the actions that were not performed, so that a reader does not assume that they were.
  const rest = all.filter(({ role, command }) => role !== 'viewer' && !done.has(command));
  process.stdout.write(`not done here: ${rest.map(({ command }) => command).join(', ')}\n`);
}
