// Every action: all of them open and can be left; the main ones are done, and seen to be done.
import { readFileSync } from 'node:fs';

import { ok } from './judge.mjs';
import { SCRIPT } from './seed.mjs';

const FORM_RULES = [
  'label',
  'select-name',
  'button-name',
  'aria-dialog-name',
  'color-contrast',
  'aria-valid-attr-value',
  'duplicate-id-aria',
];

/** Presses the button of a command in the row that says `about`, or the first there is. */
async function press(watched, command, about) {
  const { page } = watched;
  const button = page
    .locator(`main [data-command="${command}"]`)
    .and(
      about
        ? page.locator(`tr:has-text(${JSON.stringify(about)}) [data-command="${command}"]`)
        : page.locator('button'),
    );
  await button.first().click({ timeout: 10_000 });
  await page.waitForSelector('dialog[open] form');
}

/** Fills the open dialog, sends it and waits until it is gone or shows the answer. */
async function send(watched, values) {
  const { page } = watched;
  for (const [name, value] of Object.entries(values)) {
    const field = page.locator(`dialog[open] [name="${name}"]`);
    if (await field.evaluate((element) => element.tagName === 'SELECT')) await field.selectOption(value);
    else if (value === true) await field.check();
    else await field.fill(value);
  }
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => {
    const open = document.querySelector('dialog[open]');
    return !open || !open.querySelector('form') || open.querySelector('.notice.bad');
  });
  return page.evaluate(() => (document.querySelector('dialog[open] .notice.bad') || {}).textContent || '');
}

/** Leaves the answer of a command, where it shows one. */
export async function leaveAnswer(page) {
  if ((await page.$('dialog[open] .notice:not(.bad)')) !== null)
    await page.click('dialog[open] .row.end .primary');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
}

async function doing(watched, { place, command, about, values = {}, then, what }) {
  const said = what || command;
  try {
    if (place) await watched.visit(place);
    await press(watched, command, about);
    const fault = await send(watched, values);
    ok(`${said} is done`, fault === '', fault);
    if (fault) {
      await watched.page.keyboard.press('Escape');
      return false;
    }
    await leaveAnswer(watched.page);
    if (then) {
      const seen = await watched.page.waitForFunction(then.find, then.text, { timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      ok(`${said} is seen`, seen);
    }
    return true;
  } catch (fault) {
    ok(`${said} is done`, false, fault.message.split('\n')[0]);
    await watched.page.evaluate(() =>
      document.querySelectorAll('dialog[open]').forEach((each) => each.close()),
    );
    return false;
  }
}

const inMain = (text) => ({
  find: (wanted) => document.querySelector('main').textContent.includes(wanted),
  text,
});

async function everyCommand(watched) {
  const { page } = watched;
  await watched.visit('commands');
  await watched.loadAxe();
  const commands = await page.evaluate(() =>
    [...document.querySelectorAll('main [data-command]')].map((each) => each.dataset.command),
  );
  ok('all commands are listed', commands.length > 30, String(commands.length));
  const faults = [];
  for (const command of commands) {
    await page.click(`main [data-command="${command}"]`);
    const found = await page.evaluate(async (values) => {
      const result = await window.axe.run('dialog[open]', {
        runOnly: { type: 'rule', values },
        resultTypes: ['violations'],
      });
      return result.violations.map((each) => each.id);
    }, FORM_RULES);
    faults.push(...found.map((each) => `${command}: ${each}`));
    await page.keyboard.press('Escape');
    if (await page.evaluate(() => document.querySelector('dialog[open]') !== null))
      faults.push(`${command} stays open`);
  }
  ok('each opens a form that axe accepts, and closes', faults.length === 0, faults.join(' | '));
  await watched.quiet('the forms of all commands');
}

async function tenants(watched) {
  const { page } = watched;
  await doing(watched, {
    place: 'associations',
    command: 'association create',
    values: { NAME: SCRIPT },
    then: inMain(SCRIPT),
  });
  await doing(watched, {
    command: 'association suspend',
    about: 'window.owned',
    then: inMain('suspended'),
  });
  await doing(watched, { command: 'association activate', about: 'window.owned' });
  await watched.quiet('an association whose name is a script');

  await watched.visit('applications');
  await press(watched, 'application register');
  const fault = await send(watched, { name: 'walker' });
  ok('application register is done', fault === '', fault);
  const secret = await page.evaluate(() =>
    [...document.querySelectorAll('dialog[open] .secret-text')]
      .map((each) => each.textContent)
      .find((each) => each.startsWith('sk_')),
  );
  ok('its secrets are shown', Boolean(secret));
  await watched.axe('secrets');
  await watched.shot('secrets');
  await page.keyboard.press('Escape');
  ok(
    'Escape does not lose them',
    await page.evaluate(() => document.querySelector('dialog[open]') !== null),
  );
  await page.click('dialog[open] .primary');
  await watched.settled();
  ok('afterwards nothing of them is left', !(await page.content()).includes(secret));
  await doing(watched, {
    command: 'application scopes',
    about: 'walker',
    values: { SCOPES: 'wallets:read' },
    then: inMain('wallets:read'),
  });
  await doing(watched, { command: 'application suspend', about: 'walker' });
  await doing(watched, { command: 'application resume', about: 'walker' });
}

async function money(watched, world) {
  const { seeded, facts } = world;
  await doing(watched, {
    place: 'reviews',
    command: 'wallet reject',
    about: 'Second',
    values: { code: 'DOCUMENTS', message: SCRIPT },
  });
  if (seeded.rejected) {
    await watched.visit(`wallets/${seeded.rejected.id}`);
    ok('the reason is on the wallet', (await watched.page.textContent('main')).includes('window.owned'));
  }
  await doing(watched, {
    place: 'reviews',
    command: 'wallet verify',
    what: 'wallet verify from the queue',
  });
  await watched.quiet('reviews');
  await doing(watched, {
    place: `wallets/${facts.wallets[0].id}`,
    command: 'wallet fund',
    values: { asset: facts.wallets[0].assetCode, amount: '1000000.25' },
  });
  if (seeded.stuck) await stuckPayment(watched, seeded.stuck.transactionRecordId);
  await exported(watched, facts);
}

async function stuckPayment(watched, id) {
  await watched.visit(`payments/${id}`);
  const { page } = watched;
  ok(
    'a stuck cash-out can be resolved',
    await page.evaluate(() => document.querySelector('main [data-command="payment resolve"]') !== null),
  );
  await doing(watched, {
    command: 'payment resolve',
    values: { as: 'failed', reason: `Asked the bank ${SCRIPT}` },
  });
  await page
    .waitForFunction(() => /failed/.test(document.querySelector('main header').textContent), undefined, {
      timeout: 15_000,
    })
    .catch(() => {});
  ok('and then it has failed', /failed/.test(await page.textContent('main header')));
  await watched.quiet('a payment that was resolved');
}

async function exported(watched, facts) {
  const { page } = watched;
  await watched.visit(`statements?wallet=${facts.wallets[0].id}`);
  const [file] = await Promise.all([
    page.waitForEvent('download', { timeout: 15_000 }).catch(() => undefined),
    page.click('text=Export CSV', { timeout: 5000 }).catch(() => {}),
  ]);
  const text = file ? readFileSync(await file.path(), 'utf8') : '';
  ok('a statement is exported whole', text.split('\r\n').length > 51, `${text.split('\r\n').length} lines`);
}

async function market(watched, world) {
  await doing(watched, { place: 'connectors', command: 'connector pause', then: inMain('paused') });
  await doing(watched, { command: 'connector resume' });
  await doing(watched, { place: 'rates', command: 'rate set', about: 'EURC', values: { RATE: '0.93' } });
  await doing(watched, { command: 'asset liquidity', values: { AMOUNT: '500000' } });
  const connector =
    world.facts.connectors.find((each) => /off/i.test(each.direction)) || world.facts.connectors[0];
  await doing(watched, {
    place: 'fees',
    command: 'fee set',
    values: {
      ASSOCIATION: world.facts.associationId,
      CONNECTOR: connector.id,
      TYPE: 'B2C',
      'fee-bps': '25',
    },
  });
  await doing(watched, { command: 'fee remove' });
}

async function hooks(watched) {
  const { page } = watched;
  await watched.visit('events');
  const command = await page.evaluate(() =>
    ['event resend', 'events resend'].find((each) =>
      document.querySelector(`main [data-command="${each}"]`),
    ),
  );
  ok('an event can be sent again', command !== undefined);
  if (command) await doing(watched, { command });
}

async function box(watched, world) {
  const { page } = watched;
  await watched.visit('checks');
  await page.click('main [data-command="verify"]');
  await page.waitForSelector('main .notice.good');
  ok('verify says that every invariant holds', true);
  await watched.visit('audit');
  const log = await page.textContent('main tbody');
  const acts = [
    'association create',
    'application register',
    'wallet verify',
    'wallet reject',
    'connector pause',
    'rate set',
  ];
  ok(
    'the audit log has what was done',
    acts.every((each) => log.includes(each)),
    acts.filter((each) => !log.includes(each)).join(', '),
  );
  ok('and by whom', log.includes(world.facts.adminUser));
  ok('and no secret', !/sk_[0-9a-f]{8}/.test(log));
  await watched.quiet('the audit log');
}

export async function actions(watched, world) {
  await everyCommand(watched);
  await tenants(watched);
  await money(watched, world);
  await market(watched, world);
  await hooks(watched);
  await box(watched, world);
}
