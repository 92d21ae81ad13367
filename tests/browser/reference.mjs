// Part of reference.py: reads the API reference of a demo in a browser, and calls operations from it.
import { chromium } from 'playwright-core';

import { failures, ok, Watched } from './judge.mjs';

const facts = JSON.parse(process.env.COFFER_TEST);
const SCRIPT = '<img src=x onerror="window.owned=true">';

const article = (id) => `article#${id}`;

async function drawn(page) {
  await page.waitForSelector(article('listWallets'));
}

/** Pastes a text into a field. */
function paste(page, selector, text) {
  return page.evaluate(
    ([where, what]) => {
      const data = new DataTransfer();
      data.setData('text/plain', what);
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
      document.querySelector(where).dispatchEvent(event);
    },
    [selector, text],
  );
}

async function open(page, id) {
  const panel = page.locator(`${article(id)} details.try`);
  await panel.locator('summary').click();
  await panel.locator('button.send').waitFor();
  return panel;
}

/** The text on the page after `Send`. */
async function sent(panel) {
  await panel.locator('[role=status]').evaluate((place) => place.replaceChildren());
  await panel.locator('button.send').click();
  const place = panel.locator('[role=status]');
  await place.locator('p').first().waitFor();
  await panel.locator('button.send[aria-busy=false]').waitFor();
  const part = (name) => place.locator(`pre[aria-label="Response ${name}"]`);
  const body = (await part('body').count()) > 0 ? await part('body').textContent() : '';
  const headers = (await part('headers').count()) > 0 ? await part('headers').textContent() : '';
  return { said: await place.locator('p').first().textContent(), headers, body, place };
}

async function withoutCredentials({ page }) {
  const panel = await open(page, 'listWallets');
  const { said } = await sent(panel);
  ok('without credentials, the page names the missing ones and sends nothing', /Client ID/.test(said), said);
}

async function calls(watched) {
  const { page } = watched;
  await paste(page, '#try input[name=clientId]', '{"clientId":');
  ok('an incomplete line is rejected', /not JSON/.test(await page.textContent('#try [role=status]')));
  await paste(page, '#try input[name=apiKey]', `${JSON.stringify(facts)}\n`);
  ok("a demo's first line fills every field", (await page.inputValue('#try input[name=connectSecret]')) === facts.connectSecret);

  const wallets = await sent(page.locator(`${article('listWallets')} details.try`));
  ok('an operation responds, with status and time', /^200 OK in \d+ ms/.test(wallets.said), wallets.said);
  ok('the response headers have the request ID', /x-request-id: [0-9a-f-]{36}/.test(wallets.headers), wallets.headers);
  ok('the response body comes from this server', JSON.parse(wallets.body).data.some(({ id }) => id === facts.wallets[0].id));

  const payment = await sent(await open(page, 'transferBetweenOwnWallets'));
  ok('the recorded request can be sent to this server', /^202 /.test(payment.said), payment.said + payment.body);
  const record = JSON.parse(payment.body).transactionRecordId;
  const read = await sent(await open(page, 'getTransaction'));
  ok('the ID of the response is in the next request', /^200 /.test(read.said) && JSON.parse(read.body).id === record, read.said + read.body);

  const platform = await sent(await open(page, 'listConnectCountries'));
  ok('the Connect group works with its own secret and token', /^200 /.test(platform.said), platform.said + platform.body);
  const camt = await open(page, 'getStatementCamt053');
  for (const name of ['startDate', 'endDate']) await camt.locator(`input[name=${name}]`).fill('2026-01-01');
  const statement = await sent(camt);
  ok('a body that is not JSON is shown unchanged', statement.body.startsWith('<?xml'), statement.said + statement.body);
  const token = await sent(await open(page, 'createToken'));
  ok('a login uses the credentials of the page', /^200 /.test(token.said), token.said + token.body);
}

async function problems({ page }) {
  const panel = await open(page, 'getWallet');
  await panel.locator('input[name=walletId]').fill('../../admin');
  const { said, place } = await sent(panel);
  ok('a value stays inside its path segment', /^404 /.test(said), said);
  ok('a problem links to its page', (await place.locator('a').getAttribute('href')) === '/problems/not-found');
  await panel.locator('input[name=walletId]').fill('');
  ok('a missing value is named', /Enter walletId/.test((await sent(panel)).said));

  const wallet = await open(page, 'createWallet');
  const body = JSON.parse(await wallet.locator('textarea').inputValue());
  await wallet.locator('textarea').fill(JSON.stringify({ ...body, walletName: SCRIPT }));
  const made = await sent(wallet);
  ok('markup in a response stays text', /^201 /.test(made.said) && made.body.includes('onerror'), made.said + made.body);
}

async function forgotten({ page, context }) {
  const kept = await page.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    address: location.href,
  }));
  ok('nothing is stored', kept.local + kept.session + kept.databases === 0, JSON.stringify(kept));
  ok('no cookie is set', (await context.cookies()).length === 0);
  ok('no secret is in the address', !kept.address.includes(facts.apiKey));
  await page.click('#try button');
  const fields = () => page.$$eval('#try input', (all) => all.map((each) => each.value).join(''));
  ok('credentials can be removed', (await fields()) === '');
  await paste(page, '#try input[name=apiKey]', JSON.stringify(facts));
  await page.reload();
  await drawn(page);
  ok('a reload removes them', (await fields()) === '');
  await paste(page, '#try input[name=apiKey]', JSON.stringify({ ...facts, clientSecret: 'sk_wrong' }, null, 2));
  const rejected = await sent(await open(page, 'listWallets'));
  ok('a wrong secret is rejected', /responded 401/.test(rejected.said), rejected.said);
}

async function events(watched) {
  const { page } = watched;
  const about = page.locator('section:has(> #events)');
  await about.locator('summary', { hasText: 'Verify the signature' }).click();
  await about.locator('ol li').first().waitFor();
  ok('the events show the steps of a verification', /constant time/.test(await about.locator('ol').textContent()));
  await about.locator('summary', { hasText: 'Attempts and retries' }).click();
  await about.locator('table').first().waitFor();
  ok('the events show the retries', /5 min later/.test(await about.textContent()));
  const refunded = page.locator('[id="event-payment.refunded"]');
  await refunded.locator('summary', { hasText: 'Example body' }).click();
  await refunded.locator('pre').waitFor();
  ok('an event has an example', JSON.parse(await refunded.locator('pre').textContent()).type === 'payment.refunded');
  await watched.axe('the events');
}

/** The search with the keyboard, as a combobox whose results are options. */
async function searches(watched) {
  const { page } = watched;
  const options = page.locator('#hits [role=option]');
  const focused = () => page.evaluate(() => document.activeElement.id);
  await page.locator('body').press('/');
  ok('/ goes to the search', (await focused()) === 'search');
  await page.keyboard.type('cashing out');
  await options.first().waitFor();
  const titles = await page.locator('#hits [role=group]').evaluateAll((all) => all.map((each) => each.firstChild.textContent));
  ok('guides stand above operations', titles[0] === 'Guides' && titles[1] === 'Operations and events', titles.join());
  ok('what was found is marked', (await page.locator('#hits .snippet mark').count()) > 0);
  for (const scheme of ['light', 'dark']) {
    await watched.scheme(scheme);
    await page.keyboard.press('ArrowDown');
    await watched.axe(`search results, ${scheme}`);
    await shot(watched, `search-${scheme}`);
  }
  const selected = page.locator('#hits [aria-selected=true]');
  ok('arrows select a result', (await page.getAttribute('#search', 'aria-activedescendant')) === (await selected.getAttribute('id')));
  ok('the text keeps the focus', (await focused()) === 'search');
  await page.fill('#search', 'createQuote');
  await page.waitForFunction(() => document.querySelector('#hits [role=option]')?.getAttribute('href') === '#createQuote');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash === '#createQuote');
  ok('Enter goes to the first result', await page.locator(article('createQuote')).isVisible());
  await page.fill('#search', 'refnud');
  await page.locator('#offers button').first().click();
  await options.first().waitFor();
  ok('a misspelled word offers the right one', (await page.inputValue('#search')) === 'refund');
  await watched.size('narrow');
  ok('the results fit 360 px', (await watched.overflow()) <= 0, String(await watched.overflow()));
  await watched.axe('search results, narrow');
  await watched.size('wide');
  await page.fill('#search', SCRIPT);
  await page.waitForFunction(() => /onerror/.test(document.querySelector('#found').textContent));
  await watched.axe('a search without a result');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('#hits').hidden && document.querySelector('#found').textContent === '');
  ok('Escape empties the search', (await page.inputValue('#search')) === '');
}

async function guide(watched) {
  const { page } = watched;
  await page.goto(`${facts.baseUrl}/docs/guides/webhooks#verify`);
  await page.waitForSelector('h2#verify');
  ok('a guide is displayed', (await page.locator('#guide table').count()) > 2 && (await page.locator('#guide pre').count()) > 5);
  await watched.axe('a guide');
}

/** A screenshot of the visible part, because the whole page is too long. */
async function shot({ page }, name) {
  const folder = process.env.COFFER_SHOTS;
  if (folder) await page.screenshot({ path: `${folder}/reference-${name}.png` });
}

async function looks(watched) {
  await watched.page.locator(article('transferBetweenOwnWallets')).locator('button.send').scrollIntoViewIfNeeded();
  for (const scheme of ['light', 'dark']) {
    await watched.scheme(scheme);
    await watched.axe(`the reference, ${scheme}`);
    await shot(watched, scheme);
  }
  await watched.size('narrow');
  ok('the reference fits 360 px', (await watched.overflow()) <= 0, String(await watched.overflow()));
  await watched.axe('the reference, narrow');
  await shot(watched, 'narrow');
  await watched.size('wide');
}

async function demo(browser) {
  const watched = await Watched.open({ browser, admin: `${facts.baseUrl}/docs` }, 'wide');
  await drawn(watched.page);
  for (const chapter of [withoutCredentials, calls, problems, events, searches, looks, forgotten, guide]) {
    try {
      await chapter(watched);
    } catch (fault) {
      ok(`${chapter.name} completes`, false, fault.stack);
    }
    await watched.quiet(chapter.name);
  }
  await watched.context.close();
}

async function production(browser) {
  const watched = await Watched.open({ browser, admin: `${facts.production}/docs` }, 'wide');
  const { page } = watched;
  await drawn(page);
  ok('a server that is not a demo offers no calls', (await page.locator('.try').count()) === 0);
  ok('a server that is not a demo loads no script for calls', (await page.locator('script[src*=try]').count()) === 0);
  ok('a server that is not a demo shows the recorded examples', (await page.textContent(article('createWallet'))).includes('Example problem'));
  await watched.quiet('a server that is no demo');
  const policy = async (origin) => (await fetch(`${origin}/docs`)).headers.get('content-security-policy');
  ok('both servers have the same content security policy', (await policy(facts.baseUrl)) === (await policy(facts.production)));
  await watched.context.close();
}

const browser = await chromium.launch({
  executablePath: facts.browser,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  await demo(browser);
  await production(browser);
} catch (fault) {
  ok(`the test completes: ${fault.stack}`, false);
} finally {
  await browser.close();
}
process.exitCode = failures() > 0 ? 1 : 0;
