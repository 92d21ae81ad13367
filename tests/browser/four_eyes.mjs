// Part of four_eyes.py: the demo's administrator requests, a second one decides, each in a separate browser.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { Watched, failures, ok } from './judge.mjs';
import { claimed, enrolled } from './newcomer.mjs';

const facts = JSON.parse(process.env.COFFER_TEST);

function coffer(...words) {
  const db = join(facts.folder, 'ledger.db');
  return JSON.parse(execFileSync(facts.binary, [...words, '--db', db, '--json'], { encoding: 'utf-8' }));
}

/** Creates a second administrator. */
async function second(world) {
  const { link } = coffer('operator', 'add', 'second', '--role', 'administrator');
  const watched = await claimed(world, link);
  await enrolled(watched);
  await watched.settled();
  return watched;
}

const balance = (wallet) => coffer('wallet', 'show', wallet.id).balances[0].balance;
const text = (page, selector) => page.evaluate((at) => (document.querySelector(at) || {}).textContent || '', selector);

function says({ page }, selector, wanted) {
  return page
    .waitForFunction(
      ([at, part]) => [...document.querySelectorAll(at)].some((each) => each.textContent.includes(part)),
      [selector, wanted],
    )
    .then(
      () => true,
      () => false,
    );
}

/** Requests a deposit on the page. The command waits for approval. */
async function asks(watched, wallet, amount) {
  const { page } = watched;
  await watched.visit(`wallets/${wallet.id}`);
  await page.locator('main [data-command="wallet fund"]').first().click();
  await page.waitForSelector('dialog[open] form');
  const asset = page.locator('dialog[open] [name=asset]');
  if (await asset.count()) {
    const kind = await asset.first().evaluate((element) => element.type);
    if (kind.startsWith('select')) await asset.first().selectOption(wallet.assetCode);
    else if (kind !== 'hidden') await asset.first().fill(wallet.assetCode);
  }
  await page.fill('dialog[open] [name=amount]', amount);
  await page.click('dialog[open] button[type=submit]');
  ok('the page shows that the command waits', await says(watched, 'body', 'a second operator must approve'));
  await watched.leaveDialogs();
}

async function decides(watched, verb) {
  const { page } = watched;
  await page.locator(`main [data-command="approval ${verb}"]`).first().click();
  await page.waitForSelector('dialog[open] form');
  await watched.axe(`the dialog of ${verb}`);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => {
    const open = document.querySelector('dialog[open]');
    return !open || !open.querySelector('form') || open.querySelector('.notice.bad, .field-error');
  });
  const fault = await text(page, 'dialog[open] :is(.notice.bad, .field-error)');
  ok(`${verb} is accepted`, fault === '', fault);
  await watched.leaveDialogs();
}

async function walk(first, other, wallet) {
  const before = balance(wallet);
  await asks(first, wallet, '12.5');
  ok('the balance is unchanged', balance(wallet) === before, balance(wallet));

  await first.visit('approvals');
  ok('the list shows the request', await says(first, 'main tbody tr', 'wallet fund'), await text(first.page, 'main'));
  ok('an operator cannot approve their own request', (await first.page.$('main [data-command="approval approve"]')) === null);
  ok('an operator can withdraw their own request', (await first.page.$('main [data-command="approval reject"]')) !== null);
  await first.axe('approvals, of the one who asks');

  await other.visit('overview');
  ok("the second operator's overview shows a waiting command", await says(other, '[data-condition="approvals_waiting"]', '1'));
  await other.page.click('[data-condition="approvals_waiting"] a');
  await other.settled();
  await other.page.waitForSelector('main tbody tr');
  await other.page.locator('main tbody tr a').first().click();
  await other.page.waitForFunction(() => /#\/approvals\/[0-9a-f]/.test(location.hash));
  await other.settled();
  ok('the request shows the requesting operator and the amount', (await says(other, 'main', '12.5')) && (await says(other, 'main', facts.adminUser)));
  await other.axe('a request');
  await other.shot('approval');
  await decides(other, 'approve');
  ok('the money has moved once', Number(balance(wallet)) === Number(before) + 12.5, `${before} ${balance(wallet)}`);
  await other.visit('approvals');
  ok('the request is done', await says(other, 'main tbody tr', 'Done'), await text(other.page, 'main'));

  const after = balance(wallet);
  await asks(first, wallet, '99');
  await other.visit('approvals?waiting=true');
  await decides(other, 'reject');
  ok('a rejected command moves nothing', balance(wallet) === after, balance(wallet));
  await first.visit('approvals');
  ok('the requesting operator sees the rejection', await says(first, 'main tbody tr', 'Rejected'), await text(first.page, 'main'));
  const left = await first.page.$$('main [data-command^="approval "]');
  ok('no request is left', left.length === 0, String(left.length));
  const acts = coffer('audit', 'list').filter((each) => each.command === 'wallet fund');
  ok('the audit log has both operators', JSON.stringify(acts).includes('second') && JSON.stringify(acts).includes(facts.adminUser), JSON.stringify(acts));
  for (const each of [first, other]) await each.quiet('four eyes');
}

async function run() {
  const browser = await chromium.launch({
    executablePath: facts.browser,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    const world = { facts, browser, admin: facts.adminUrl.replace(/\/?$/, '/') };
    const first = await Watched.open(world, 'wide');
    await first.signIn(facts.adminUser, facts.adminPassword);
    await first.settled();
    await walk(first, await second(world), facts.wallets[0]);
  } finally {
    await browser.close();
  }
}

try {
  await run();
} catch (fault) {
  ok(`the test completes: ${fault.stack}`, false);
}
process.exitCode = failures() > 0 ? 1 : 0;
