// Part of four_eyes.py: the demo's administrator requests, a second one decides, each in a separate browser.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { choose, fault, pick, stage } from './forms.mjs';
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

async function decides(watched, verb, wanted) {
  const { page } = watched;
  await page.locator(`main [data-command="approval ${verb}"]`).first().click();
  await page.waitForSelector('dialog[open] form');
  await watched.axe(`the dialog of ${verb}`);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => {
    const open = document.querySelector('dialog[open]');
    return !open || !open.querySelector('form') || open.querySelector('.notice.bad, .field-error');
  });
  const said = await text(page, 'dialog[open] :is(.notice.bad, .field-error)');
  if (wanted) ok(`${verb} is refused`, wanted.test(said), said);
  else ok(`${verb} is accepted`, said === '', said);
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

/** An amount that cannot be valid is refused at its field, before it is a request. */
async function refused({ page }, wallet) {
  await page.locator('main [data-command="wallet fund"]').first().click();
  await page.waitForSelector('dialog[open] form');
  await choose(page, 'asset', wallet.assetCode);
  await page.fill('dialog[open] [name=amount]', '0');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .field:has([name=amount]) .field-error');
  ok('an amount of 0 is refused at once, at its field', /out of range/.test(await fault(page)), await fault(page));
}

const payments = () => coffer('payment', 'list', '--text', 'OP-', '--limit', '50').data;
const waiting = () => coffer('approval', 'list', '--waiting').data;

/** Requests a payout on the page, after its preview. Returns the transaction ID. */
async function pays(watched, amount) {
  const { page } = watched;
  await watched.visit('payments');
  await page.locator('main [data-command="payment create"]').first().click();
  await page.waitForSelector('dialog[open] form');
  await choose(page, 'application', 'Demo application');
  await pick(page, 'wallet', 'Treasury');
  await pick(page, 'beneficiary', 'Walker');
  await stage(page, 1);
  await choose(page, 'connector', 'Kenya bank payout');
  await page.fill('dialog[open] [name=amount]', amount);
  await choose(page, 'purpose', 'Wages and salaries');
  await choose(page, 'source-of-funds', 'Income of a business');
  await choose(page, 'relationship', 'Employee');
  const id = await page.inputValue('dialog[open] [name=transaction-id]');
  await stage(page, 'preview');
  ok('the preview of a payment does not wait', (await fault(page)) === '' && (await says(watched, 'dialog[open]', 'KES')), await fault(page));
  await page.click('dialog[open] button[type=submit]');
  ok('the payment waits for a second operator', await says(watched, 'dialog[open]', 'a second operator must approve'), await fault(page));
  await watched.leaveDialogs();
  return id;
}

/** The request of a payment, as the second operator sees it. */
async function looks(other, id) {
  await other.visit('approvals?waiting=true');
  await other.page.waitForSelector('main tbody tr');
  await other.page.locator('main tbody tr a').first().click();
  await other.page.waitForFunction(() => /#\/approvals\/[0-9a-f]/.test(location.hash));
  await other.settled();
  ok('the request shows the transaction ID', await says(other, 'main', id));
}

async function payouts(first, other) {
  coffer('beneficiary', 'create', '--first-name', 'Amina', '--last-name', 'Walker', '--country', 'KE', '--currency', 'KES', '--account-name', 'Amina Walker', '--account-number', '0110555678', '--bank-name', 'Equity Bank', '--bank-code', '68');
  const connector = coffer('connector', 'list').find(({ name }) => name === 'Kenya bank payout');

  const one = await pays(first, '25');
  ok('nothing is paid before the approval', payments().length === 0 && waiting().length === 1);
  await looks(other, one);
  await other.axe('the request of a payment');
  await decides(other, 'approve');
  ok('an approved payment is accepted once', payments().filter(({ transactionId }) => transactionId === one).length === 1, JSON.stringify(payments()));
  await other.settled();
  ok('a decided request cannot be approved again', (await other.page.$('main [data-command="approval approve"]')) === null);
  await first.visit('payments');
  ok('the list shows it', await says(first, 'main tbody tr', one));

  const two = await pays(first, '26');
  await looks(other, two);
  await decides(other, 'reject');
  ok('a rejected payment is never accepted', payments().length === 1 && waiting().length === 0);

  // The quote of the preview ends before the approval.
  const three = await pays(first, '27');
  coffer('sandbox', 'advance', '5m');
  await looks(other, three);
  await decides(other, 'approve');
  const paid = payments().filter(({ transactionId }) => transactionId === three);
  ok('at the same price an expired quote is replaced, and the payment accepted once', paid.length === 1 && payments().length === 2, JSON.stringify(paid));

  const four = await pays(first, '28');
  coffer('sandbox', 'advance', '5m');
  coffer('connector', 'set-rate', connector.id, '120');
  await looks(other, four);
  await decides(other, 'approve', /price has become worse/);
  coffer('connector', 'set-rate', connector.id, String(connector.rate));
  ok('at a worse price nothing is paid, and the request stays open', payments().length === 2 && waiting().length === 1, JSON.stringify(waiting()));
  const acts = coffer('audit', 'list', '--command', 'payment create');
  ok('the audit log has requests, the refusal and the payments', acts.filter(({ outcome }) => outcome === 'requested').length === 4 && acts.filter(({ outcome }) => outcome === 'done').length >= 2 && acts.some(({ outcome }) => outcome === 'conflict'), JSON.stringify(acts.map(({ outcome }) => outcome)));
  for (const each of [first, other]) await each.quiet('payments under four eyes');
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
    const other = await second(world);
    await walk(first, other, facts.wallets[0]);
    await first.visit(`wallets/${facts.wallets[0].id}`);
    await refused(first, facts.wallets[0]);
    await first.leaveDialogs();
    ok('it is no request', waiting().length === 0);
    await payouts(first, other);
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
