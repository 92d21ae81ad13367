// Lists: search by amount, status and date, periods, order, several rows at once, export, and amounts of other locales.
import { readFileSync } from 'node:fs';

import { ok, Watched } from './judge.mjs';
import { Integrator } from './seed.mjs';

const inMain = (page, selector) =>
  page.evaluate((at) => [...document.querySelectorAll(`main ${at}`)].map((each) => each.textContent), selector);

const holds = (page, wanted) =>
  page
    .waitForFunction((part) => document.querySelector('main').textContent.includes(part), wanted, { timeout: 10_000 })
    .then(
      () => true,
      () => false,
    );

/** Runs a command as the operator of the page. */
export function run({ page }, command, values) {
  return page.evaluate(
    async ([path, body]) => {
      const { csrfToken } = await (await fetch('api/session')).json();
      const response = await fetch(`api/run/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken },
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(JSON.stringify(answer));
      return answer.data;
    },
    [command.replaceAll(' ', '/'), values],
  );
}

// --- Search -------------------------------------------------------------------------------------------

const DAY = (back) => {
  const at = new Date();
  const date = new Date(at.getFullYear(), at.getMonth(), at.getDate() - back);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
};

/** What people type, in the locale en-US, and how the search reads it. */
const ENGLISH = [
  ['1348', { amount: '1348' }],
  ['1,348.50', { amount: '1348.50' }],
  ['1,348', { amount: '1348' }],
  ['12,34,567', { amount: '1234567' }],
  ["1'348'000.5 USDC", { amount: '1348000.5' }],
  ['USDC 7.50', { amount: '7.50' }],
  ['1 348 000', { amount: '1348000' }],
  ['0.0000001', { amount: '0.0000001' }],
  ['0', undefined],
  ['1.2.3', undefined],
  ['123456789012', undefined],
  ['refund', { statuses: ['refund_pending', 'refunded', 'refund_failed'] }],
  ['Refunded', { statuses: ['refunded'] }],
  ['FAILED today', { statuses: ['failed'], period: 'today' }],
  ['account_cl', { failures: ['account_closed'] }],
  ['2026-11', { period: '2026-11' }],
  ['11/22/2026', { period: '2026-11-22' }],
  ['22 November 2026', { period: '2026-11-22' }],
  ['Nov 2026', { period: '2026-11' }],
  ['1348 November 2026', { amount: '1348', period: '2026-11' }],
  ['refunded 1348 November 2026', { statuses: ['refunded'], amount: '1348', period: '2026-11' }],
  ['2100 November 2099', { amount: '2100', period: '2099-11' }],
  ['1348-11', undefined],
  ['february 30 2026', undefined],
  ['succeeded 1,348.50 last month', { statuses: ['succeeded'], amount: '1348.50', period: 'last-month' }],
  ['walk-1', undefined],
  ['refunded walk-1', undefined],
  ['', undefined],
];
const GERMAN = [
  ['1348,5', { amount: '1348.5' }],
  ['1.348,50', { amount: '1348.50' }],
  ['1.348', { amount: '1348' }],
  ['1348.50', { amount: '1348.50' }],
  ['22.11.2026', { period: '2026-11-22' }],
  ['März 2026', { period: '2026-03' }],
  ['march 2026', { period: '2026-03' }],
];

async function reads(watched, locale, cases) {
  const wrong = await watched.page.evaluate(async (all) => {
    const { readSearch } = await import('/admin/reading.js');
    const { session } = await import('/admin/wire.js');
    const { arguments: usable } = session.commands.get('payment list');
    const plain = (value) => JSON.stringify(Object.entries(value || {}).toSorted());
    return all.filter(([text, wanted]) => plain(readSearch(text, usable)) !== plain(wanted)).map(([text]) =>
      `${text}: ${JSON.stringify(readSearch(text, usable))}`);
  }, cases);
  ok(`a search of ${locale} reads amounts, dates and statuses`, wrong.length === 0, wrong.join(' | '));
}

/** The first pages of a search without an index can be empty. */
async function readsOn(watched) {
  const { page } = watched;
  let asked = 0;
  const blank = (most) => (route) => {
    asked += 1;
    if (asked > most) return route.continue();
    return route.fulfill({ json: { data: [], nextCursor: String(1000 - asked), note: 'This page is incomplete.' } });
  };
  for (const [most, found] of [[3, 'walk-6'], [Infinity, 'No match so far']]) {
    asked = 0;
    await page.route('**/api/run/payment/list?*', blank(most === 3 ? 3 : 99));
    await watched.visit('payments?amount=7.5');
    ok(`after ${most} empty pages, the list shows “${found}”`, await holds(page, found), await page.textContent('main'));
    await page.unroute('**/api/run/payment/list?*');
    await watched.visit('account');
  }
  ok('a search without a match ends, and can be continued', asked === 5, String(asked));
}

export async function searches(watched) {
  const { page } = watched;
  await watched.visit('payments');
  await reads(watched, 'en-US', ENGLISH);
  const typed = [
    ['7.50', 'amount=7.50', '7.50'],
    ['refunded', 'status=refunded', 'Refunded'],
    ['today', 'period=today', 'Today'],
    ['succeeded 7.50 today', 'status=succeeded', '7.50'],
  ];
  for (const [text, inAddress, chip] of typed) {
    await watched.visit('payments');
    await page.fill('main [name=text]', text);
    await page.keyboard.press('Enter');
    await page.waitForFunction((part) => location.hash.includes(part), inAddress);
    await watched.settled();
    const chips = await inMain(page, '.chip-value');
    ok(`“${text}” becomes filters of the list`, chips.includes(chip), chips.join(' | '));
  }
  ok('the list has the payment of this amount', (await inMain(page, 'tbody tr')).join().includes('walk-6'));
  await readsOn(watched);
  await watched.visit('payments');
  await page.fill('main [name=text]', 'refund');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/find'));
  await watched.settled();
  const whole = await page.textContent('main');
  ok('the search says what it has searched', /Searched: payments with Refund pending; payments with Refunded;/.test(whole), whole);
  await page.fill('#find', '50.50');
  await page.press('#find', 'Enter');
  ok('the search at the top finds an amount', await holds(page, 'walk-49'), await page.textContent('main'));
  await watched.axe('a search for an amount');
  await watched.shot('find amount');
  await page.fill('#find', '');
  await watched.quiet('searches');
}

// --- Periods and order --------------------------------------------------------------------------------

export async function periods(watched) {
  const { page } = watched;
  await watched.visit('payments');
  await page.selectOption('main select[name=period]', 'yesterday');
  ok('a list of yesterday is empty', await holds(page, 'Nothing matches these filters.'));
  await page.selectOption('main select[name=period]', '7d');
  ok('a list of seven days has the payments of today', await holds(page, '50 of'));
  const asked = await page.evaluate(async () => {
    const { rangeOf } = await import('/admin/period.js');
    return ['today', 'yesterday', '7d', 'month', '2026-02', '2026-02-28', 'bogus'].map((each) => [each, rangeOf(each)]);
  });
  const ranges = Object.fromEntries(asked);
  const local = (text) => text && new Date(text).toLocaleDateString('sv');
  ok('today starts at midnight', local(ranges.today.from) === DAY(0) && !ranges.today.to, JSON.stringify(ranges.today));
  ok('yesterday ends today', local(ranges.yesterday.from) === DAY(1) && local(ranges.yesterday.to) === DAY(0));
  ok('seven days include today', local(ranges['7d'].from) === DAY(6));
  ok('a month ends with the next', local(ranges['2026-02'].from) === '2026-02-01' && local(ranges['2026-02'].to) === '2026-03-01');
  ok('the end of a month is exact', local(ranges['2026-02-28'].to) === '2026-03-01');
  ok('an unknown period is no filter', !ranges.bogus.from && !ranges.bogus.to);
  await page.selectOption('main select[name=period]', 'dates');
  await page.waitForSelector('dialog.sheet [name=from]');
  await page.fill('dialog.sheet [name=from]', '2026-01-31T09:00');
  await page.click('dialog.sheet button[type=submit]');
  await page.waitForFunction(() => /from=2026-01-31/.test(location.hash) && !/period/.test(location.hash));
  ok('dates replace a period', true);
  await watched.visit('overview');
  await page.selectOption('main select[name=period]', 'yesterday');
  await page.waitForFunction(() => location.hash.includes('period=yesterday'));
  await watched.settled();
  ok('the overview has a chart of yesterday', (await page.$$('main svg.chart')).length > 0);
  await watched.visit(`statements?wallet=${watched.world.facts.wallets[0].id}`);
  await page.selectOption('main form .field select >> nth=0', 'last-month');
  await page.waitForFunction(() => /from=/.test(location.hash) && /to=/.test(location.hash));
  await watched.settled();
  await watched.axe('a statement of last month');
  await watched.quiet('periods');
}

export async function order(watched) {
  const { page } = watched;
  await watched.visit('payments?text=walk-1');
  await holds(page, '11 of 11');
  const press = async (name, direction) => {
    await page.click(`main th button:text-is("${name}")`);
    await page.waitForSelector(direction ? `main th[aria-sort=${direction}]` : 'main th:not([aria-sort])');
  };
  const amounts = async () =>
    (await page.evaluate(() => [...document.querySelectorAll('main tbody .amount .number')].map((each) => each.dataset.value))).map(Number);
  const sorted = (list) => list.every((each, i) => i === 0 || list[i - 1] <= each);
  await press('Amount', 'ascending');
  const up = await amounts();
  ok('amounts are ordered as numbers', up.length >= 11 && sorted(up), up.join());
  await press('Amount', 'descending');
  ok('a second press reverses the order', sorted((await amounts()).reverse()));
  ok('a list that is shown whole is ordered whole', !(await page.textContent('main .count')).includes('Ordered'));
  ok('the focus stays at the heading', (await page.evaluate(() => document.activeElement.textContent)) === 'Amount');
  await watched.axe('an ordered list');
  await page.click('main th button:text-is("Amount")');
  await page.waitForFunction(() => !document.querySelector('main th[aria-sort]'));
  await watched.visit('payments');
  await holds(page, '50 of');
  await press('Transaction ID', 'ascending');
  ok('a part of a list says that only this part is ordered', await holds(page, 'Ordered among the rows shown here.'));
  await watched.quiet('order');
}

// --- Several rows -------------------------------------------------------------------------------------

const pending = (api, walletName) =>
  api.post('/v1/wallets', {
    walletName,
    assetCode: 'USDC',
    ownAccount: false,
    metadata: { entityType: 'Person', firstName: 'Mary', lastName: 'Kamau', dateOfBirth: '1990-04-01', nationality: 'KE' },
  });

export async function severalRows(watched, world) {
  const { page } = watched;
  const made = [];
  for (const name of ['Bulk one', 'Bulk two', 'Bulk three']) made.push(await pending(world.seeded.api, name));
  await watched.visit('wallets');
  for (const name of ['Bulk one', 'Bulk two', 'Bulk three', 'Treasury']) await page.check(`main input[aria-label="Choose ${name}"]`);
  ok('the number of chosen rows is shown', await holds(page, '4 chosen'));
  await watched.axe('a list with chosen rows');
  await watched.shot('rows chosen');
  await run(watched, 'wallet verify', { ID: made[1].id }); // as another operator would, in the meantime
  await page.click('main [data-many="wallet verify"]');
  await page.waitForSelector('dialog[open] form');
  const asked = await page.textContent('dialog[open]');
  ok('the dialog names the rows', /Bulk one.*Bulk three/s.test(asked) || /Bulk three.*Bulk one/s.test(asked), asked);
  ok('the dialog names the rows to which it does not apply', /Does not apply to [^.]*Treasury/.test(asked), asked);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => /\d done.*\./.test(document.querySelector('dialog[open] [role=status]').textContent));
  const results = await page.evaluate(() => [...document.querySelectorAll('.bulk-rows li')].map((each) => each.textContent));
  ok('each row has its result', results.filter((each) => /done$/.test(each)).length === 2, results.join(' | '));
  ok('a failed row says why, and does not stop the others', results.length < 3 || results.some((each) => /Bulk two(?!done)/.test(each)), results.join(' | '));
  await watched.axe('the results of several rows');
  await watched.shot('rows done');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  const states = await Promise.all(made.map(({ id }) => page.evaluate(async (ID) => (await (await fetch(`api/run/wallet/show?ID=${ID}`)).json()).data.status, id)));
  ok('all of them are approved', states.every((each) => each === 'Verified'), states.join());
  await page.click('main .bulk button:text-is("Choose none")').catch(() => {});
  await page.check('main input[aria-label="Choose all rows shown"]');
  ok('all rows shown can be chosen', await holds(page, `${await page.$$eval('main tbody tr', (rows) => rows.length)} chosen`));
  await page.uncheck('main input[aria-label="Choose all rows shown"]');
  await page.waitForSelector('main .bulk', { state: 'detached' });
  const offered = await page.evaluate(async () => {
    const { manyVerbs } = await import('/admin/verbs.js');
    return ['payment', 'wallet', 'application', 'operator', 'webhook'].flatMap((noun) => manyVerbs(noun, {}).map(({ command }) => command));
  });
  const unfit = offered.filter(({ arguments: all }) => all.some(({ name, secret }) => secret || ['amount', 'transaction-id'].includes(name)));
  ok('no command for several rows takes an amount, an own ID or a secret', offered.length > 3 && unfit.length === 0, JSON.stringify(unfit));
  await watched.quiet('several rows');
}

/** The same on a phone, where each row is a card. */
export async function rowsOnPhones(watched, world) {
  const { page } = watched;
  const made = [];
  for (const name of ['Phone one', 'Phone two']) made.push(await pending(world.seeded.api, name));
  await watched.size('phone');
  await watched.visit('overview');
  await watched.visit('wallets');
  for (const name of ['Phone one', 'Phone two']) await page.check(`main input[aria-label="Choose ${name}"]`);
  ok('the number of chosen cards is shown', await holds(page, '2 chosen'));
  ok('a list with chosen cards fits 390 px', (await watched.overflow()) <= 0);
  const seen = await page.evaluate(() => {
    const box = (at) => document.querySelector(at).getBoundingClientRect();
    const bar = box('main .bulk');
    const card = box('main tr.record');
    const title = box('main tr.record td[data-card=title]');
    const mark = box('main tr.record td.select input');
    return { inside: bar.top >= 0 && bar.bottom <= innerHeight && bar.right <= innerWidth, beside: mark.right <= title.left && mark.left >= card.left, large: mark.width >= 24 };
  });
  ok('the bar is on the screen, and the mark of a card is beside its title and large enough', Object.values(seen).every(Boolean), JSON.stringify(seen));
  await watched.axe('cards with chosen rows');
  await watched.shot('cards chosen');
  await page.uncheck('main input[aria-label="Choose Phone two"]');
  ok('a card can be left out again', await holds(page, '1 chosen'));
  await page.click('main [data-many="wallet verify"]');
  await page.waitForSelector('dialog[open] form');
  await watched.axe('the dialog of chosen cards');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => /\d done.*\./.test(document.querySelector('dialog[open] [role=status]').textContent));
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  const states = await Promise.all(made.map(({ id }) => page.evaluate(async (ID) => (await (await fetch(`api/run/wallet/show?ID=${ID}`)).json()).data.status, id)));
  ok('the chosen card alone is approved', states.join() === 'Verified,Pending', states.join());
  await watched.size('wide');
  await watched.quiet('rows on phones');
}

// --- Export and locales -------------------------------------------------------------------------------

export async function exported(watched, place, { bom = false } = {}) {
  const { page } = watched;
  await watched.visit(place);
  await page.waitForSelector('main tbody tr:visible');
  await page.click('main [data-export]');
  await page.waitForSelector('dialog[open] [name=file]');
  await watched.axe('the export of a list');
  await page.setChecked('dialog[open] [name=bom]', bom);
  const [file] = await Promise.all([page.waitForEvent('download'), page.click('dialog[open] button[type=submit]')]);
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

export async function files(watched) {
  const plain = await exported(watched, 'payments?type=offramp&period=7d');
  ok('the name of a file says what is in it', plain.name === 'payments-off-ramp-payout-last-7-days.csv', plain.name);
  ok('a file has no byte order mark unless it is wanted', plain.text.startsWith('id,'), plain.text.slice(0, 20));
  const marked = await exported(watched, 'payments?type=offramp&period=7d', { bom: true });
  ok('a file for Excel begins with a byte order mark', marked.text === `\ufeff${plain.text}`, marked.text.slice(0, 20));
  const { page } = watched;
  await watched.visit('webhooks');
  const href = await page.getAttribute('main tbody a[href^="#/webhooks/"]', 'href');
  const deliveries = await exported(watched, href.slice(2));
  ok('the file of an object has its name instead of its ID', /^http.*-deliveries\.csv$/.test(deliveries.name), deliveries.name);
  await page.evaluate(() => localStorage.removeItem('coffer-csv-bom'));
  await watched.quiet('exports');
}

/** Amounts in the reader's form, on a wide and a narrow screen, and what copying one gives. */
export async function locales(_, world) {
  const { facts } = world;
  const forms = { 'en-US': '1,000,000.00', 'de-DE': '1.000.000,00', 'en-IN': '10,00,000.00', 'fr-FR': '1\u202f000\u202f000,00' };
  for (const [locale, wanted] of Object.entries(forms)) {
    const watched = await Watched.open(world, 'wide', { locale, permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = watched;
    await watched.signIn(facts.adminUser, facts.adminPassword);
    await watched.settled();
    const shown = await page.evaluate(async () => {
      const { localised } = await import('/admin/format.js');
      return [localised('1000000.00'), localised('-0.5'), localised('9223372036854775807.0000001')];
    });
    ok(`amounts are grouped as in ${locale}`, shown[0] === wanted, shown[0]);
    ok(`no digit is lost in ${locale}`, shown[2].replace(/\D/g, '') === '92233720368547758070000001', shown[2]);
    if (locale === 'de-DE') await german(watched, world);
    await watched.quiet(`the locale ${locale}`);
    await watched.context.close();
  }
}

async function german(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  await reads(watched, 'de-DE', GERMAN);
  await page.fill('main [name=text]', '7,50');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('amount=7.50'));
  await watched.settled();
  ok('the chip of an amount has the form of the locale', (await inMain(page, '.chip-value')).includes('7,50'));
  await page.click('[data-filters]');
  ok('so does the field', (await page.inputValue('dialog.sheet [name=amount]')) === '7,50');
  await page.fill('dialog.sheet [name=amount]', '8,5');
  await page.click('dialog.sheet button[type=submit]');
  await page.waitForFunction(() => location.hash.includes('amount=8.5'));
  await watched.visit(`wallets/${world.facts.wallets[0].id}`);
  await page.waitForSelector('.figures .number');
  const copied = await page.evaluate(async () => {
    const own = document.querySelector('.figures .number');
    document.getSelection().selectAllChildren(own);
    document.execCommand('copy');
    return { text: await navigator.clipboard.readText(), value: own.dataset.value, shown: own.textContent };
  });
  ok('a copied amount is plain', copied.text === copied.value && /^\d+\.\d+$/.test(copied.text), JSON.stringify(copied));
  for (const size of ['wide', 'narrow']) {
    await watched.size(size);
    for (const place of ['payments', 'wallets', 'overview']) {
      await watched.visit(place);
      const broken = await page.evaluate(() =>
        [...document.querySelectorAll('main .number')].filter((each) => each.getClientRects().length > 1).map((each) => each.textContent));
      ok(`no amount is broken at #/${place}, ${size}`, broken.length === 0, broken.join());
      ok(`#/${place} fits, ${size}`, (await watched.overflow()) <= 0);
    }
  }
}

// --- News of a version ---------------------------------------------------------------------------------

export async function news(watched) {
  const { page } = watched;
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('.attention');
  ok('a first visit has no notice of an upgrade', (await page.$('[data-upgrade]')) === null);
  await page.evaluate(() => localStorage.setItem('coffer-version', '0.0.9'));
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('[data-upgrade]');
  await watched.axe('the notice of an upgrade');
  await page.click('[data-upgrade] a');
  await page.waitForSelector('main tbody tr');
  ok('the page lists what is new', (await inMain(page, 'tbody tr')).join().includes('Ledger: double entry'));
  await watched.axe('what is new');
  await watched.visit('overview');
  await page.waitForSelector('[data-upgrade]');
  await page.click('[data-upgrade] button');
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('.attention');
  ok('a closed notice does not come back', (await page.$('[data-upgrade]')) === null);
  await watched.quiet('what is new');
}

// --- An empty production environment ------------------------------------------------------------------

const steps = ({ page }) =>
  page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.checklist li')].map((each) => [each.dataset.step, each.classList.contains('done')])));

async function scope({ page }, value) {
  await page.selectOption('#top .scope select >> nth=0', value);
}

/** Everything that a first payment needs, as an operator and an integrator would do it. */
async function firstPayment(watched, world) {
  const { page } = watched;
  const associations = await page.evaluate(async () => (await (await fetch('api/run/association/list')).json()).data);
  const credentials = await run(watched, 'application register', {
    name: 'Real shop',
    association: associations[0].id,
    environment: 'production',
  });
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('.checklist [data-step=application].done');
  ok('an application of production is a step done', true);
  const api = await Integrator.login({ ...world.facts, ...credentials });
  const wallets = [];
  for (const walletName of ['Real one', 'Real two']) {
    const wallet = await api.post('/v1/wallets', { walletName, assetCode: 'USDC', ownAccount: true });
    wallets.push(wallet.id);
  }
  await run(watched, 'wallet fund', { ID: wallets[0], asset: 'USDC', amount: '5', reason: 'Deposit', 'transaction-id': 'REAL-1' });
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('.checklist [data-step=wallet].done');
  await api.post('/v1/payments/p2p/own', {
    transactionId: 'real-1',
    sendingAssetCode: 'USDC',
    amount: '1',
    sourceWalletId: wallets[0],
    destinationWalletId: wallets[1],
  });
}

export async function goingLive(watched, world) {
  const { page } = watched;
  await watched.visit('overview');
  await page.waitForSelector('.attention');
  ok('a sandbox alone has no checklist', (await page.$('.checklist')) === null);
  await page.evaluate(async () => {
    const { session } = await import('/admin/wire.js');
    session.clock = session.commands.get('sandbox clock');
    session.commands.delete('sandbox clock'); // as on a server that is no demo
  });
  await watched.visit('payments');
  await watched.visit('overview');
  await page.waitForSelector('.checklist [data-step=asset].done');
  ok('on a server, applications of the sandbox do not end the checklist', true);
  await page.evaluate(async () => {
    const { session } = await import('/admin/wire.js');
    session.commands.set('sandbox clock', session.clock);
  });
  await scope(watched, 'production');
  await page.waitForSelector('.checklist');
  const before = await steps(watched);
  ok('an empty production page has a checklist', before.association === true && before.application === false && before.payment === false, JSON.stringify(before));
  const links = await page.$$eval('.checklist li:not(.done) a', (all) => all.map((each) => each.getAttribute('href')));
  ok('each open step has a link', links.length === Object.values(before).filter((done) => !done).length && links.every((each) => each.startsWith('#/')));
  await watched.axe('the checklist');
  await watched.shot('checklist');
  await watched.size('narrow');
  ok('the checklist fits 360 px', (await watched.overflow()) <= 0);
  await watched.axe('the checklist, narrow');
  await watched.size('wide');
  await firstPayment(watched, world);
  await watched.visit('payments');
  await page.waitForFunction(() => document.querySelector('main tbody').textContent.includes('Succeeded'));
  await watched.visit('overview');
  await page.waitForSelector('.attention');
  await page.waitForTimeout(500);
  ok('the checklist ends with the first payment', (await page.$('.checklist')) === null);
  await scope(watched, '');
  await watched.quiet('going live');
}
