// Every screen of the menu and every page about one thing, as seen; the keyboard; a session that ends.
import { ok, Watched } from './judge.mjs';

const noError = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.notice.bad')].map((each) => each.textContent).join(' | '),
  );

async function look(watched, place) {
  const { page } = watched;
  await watched.visit(place);
  const fault = await noError(page);
  ok(`#/${place} shows no error`, fault === '', fault);
  await watched.axe(`#/${place}`);
  await watched.shot(`${place} wide light`);
  await watched.scheme('dark');
  await watched.axe(`#/${place} in the dark`, ['color-contrast']);
  await watched.size('narrow');
  ok(`#/${place} fits 360 px`, (await watched.overflow()) <= 0, `${await watched.overflow()} px too wide`);
  await watched.axe(`#/${place} narrow, in the dark`);
  await watched.shot(`${place} narrow dark`);
  await watched.scheme('light');
  await watched.size('wide');
  await watched.quiet(`#/${place}`);
}

/** Addresses of the pages about one thing: the first link in the table of each list. */
async function firstOf(watched, noun) {
  await watched.visit(noun);
  return watched.page.evaluate((start) => {
    const link = [...document.querySelectorAll('tbody a')].find((each) =>
      each.getAttribute('href').startsWith(`#/${start}/`),
    );
    return link ? link.getAttribute('href').slice(2) : undefined;
  }, noun);
}

export async function screens(watched, world) {
  const { page } = watched;
  await watched.settled();
  const places = await page.evaluate(() =>
    [...document.querySelectorAll('#menu a')].map((each) => each.getAttribute('href').slice(2)),
  );
  ok('the menu has every screen', places.length >= 20, places.join(' '));
  for (const place of places) await look(watched, place);
  for (const noun of ['payments', 'wallets', 'beneficiaries', 'connectors']) {
    const place = await firstOf(watched, noun);
    ok(`#/${noun} leads to pages about one`, place !== undefined);
    if (place) await look(watched, place);
  }
  const { payout, wallet } = world.seeded;
  if (payout) await look(watched, `payments/${payout.transactionRecordId}`);
  if (wallet) await look(watched, `statements?wallet=${world.facts.wallets[0].id}`);
  await figures(watched, world);
  await liveness(watched, world);
  await search(watched, world);
  await watched.visit('nowhere');
  ok('a screen that is none says so', (await page.textContent('h1')) === 'Not found');
}

/** What the issue asks for by name. */
async function figures(watched, world) {
  const { page } = watched;
  await watched.visit('wallets');
  const name = await page.evaluate(() =>
    [...document.querySelectorAll('tbody td')].some((each) => each.textContent.includes('<svg onload')),
  );
  ok('a name that is markup is shown as text', name);
  const time = await page.evaluate(() => {
    const element = document.querySelector('tbody time');
    return element && { title: element.title, shown: element.textContent };
  });
  ok(
    'times are local, and UTC on hover',
    time && / UTC$/.test(time.title) && !/UTC/.test(time.shown),
    JSON.stringify(time),
  );
  await watched.visit(`wallets/${world.facts.wallets[0].id}`);
  const balance = await page.evaluate(() => (document.querySelector('.figures .amount') || {}).textContent);
  ok('a balance has its asset', /^[\d.]+ [A-Z]+$/.test(balance || ''), balance);
  await watched.visit('payments');
  const right = await page.evaluate(() => {
    const cell = [...document.querySelectorAll('tbody td.right')].find((each) =>
      each.querySelector('.amount'),
    );
    return cell && getComputedStyle(cell).textAlign === 'right' && cell.querySelector('.asset') !== null;
  });
  ok('amounts of payments are on the right, with their asset', right === true);
  const rows = await page.evaluate(() => document.querySelectorAll('tbody tr').length);
  ok('a list of 60 payments shows one page', rows > 0 && rows <= 50, String(rows));
  await page.click('a[rel=next]');
  await page.waitForFunction(() => location.hash.includes('cursor'));
  await watched.settled();
  const older = await page.evaluate(() => document.querySelectorAll('tbody tr').length);
  ok('and the next has the rest', older > 0 && older < 50, String(older));
}

/** A new payment appears without a reload. */
async function liveness(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  const first = () =>
    page.evaluate(() => (document.querySelector('tbody tr') || { dataset: {} }).dataset.key);
  const before = await first();
  await page.evaluate(() => {
    window.stillTheSame = true;
  });
  const [from, to] = world.facts.wallets;
  await world.seeded.api.post('/v1/payments/p2p/own', {
    transactionId: 'walk-live',
    sendingAssetCode: 'USDC',
    amount: '1',
    sourceWalletId: from.id,
    destinationWalletId: to.id,
  });
  const seen = await page
    .waitForFunction((old) => document.querySelector('tbody tr').dataset.key !== old, before, {
      timeout: 25_000,
    })
    .then(
      () => true,
      () => false,
    );
  ok('a new payment appears by itself', seen && (await page.evaluate(() => window.stillTheSame === true)));
}

async function search(watched, world) {
  const { page } = watched;
  const { payment } = world.seeded;
  for (const text of [payment, world.seeded.transaction].filter(Boolean)) {
    await page.keyboard.press('Escape');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page
      .waitForFunction((id) => location.hash.includes(`payments/${id}`), payment, { timeout: 10_000 })
      .catch(() => {});
    ok(
      `search finds a payment by ${text === payment ? 'record id' : 'transactionId'}`,
      page.url().includes(`payments/${payment}`),
      page.url(),
    );
    await page.fill('#find', '');
  }
  await watched.visit(`find?text=${encodeURIComponent('<img src=x onerror=window.owned=true>')}`);
  await watched.quiet('searching for markup');
}

export async function keyboard(watched, world) {
  const { page } = watched;
  await page.goto(`${world.admin}#/associations`);
  await page.reload();
  await watched.settled();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Tab');
  ok(
    'the first stop of Tab leads to the content',
    (await page.evaluate(() => document.activeElement.className)) === 'skip',
  );
  await page.keyboard.press('Enter');
  ok('and it goes there', (await page.evaluate(() => document.activeElement.id)) === 'main');
  await page.keyboard.press('Tab');
  const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  ok('focus is seen', seen === 'solid', seen);
  const stops = await page.evaluate(
    () => document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').length,
  );
  ok('nothing takes focus out of turn', stops === 0);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open] form');
  ok(
    'Enter opens a dialog, focus is in it',
    await page.evaluate(() => document.activeElement.closest('dialog') !== null),
  );
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  ok(
    'Escape closes it, focus is back',
    (await page.evaluate(() => document.activeElement.dataset.command)) === 'association create',
  );
}

/** The session ends while somebody is in the middle of something. */
export async function expiry(watched, world) {
  const { page, context } = watched;
  await watched.visit('associations');
  await page.click('[data-command="association create"]');
  await page.fill('dialog[open] input[name=NAME]', 'Half typed');
  await context.clearCookies();
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog.cover');
  ok('a session that is over asks for the password', true);
  ok(
    'and remembers the name',
    (await page.inputValue('dialog.cover input[name=name]')) === world.facts.adminUser,
  );
  const seen = await page.evaluate(() => {
    const box = document.querySelector('dialog.cover').getBoundingClientRect();
    return box.width >= innerWidth && box.height >= innerHeight;
  });
  ok('nothing is seen meanwhile', seen);
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .primary');
  await page.waitForFunction(() => /Half typed/.test((document.querySelector('main') || {}).textContent));
  ok('and what was under way is done', true);
  await watched.quiet('a session that ended');
}

/** Looking again by itself keeps no session alive: who goes away is signed out. */
export async function idleness(world) {
  const watched = await Watched.open(world, 'wide', { ownClock: true });
  const { page } = watched;
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await watched.visit('wallets');
  await page.clock.fastForward('14:00');
  await page.keyboard.press('Shift');
  await page.clock.fastForward('14:00');
  ok('who touches the page stays signed in', (await page.$('dialog.cover')) === null);
  await page.clock.fastForward('16:00');
  await page.waitForSelector('dialog.cover');
  ok('who is away for a quarter of an hour is signed out', true);
  const status = await page.evaluate(() => fetch('api/session').then((answer) => answer.status));
  ok('by the server too', status === 401, String(status));
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  ok('and comes back to where he was', page.url().endsWith('#/wallets'), page.url());
  await watched.quiet('a session that idled');
  await watched.context.close();
}
