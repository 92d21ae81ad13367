// Part of frames.py: a list of 1,000 payments. Headless Chromium paints without a GPU, so frame times depend on the
// machine. The page itself causes layout, style and script work, which is compared.
import { chromium } from 'playwright-core';

import { failures, ok, Watched } from './judge.mjs';
import { Integrator } from './seed.mjs';

const facts = JSON.parse(process.env.COFFER_TEST);
const PAYMENTS = 1030;
const ROWS = 1000;
const AT_ONCE = 10;

async function seed() {
  const api = await Integrator.login(facts);
  const [from, to] = facts.wallets;
  const pay = (i) =>
    api.post('/v1/payments/p2p/own', {
      transactionId: `row-${i}`,
      sendingAssetCode: 'USDC',
      amount: '1.50',
      sourceWalletId: from.id,
      destinationWalletId: to.id,
    });
  for (let i = 0; i < PAYMENTS; i += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => pay(i + k)));
}

const rowCount = (page) => page.locator('tbody tr').count();

/** Rows whose cells the browser lays out. */
const laidOut = (page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll('tbody tr')].filter((row) =>
        row.querySelector('td:not(.select)').firstElementChild.checkVisibility({ contentVisibilityAuto: true }),
      ).length,
  );

async function holds(watched) {
  const { page } = watched;
  await watched.visit('payments');
  ok('a list begins with 50 rows', (await rowCount(page)) === 50);
  const counts = [];
  for (let more = await page.$('[data-more]'); more && counts.length < 9; more = await page.$('[data-more]')) {
    const before = await rowCount(page);
    await more.click();
    await page.waitForFunction((n) => document.querySelectorAll('tbody tr').length > n, before);
    counts.push(await rowCount(page));
  }
  ok('the list grows to 1,000 rows', String(counts) === '200,400,600,800,1000', String(counts));
  const keys = await page.evaluate(() => [...document.querySelectorAll('tbody tr')].map((row) => row.dataset.key));
  ok('no row occurs twice', new Set(keys).size === ROWS);
  const said = await page.textContent('.count');
  ok('the list shows its number of rows', said === `${ROWS} of ${PAYMENTS}`, said);
  return keys;
}

/** The minimum time of a complete layout, over several measurements. */
function layoutMs(page, name) {
  return page.evaluate((kind) => {
    const list = document.querySelector('.scroll table');
    list.classList.toggle('long', kind === 'list');
    const times = [];
    for (let i = 0; i < 5; i += 1) {
      list.style.display = 'none';
      list.getBoundingClientRect();
      list.style.display = '';
      const began = performance.now();
      list.getBoundingClientRect();
      times.push(performance.now() - began);
    }
    list.classList.add('long');
    return Math.min(...times);
  }, name);
}

async function layout(watched) {
  const { page } = watched;
  const seen = await laidOut(page);
  ok(`of 1,000 rows, ${seen} are laid out, at most 200`, seen > 10 && seen <= 200);
  const list = await layoutMs(page, 'list');
  const plain = await layoutMs(page, 'plain');
  ok(`their layout takes less than half of that of a plain table: ${list.toFixed(1)} of ${plain.toFixed(1)} ms`, list < plain / 2);
  await page.evaluate(() => document.querySelector('.scroll table').classList.remove('long'));
  ok('control: all rows of a plain table are laid out', (await laidOut(page)) === ROWS);
  await page.evaluate(() => document.querySelector('.scroll table').classList.add('long'));
  for (const size of ['narrow', 'wide']) {
    await watched.size(size);
    const there = await laidOut(page);
    ok(`${size}: ${there} rows are laid out`, there > 5 && there <= 200);
    ok(`${size}: the list fits`, (await watched.overflow()) <= 0);
  }
}

/** Scrolls to the end. Returns the frame times and the page's work. */
async function scrolled(page, counters) {
  await page.evaluate(() => {
    window.scrollTo(0, 0);
    window.seen = { changes: 0, calls: 0, frames: [], last: performance.now(), on: true };
    window.watcher = new MutationObserver((found) => (window.seen.changes += found.length));
    window.watcher.observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true });
    const frame = (now) => {
      window.seen.frames.push(now - window.seen.last);
      window.seen.last = now;
      if (window.seen.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const before = await counters();
  await page.mouse.move(640, 600);
  let steps = 0;
  for (let at = -1, now = 0; at < now && steps < 200; steps += 1) {
    at = now;
    await page.mouse.wheel(0, 700);
    now = await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(scrollY)))),
    );
  }
  const after = await counters();
  const seen = await page.evaluate(() => {
    window.seen.on = false;
    window.watcher.disconnect();
    return window.seen;
  });
  return { steps, layouts: after.LayoutCount - before.LayoutCount, script: after.ScriptDuration - before.ScriptDuration, ...seen };
}

const slow = (frames) => `${frames.filter((ms) => ms > 16.7).length} of ${frames.length} frames over 16.7 ms`;

async function scrolling(watched) {
  const { page } = watched;
  const cdp = await watched.context.newCDPSession(page);
  await cdp.send('Performance.enable');
  const counters = async () =>
    Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  const list = await scrolled(page, counters);
  ok(`scrolling through 1,000 rows took ${list.steps} steps`, list.steps > 20 && list.steps < 200);
  ok('scrolling changes nothing on the page', list.changes === 0, String(list.changes));
  ok(`${list.layouts} layouts, at most 4 for each step`, list.layouts <= 4 * list.steps);
  const last = await page.evaluate(() => document.querySelector('tbody tr:last-child').getBoundingClientRect().bottom);
  ok('the end of the list is visible', last > 0 && last <= 900, String(last));
  await page.evaluate(() => document.querySelector('.scroll table').classList.remove('long'));
  const plain = await scrolled(page, counters);
  await page.evaluate(() => document.querySelector('.scroll table').classList.add('long'));
  process.stdout.write(`-------- list: ${slow(list.frames)}; plain table: ${slow(plain.frames)}\n`);
}

async function filtering(watched) {
  const { page } = watched;
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.fill('input.list-search', 'row-100');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length < 50);
  const found = await page.evaluate(() => [...document.querySelectorAll('tbody tr')].map((row) => row.querySelector('td:not(.select)').textContent));
  ok('a filter shows the matching rows', found.length === 11 && found.every((text) => text.startsWith('row-100')), String(found));
  ok('a short list is a plain table', (await page.$('table.long')) === null);
  await watched.visit('payments');
  ok('without the filter, the list starts again with 50 rows', (await rowCount(page)) === 50);
  await watched.quiet('the long list');
}

async function older(watched, keys) {
  const { page } = watched;
  const next = await page.getAttribute('a[rel=next]', 'href');
  await watched.visit(next.slice(2));
  const rest = await page.evaluate(() => [...document.querySelectorAll('tbody tr')].map((row) => row.dataset.key));
  ok('older rows are on a separate page', rest.length === PAYMENTS - ROWS, String(rest.length));
  ok('the older rows differ from the first ones', rest.every((key) => !keys.includes(key)));
}

const browser = await chromium.launch({
  executablePath: facts.browser,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  await seed();
  const world = { facts, browser, admin: facts.adminUrl.replace(/\/?$/, '/') };
  const watched = await Watched.open(world, 'wide');
  await watched.signIn(facts.adminUser, facts.adminPassword);
  await watched.settled();
  const keys = await holds(watched);
  await layout(watched);
  await scrolling(watched);
  await watched.axe('a list of 1,000 rows');
  await watched.shot('long list');
  await older(watched, keys);
  await watched.visit('payments');
  await filtering(watched);
} catch (fault) {
  ok(`the test completes: ${fault.stack}`, false);
} finally {
  await browser.close();
}
process.exitCode = failures() > 0 ? 1 : 0;
