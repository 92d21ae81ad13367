// Every screen of the menu and every page of one object.
import { ok } from './judge.mjs';
import { SCRIPT } from './outside.mjs';
import { PAYMENTS } from './seed.mjs';

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
  await watched.size('narrow');
  ok(`#/${place} fits 360 px`, (await watched.overflow()) <= 0, `${await watched.overflow()} px too wide`);
  await watched.axe(`#/${place} narrow, in the dark`);
  await watched.shot(`${place} narrow dark`);
  await watched.scheme('light');
  await watched.size('wide');
  await watched.quiet(`#/${place}`);
}

/** Addresses of the pages of one object: the first link in the table of each list. */
async function firstOf(watched, noun) {
  await watched.visit(noun);
  return watched.page.evaluate((start) => {
    const link = document.querySelector(`tbody a[href^="#/${start}/"]`);
    return link && link.getAttribute('href').slice(2);
  }, noun);
}

const NOUNS = [
  'payments',
  'wallets',
  'beneficiaries',
  'connectors',
  'webhooks',
  'events',
  'requests',
  'associations',
  'applications',
];

export async function screens(watched, world) {
  const { page } = watched;
  await watched.settled();
  const places = await page.evaluate(() =>
    [...document.querySelectorAll('#menu a')].map((each) => each.getAttribute('href').slice(2)),
  );
  ok('the menu has every screen', places.length === 26, places.join(' '));
  for (const place of places) await look(watched, place);
  await watched.visit('nowhere');
  ok('an unknown screen says so', (await page.textContent('h1')) === 'Not found');
}

/** Pages of one object. */
export async function details(watched, world) {
  for (const noun of NOUNS) {
    const place = await firstOf(watched, noun);
    ok(`#/${noun} links to pages of one object`, Boolean(place));
    if (place) await look(watched, place);
  }
  const { paid, failed } = world.seeded;
  await look(watched, `payments/${paid}`);
  await look(watched, `payments/${failed}`);
  await look(watched, `statements?wallet=${world.facts.wallets[0].id}`);
  await look(watched, 'payments?status=expired');
}

/** Texts from outside are shown unchanged, as text. */
export async function inert(watched, world) {
  const { page } = watched;
  const { wallet, stuck, failed } = world.seeded;
  const places = [
    ['the name of a wallet', 'wallets', '<svg onload'],
    ['metadata of a wallet', `wallets/${wallet.id}`, '<svg onload'],
    ['the name of a beneficiary', 'beneficiaries', '<svg onload'],
    ['the name of a connector', 'connectors', '<img src=x'],
    ['the description of a webhook', await firstOf(watched, 'webhooks'), '<svg onload'],
    ['the reference of a provider', `payments/${stuck}`, '<img src=x'],
    ['the reason of a provider', `payments/${failed}`, '<img src=x'],
  ];
  const shown = (text) =>
    page.evaluate((wanted) => {
      const main = document.querySelector('main');
      return { seen: main.textContent.includes(wanted), made: main.querySelector('img, script') !== null };
    }, text);
  for (const [what, place, text] of places) {
    await watched.visit(place);
    const { seen, made } = await shown(text);
    ok(`${what} is shown as text`, seen && !made, JSON.stringify({ seen, made }));
  }
  await watched.quiet('texts from outside');
  await page.evaluate(
    (markup) => document.querySelector('main').insertAdjacentHTML('beforeend', markup),
    SCRIPT,
  );
  await page.waitForFunction(() => window.policyBreaches.length > 0);
  const { made } = await shown('');
  ok('control: as markup, the script is detected, and the policy stops it', made);
  await page.evaluate(() => window.policyBreaches.splice(0));
  watched.faults.splice(0);
}

/** Required properties of the overview and the lists. */
export async function figures(watched, world) {
  const { page } = watched;
  await watched.visit('overview');
  const overview = await page.textContent('main');
  ok(
    'the overview shows that the ledger sums to zero',
    /All balances add up to zero/.test(overview) && !/does not add up/.test(overview),
  );
  ok('the overview shows charts of payments and volume', (await page.$$('main svg.chart')).length === 2);
  await watched.visit('wallets');
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
  ok('a balance shows its asset', /^[\d.,]+ [A-Z]+$/.test(balance || ''), balance);
  await watched.visit('payments');
  const right = await page.evaluate(() => {
    const shown = document.querySelector('tbody td.right .amount .asset');
    return shown !== null && getComputedStyle(shown.closest('td')).textAlign === 'right';
  });
  ok('amounts of payments are right-aligned, with their asset', right);
  const rows = () => page.evaluate(() => document.querySelectorAll('tbody tr').length);
  ok('a list of more than 60 payments shows 50', (await rows()) === 50, String(await rows()));
  const next = await page.getAttribute('a[rel=next]', 'href');
  await watched.visit(next.slice(2));
  const older = await rows();
  ok('the next page has the other payments', older >= PAYMENTS - 50 && older < 50, String(older));
}

/** A new payment appears without a reload. */
export async function liveness(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  await page.evaluate(() => {
    window.stillTheSame = true;
  });
  const [from, to] = world.facts.wallets;
  const { transactionRecordId } = await world.seeded.api.post('/v1/payments/p2p/own', {
    transactionId: 'walk-live',
    sendingAssetCode: 'USDC',
    amount: '1',
    sourceWalletId: from.id,
    destinationWalletId: to.id,
  });
  await page.waitForSelector(`tr[data-key="${transactionRecordId}"]`);
  ok('a new payment appears automatically', await page.evaluate(() => window.stillTheSame === true));
}

export async function search(watched, world) {
  const { page } = watched;
  const { payment, transaction, wallet } = world.seeded;
  const cases = [
    ['its record id', payment, `payments/${payment}`],
    ['its transactionId', transaction, `payments/${payment}`],
    ['the id of a wallet', wallet.id, `wallets/${wallet.id}`],
  ];
  for (const [what, text, place] of cases) {
    await watched.visit('account');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/#/${place}`);
    ok(`search finds by ${what}`, true);
    await page.fill('#find', '');
  }
  await watched.visit(`find?text=${encodeURIComponent(SCRIPT)}`);
  await watched.quiet('searching for markup');
}
