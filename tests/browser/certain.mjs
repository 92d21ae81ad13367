// What an operator must be certain of: what an amount is read as, whether a command was done if its response is lost, and
// how much of a payment was given back.
import { ok, Watched } from './judge.mjs';
import { run } from './lists.mjs';

const LOST = /ERR_FAILED|ERR_CONNECTION|status of 50/; // on the console, of the responses that a test loses

/** Counts the requests of a command; with `lose`, the server runs it and the response is lost. */
async function watchCommand({ page }, path, { lose = () => false, hold } = {}) {
  const bodies = [];
  await page.route(`**/api/run/${path}`, async (route) => {
    const body = route.request().postDataJSON();
    if (body.preview) return route.continue();
    bodies.push(body);
    if (hold) await hold;
    if (!lose(bodies.length)) return route.continue();
    await route.fetch();
    return route.abort();
  });
  return { bodies, stop: () => page.unroute(`**/api/run/${path}`) };
}

const dialogText = (page) => page.evaluate(() => (document.querySelector('dialog[open]') || { innerText: '' }).innerText);

/** Only the lost responses are on the console. */
async function quietBut(watched, where) {
  watched.faults = watched.faults.filter((fault) => !LOST.test(fault));
  await watched.quiet(where);
}

// --- Amounts that are typed ---------------------------------------------------------------------------

/** What people type into a form, and the amount; undefined is refused. */
export const TYPED = {
  'en-US': { 1500: '1500', '1500.5': '1500.5', '1,500': '1500', '1.500': '1.500', '1,234,567.89': '1234567.89', '1500,5': undefined, '1,50': undefined, '15,00.5': undefined, '1e3': undefined, '.5': undefined, '-5': undefined, '1 500.5': '1500.5', '0': '0' },
  'de-DE': { 1500: '1500', '1500,5': '1500.5', '1.500': '1500', '2.500,75': '2500.75', '1,500': '1.500', '1500.5': undefined, '1.50': undefined, '1,500.25': undefined, '1.500.5': undefined },
  'fr-FR': { 1500: '1500', '1500,5': '1500.5', '1\u202f500': '1500', '1\u00a0500,25': '1500.25', '1 500': '1500', '1.500': undefined, '1500.5': undefined },
  'en-IN': { 1500: '1500', '1500.5': '1500.5', '1,50,000': '150000', '1,500.25': '1500.25', '150,000': undefined, '1500,5': undefined },
  'de-CH': { 1500: '1500', '1500.5': '1500.5', '1’500.25': '1500.25', "1'500": '1500', '1,500': undefined, '1500,5': undefined },
};

/** In the reader's locale, an amount is what a form says below it, or it is refused. */
export async function typedAmounts(_, world) {
  for (const [locale, cases] of Object.entries(TYPED)) {
    const watched = await Watched.open(world, 'wide', { locale });
    const { page } = watched;
    await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
    await watched.settled();
    const wrong = await page.evaluate(async (all) => {
      const { readAmount } = await import('/admin/reading.js');
      return all.filter(([text, wanted]) => readAmount(text, true) !== wanted).map(([text]) => `${text}: ${readAmount(text, true)}`);
    }, Object.entries(cases).map(([text, wanted]) => [text, wanted]));
    ok(`forms read amounts of ${locale}`, wrong.length === 0, wrong.join(' | '));
    if (locale === 'de-DE') await funding(watched, world);
    await watched.quiet(`amounts typed in ${locale}`);
    await watched.context.close();
  }
}

async function funding(watched, { facts }) {
  const { page } = watched;
  const sent = await watchCommand(watched, 'wallet/fund');
  await watched.visit(`wallets/${facts.wallets[0].id}`);
  await page.click('main [data-command="wallet fund"]');
  const asset = page.locator('dialog[open] [name=asset]');
  await page.waitForSelector('dialog[open] [name=asset]:not([data-loading])');
  if (await asset.evaluate((field) => field.tagName === 'SELECT')) await asset.selectOption('USDC');
  else await asset.fill('USDC');
  ok('the example has the form of the locale', (await page.getAttribute('dialog[open] [name=amount]', 'placeholder')) === '1.000,50');
  await page.fill('dialog[open] [name=amount]', '2.50');
  const echo = page.locator('dialog[open] .field:has([name=amount]) [data-echo]');
  ok('an amount that the locale does not write is refused at its field', /1\.234,5/.test(await echo.textContent()), await echo.textContent());
  await page.click('dialog[open] button[type=submit]');
  await page.waitForTimeout(200);
  ok('and is not sent', sent.bodies.length === 0 && (await page.$('dialog[open]')) !== null);
  await page.fill('dialog[open] [name=amount]', '2.500');
  ok('below the field is what is sent', (await echo.textContent()) === '= 2.500 USDC', await echo.textContent());
  await watched.axe('an amount with its value below');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  ok('a German point groups thousands', sent.bodies.map(({ amount }) => amount).join() === '2500', JSON.stringify(sent.bodies));
  await sent.stop();
}

/** Every field for an amount or a rate, of every command, is read in the same way. */
async function everyAmount({ page }) {
  const [fields, plain] = await page.evaluate(async () => {
    const { Fields } = await import('/admin/steps.js');
    const { session } = await import('/admin/wire.js');
    const all = [...session.commands.values()].flatMap((row) =>
      new Fields(row, { fixed: {}, preset: {}, wanted: () => true }).entries.map((each) => ({ ...each, command: row.command })));
    const amounts = all.filter(({ argument }) => /AMOUNT|RATE/.test(argument.placeholder || argument.name));
    return [amounts.length, amounts.filter(({ node }) => !node.querySelector('[data-echo]')).map(({ command, argument }) => `${command} ${argument.name}`)];
  });
  ok('every field for an amount says what it is read as', fields > 20 && plain.length === 0, `${fields} ${plain.join(', ')}`);
}

// --- Lost responses -----------------------------------------------------------------------------------

/** A reversal of which the response is lost, and one that takes its time. */
async function lostReversal(watched, id) {
  const { page } = watched;
  let release;
  const hold = new Promise((resolve) => (release = resolve));
  const sent = await watchCommand(watched, 'payment/reverse', { lose: (count) => count === 1, hold });
  await watched.visit(`payments/${id}`);
  await page.click('main [data-command="payment reverse"]');
  ok('the form of a reversal says what is left', /Left to give back: 3\.50 USDC/.test(await dialogText(page)), await dialogText(page));
  await page.fill('dialog[open] [name=amount]', '1');
  const echo = await page.textContent('dialog[open] .field:has([name=amount]) [data-echo]');
  ok('an amount has the asset of its payment', echo === '= 1 USDC', echo);
  await page.fill('dialog[open] [name=reason]', 'Paid too much');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] form[data-stage=preview]');
  ok('a preview says so', /This was a preview/.test(await dialogText(page)), await dialogText(page));
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] form[aria-busy]');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('Escape');
  await page.evaluate(() => (location.hash = '#/wallets'));
  await watched.settled();
  ok('nothing closes a dialog that waits for its response', (await page.$('dialog[open] form[aria-busy]')) !== null);
  await page.evaluate((at) => (location.hash = at), `#/payments/${id}`);
  release();
  await page.waitForSelector('dialog[open] .notice.bad');
  const said = await dialogText(page);
  ok('a lost response says that the outcome is unknown', /It is not known whether this was done\. Try again here: it is not done twice/.test(said), said);
  ok('and no longer that nothing was changed', !/preview: nothing/i.test(said), said);
  await watched.axe('an unknown outcome');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  const keys = new Set(sent.bodies.map((body) => body['transaction-id']));
  ok('trying again keeps the key', sent.bodies.length === 2 && keys.size === 1, JSON.stringify(sent.bodies));
  await sent.stop();
}

async function lostAssociation(watched) {
  const { page } = watched;
  const sent = await watchCommand(watched, 'association/create', { lose: () => true });
  await watched.visit('associations');
  await page.click('main [data-command="association create"]');
  await page.fill('dialog[open] [name=NAME]', 'Made without an answer');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .notice.bad');
  const said = await dialogText(page);
  ok('without a key, a look at the list comes first', /Look at the list before you try again/.test(said), said);
  await page.keyboard.press('Escape');
  await page.waitForSelector('main tbody:has-text("Made without an answer")', { timeout: 3000 });
  ok('closing refreshes the list behind', true);
  await sent.stop();
}

/** Several rows, where one response is lost. */
async function lostRow(watched, { seeded }) {
  const { page } = watched;
  for (const walletName of ['Lost one', 'Lost two']) {
    await seeded.api.post('/v1/wallets', {
      walletName,
      assetCode: 'USDC',
      ownAccount: false,
      metadata: { entityType: 'Person', firstName: 'A', lastName: 'B', dateOfBirth: '1990-04-01', nationality: 'KE' },
    });
  }
  const sent = await watchCommand(watched, 'wallet/verify', { lose: (count) => count === 1 });
  await watched.visit('wallets');
  for (const name of ['Lost one', 'Lost two']) await page.check(`main input[aria-label="Choose ${name}"]`);
  await page.click('main [data-many="wallet verify"]');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(() => /done/.test(document.querySelector('dialog[open] .stack > [role=status]').textContent));
  const summary = await page.textContent('dialog[open] .stack > [role=status]');
  ok('a row without a response is unknown, not failed', summary === '1 done, 1 unknown.', summary);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  await sent.stop();
}

// --- A part that was given back ------------------------------------------------------------------------

async function partRefund(watched, id) {
  const { page } = watched;
  await watched.visit(`payments/${id}`);
  const has = (at, text) => page.locator(at, { hasText: text }).first().isVisible();
  await page.waitForSelector('main header .badge:text-is("Partly refunded")');
  ok('the head says that a part was refunded', true);
  const figures = (await page.innerText('main .figures.money')).replace(/\s+/g, ' ');
  ok('the figures say what was given back, and what was not', /Given back 1\.00 USDC Not given back: 2\.50 USDC/.test(figures), figures);
  ok('the total is not returned', /Total debited/.test(figures) && !/returned|credited back/.test(figures), figures);
  const standing = await page.innerText('main .standing');
  ok('the next step does not promise the whole', /A part of the payment was given back/.test(standing) && !/is back in the source wallet/.test(standing), standing);
  ok('the timeline agrees', await has('main .timeline', 'Partly refunded'));
  await page.emulateMedia({ media: 'print' });
  const paper = await page.innerText('main');
  ok('so does the receipt', /Partly refunded/.test(paper) && /Not given back/.test(paper) && !/is back in the source wallet/.test(paper), paper);
  await page.emulateMedia({ media: 'screen' });
  await watched.axe('a payment that was partly refunded');
  await watched.shot('partly refunded');
  await run(watched, 'payment reverse', { ID: id, reason: 'The rest', 'transaction-id': 'certain-rest' });
  await watched.visit('payments');
  await watched.visit(`payments/${id}`);
  await page.waitForSelector('main header .badge:text-is("Refunded")');
  const whole = await page.innerText('main');
  ok('once all is back, it is refunded', /is back in the source wallet/.test(whole) && !/Not given back/.test(whole), whole);
}

/** What was given back after success, by type of payment: [record, status, a part, given, left, fee]. */
const GIVEN = [
  [{ type: 'p2p_own', status: 'refunded', refunds: [['booked', '40.00']] }, 'partly_refunded', true, '40.00', '60.00'],
  [{ type: 'offramp', status: 'refunded', total: '100.00', refunds: [['booked', '33.33'], ['booked', '66.67']] }, 'refunded', false, '100.00', '0.00'],
  [{ type: 'offramp', status: 'refunded', total: '101.00', refunds: [['booked', '100.00']] }, 'refunded', false, '100.00', '0.00', 'without the fee'],
  [{ type: 'offramp', status: 'refunded', total: '101.00', refunds: [['booked', '100.00', '1.00']] }, 'refunded', false, '100.00', '0.00'],
  [{ type: 'offramp', status: 'refunded', refunds: [['booked', '0.000001']] }, 'partly_refunded', true, '0.000001', '99.999999'],
  [{ type: 'swap_own', status: 'refunded', refunds: [['booked', '100.00']] }, 'refunded', false, '100.00', '0.00'],
  [{ type: 'onramp', status: 'refunded', collectedAmount: '90.00', refunds: [['booked', '90.00']] }, 'refunded', false, '90.00', '0.00'],
  [{ type: 'onramp', status: 'refunded', collectedAmount: '110.00', refunds: [['booked', '90.00']] }, 'partly_refunded', true, '90.00', '10.00'],
  [{ type: 'onramp', status: 'refund_pending', refunds: [['booked', '40.00'], ['waiting', '60.00']] }, 'refund_pending', true, '40.00', '0.00'],
  [{ type: 'onramp', status: 'refund_failed', refunds: [['booked', '40.00'], ['failed', '60.00']] }, 'refund_failed', true, '40.00', '60.00'],
  [{ type: 'p2p_own_multi', status: 'refunded', sendingAmount: null, refunds: [] }, undefined],
  [{ type: 'offramp', status: 'refunded', refunds: [] }, undefined], // after a failure: everything
];

async function parts({ page }) {
  const wrong = await page.evaluate(async (all) => {
    const { givenBack } = await import('/admin/payment.js');
    return all.flatMap(([{ refunds, ...record }, ...wanted]) => {
      const rows = refunds.map(([state, amount, fee], i) => ({ state, amount, fee, at: `2026-11-29T10:00:0${i}.000Z` }));
      const found = givenBack({ sendingAmount: '100.00', sendingAssetCode: 'USDC', ...record, refunds: rows });
      const told = found ? [found.status, found.isPart, found.given.textContent, found.left.textContent] : [undefined];
      if (found?.keepsFee) told.push('without the fee');
      const plain = told.map((each) => (typeof each === 'string' ? each.replace(' USDC', '') : each));
      return JSON.stringify(plain) === JSON.stringify(wanted) ? [] : [`${JSON.stringify(record)}: ${JSON.stringify(plain)}`];
    });
  }, GIVEN);
  ok('what was given back is known for every type of payment', wrong.length === 0, wrong.join(' | '));
  const listed = { id: '019b7653-d4c0-7000-8000-000000000009', transactionId: 'part', type: 'p2p_own', status: 'refunded', sendingAmount: '100.00', sendingAssetCode: 'USDC', createdAt: '2026-11-29T10:00:00.000Z' };
  await page.route('**/api/run/payment/list?*', (route) => route.fulfill({ json: { data: [{ ...listed, refundedAmount: '40.00' }] } }));
  await page.evaluate(() => (location.hash = '#/payments?status=refunded'));
  await page.waitForSelector('main tbody tr:has-text("Given back 40.00 USDC")');
  ok('a list shows what was given back', true);
  await page.unroute('**/api/run/payment/list?*');
}

// --- Choices ------------------------------------------------------------------------------------------

/** A choice without objects says where to add one, and a state in which an object cannot be used is beside its name. */
async function choices(watched) {
  const { page } = watched;
  await page.route('**/api/run/asset/list*', (route) => route.fulfill({ json: { data: [] } }));
  await watched.visit('wallets');
  await page.click('main [data-command="wallet create"]');
  await page.waitForSelector('dialog[open] .field:has([name=asset]) .hint:has-text("Add one under Rates and liquidity")');
  ok('an empty list of assets says where to add one', true);
  await page.unroute('**/api/run/asset/list*');
  await page.keyboard.press('Escape');
  const said = await page.evaluate(async () => {
    const { textOfRow } = await import('/admin/choices.js');
    return ['Verified', 'Pending', 'Rejected'].map((status) => textOfRow({ name: 'A', status, direction: 'ON_RAMP' }));
  });
  ok('a choice shows a state in which it cannot be used', said.join('; ') === 'A, Collection; A, Collection, Pending; A, Collection, Rejected', said.join('; '));
}

export async function certainty(watched, world) {
  const [{ id }] = await run(watched, 'payment find', { TEXT: 'walk-2' });
  await everyAmount(watched);
  await lostReversal(watched, id);
  await quietBut(watched, 'a lost response of a reversal');
  await partRefund(watched, id);
  await parts(watched);
  await choices(watched);
  await lostAssociation(watched);
  await lostRow(watched, world);
  await quietBut(watched, 'lost responses');
}
