// The tasks of an operator: find, understand, decide, repair. Tests each part of the page for its task on real data.
import { ok, Watched } from './judge.mjs';
import { exported } from './lists.mjs';

const text = (page, selector) => page.evaluate((at) => (document.querySelector(at) || {}).textContent || '', selector);

async function waitFor(page, selector, wanted) {
  return page
    .waitForFunction(
      ([at, part]) => ((document.querySelector(at) || {}).textContent || '').includes(part),
      [selector, wanted],
      { timeout: 10_000 },
    )
    .then(
      () => true,
      () => false,
    );
}

// --- A payment ----------------------------------------------------------------------------------------

export async function onePayment(watched, world) {
  const { page } = watched;
  const { paid, failed, stuck } = world.seeded;
  await watched.visit(`payments/${paid}`);
  const title = await text(page, 'main h1');
  ok('the title of a payment has payer and payee', /^Treasury → /.test(title), title);
  const header = await text(page, 'main header');
  ok('the accounts of a payment are masked', /•••• \d{4} → •••• 0077/.test(header), header);
  const figures = await text(page, '.figures.money');
  for (const part of ['Amount', 'Fee', 'Total debited', 'Rate', 'Recipient gets'])
    ok(`a payment shows ${part}`, figures.includes(part), figures);
  const ids = await page.evaluate(
    () => (document.querySelector('main .content').innerText.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g) || []).length,
  );
  ok('no UUID is visible', ids === 0, String(ids));
  await page.click('details.folded summary');
  ok('UUIDs are folded, with a button to copy', await page.isVisible('details.folded .copy'));
  await watched.visit(`payments/${failed}`);
  const standing = await text(page, '.standing');
  const released = await text(page, '.figures.money');
  ok('the total of a failed payout is released', /Total \(released\)/.test(released) && !/Total debited/.test(released), released);
  ok('a failed payment shows its reason', /Reason\s*Account closed/.test(standing), standing);
  ok('a failed payment shows the next step', /Next step\s*Ask the integrator/.test(standing), standing);
  const timeline = await text(page, '.timeline');
  ok('the timeline shows the actor of each step', /by Demo application/.test(timeline) && /by coffer/.test(timeline), timeline);
  await watched.visit(`payments/${stuck}`);
  ok('the step of the provider shows its reference', (await text(page, '.timeline')).includes('Provider reference'));
  ok('each event shows its deliveries', (await text(page, 'main')).includes('attempt'));
}

export async function resolving(watched, world) {
  const { page } = watched;
  await watched.visit(`payments/${world.seeded.stuck}`);
  await page.click('[data-command="payment resolve"]');
  await page.waitForSelector('dialog[open] form');
  const dialog = await text(page, 'dialog[open]');
  ok('the resolve dialog shows payee and amount', /To\s*.+1102|To\s*.*•••• 0077/.test(dialog) && /25(\.00)? ?USDC/.test(dialog), dialog);
  ok('the resolve dialog explains the effect of each result', /stays debited from Treasury/.test(dialog) && /is credited back to Treasury/.test(dialog), dialog);
  const values = await page.evaluate(() =>
    [...document.querySelectorAll('dialog[open] [name=as]')].map((each) => each.value),
  );
  ok('the resolve dialog offers the results as choices', values.join() === 'succeeded,failed,refunded', values.join());
  ok('no result is preselected', (await page.$('dialog[open] [name=as]:checked')) === null);
  await watched.axe('the resolve dialog');
  await watched.shot('resolve');
  await page.check('dialog[open] [value=failed]');
  await page.fill('dialog[open] [name=reason]', 'Bank statement');
  await page.fill('dialog[open] [name=confirmation]', '26');
  await page.click('dialog[open] button[type=submit]');
  ok('a wrong amount does not resolve the payment', (await page.$('dialog[open] form')) !== null);
  const status = await page.evaluate(
    async (id) => (await (await fetch(`api/run/payment/show?ID=${id}`)).json()).data.status,
    world.seeded.stuck,
  );
  ok('the payment is unchanged', status === 'processing', status);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  await watched.quiet('a payment');
}

// --- Lists --------------------------------------------------------------------------------------------

async function rows(page) {
  return page.evaluate(() => document.querySelectorAll('main tbody tr').length);
}

export async function lists(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  const count = await text(page, '.count');
  ok('a list shows the number of shown and of all rows', /^50 of \d+$/.test(count) && Number(count.split(' ')[2]) > 60, count);
  await page.fill('main [name=text]', 'walk-1');
  await page.keyboard.press('Enter');
  ok('a search finds the beginning of a transactionId', await waitFor(page, '.count', '11 of 11'), await text(page, '.count'));
  await page.fill('main [name=text]', '');
  await page.keyboard.press('Enter');
  await waitFor(page, '.count', '50 of');
  await page.selectOption('main select[name=failure]', 'account_closed');
  ok('a filter becomes a chip', await waitFor(page, '.chips', 'Account closed'));
  ok('the reason is below the badge', await waitFor(page, 'main tbody .reason', 'Account closed'));
  await page.click('.chip button');
  await page.waitForSelector('.chips', { state: 'detached' });
  ok('a chip can be removed', !page.url().includes('failure'));
  await page.fill('main [name=text]', 'account_cl');
  await page.keyboard.press('Enter');
  ok('a search also finds a failure code', await waitFor(page, '.chips', 'Account closed'));
  await picking(watched, world);
  await csvAndViews(watched);
}

async function picking(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  await page.click('[data-filters]');
  await page.waitForSelector('dialog.sheet form');
  await watched.axe('the filter sheet');
  const field = page.locator('dialog.sheet input[role=combobox]').first();
  await field.fill('Euro');
  await page.waitForSelector('dialog.sheet [role=option]:has-text("Euro reserve")');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.click('dialog.sheet button[type=submit]');
  ok('a wallet can be chosen by name, with the keyboard', await waitFor(page, '.chips', 'Euro reserve'), await text(page, '.chips'));
  ok('the address has the ID of the wallet', page.url().includes(world.facts.wallets[2].id));
}

async function csvAndViews(watched) {
  const { page } = watched;
  const file = await exported(watched, 'payments?type=offramp');
  const shown = await rows(page);
  const lines = file.text.trim().split('\r\n');
  const cells = await watched.page.evaluate(async () => {
    const { toCsv } = await import('/admin/csv.js');
    const texts = ['=1', '  =1', '\n=1', '\ufeff=1', '\uff1d1', '\u00a0=1', '\u200b\u3000@1', '\t1'];
    const plain = ['-1.50', 'a=1', ' x-1', '付款'];
    const wrong = texts.filter((text) => !/^"?'/.test(toCsv([{ text }]).split('\r\n').slice(1).join('')));
    return [...wrong, ...plain.filter((text) => toCsv([{ text }]) !== `text\r\n${text}\r\n`)];
  });
  ok('no CSV cell is a formula', cells.length === 0, JSON.stringify(cells));
  ok('the CSV has the filtered rows', lines.length === shown + 1, `${lines.length} of ${shown}`);
  ok('the CSV has every field', /transactionId.*failureCode.*sourceName/.test(lines[0]), lines[0]);
  await page.selectOption('select.views', 'save');
  await page.fill('dialog[open] [name=name]', 'My payouts');
  await page.click('dialog[open] button[type=submit]');
  await watched.visit('payments');
  await page.selectOption('select.views', { label: 'My payouts' });
  await page.waitForFunction(() => location.hash.includes('type=offramp'));
  ok('a view is saved', true);
  await page.click('main button:text-is("Columns")');
  await page.uncheck('dialog[open] #column-association');
  await page.check('dialog[open] #column-environment');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('main th:has-text("Environment")');
  const heads = await page.evaluate(() => [...document.querySelectorAll('main th')].map((each) => each.textContent));
  ok('columns can be chosen', heads.includes('Environment') && !heads.includes('Association'), heads.join());
  await page.evaluate(() => localStorage.removeItem('coffer-columns-payment list'));
  await watched.quiet('a list');
}

/** On a phone, a row has two lines, and the filters are in a sheet. */
export async function phoneLists(watched) {
  const { page } = watched;
  await watched.size('narrow');
  await watched.visit('payments');
  const card = await page.evaluate(() => {
    const row = document.querySelector('main tr.record');
    return { height: row.getBoundingClientRect().height, shown: row.innerText };
  });
  ok('a row is a card of two lines', card.height < 90, `${card.height} px`);
  ok('the card has amount and status', /USDC/.test(card.shown) && /Failed|Processing|Succeeded|Refund/.test(card.shown), card.shown);
  await page.click('[data-filters]');
  const box = await page.locator('dialog.sheet').boundingBox();
  ok('the filters are in a sheet at the bottom', box.width >= 358 && box.y > 20, JSON.stringify(box));
  await watched.axe('the filter sheet on a phone');
  await page.keyboard.press('Escape');
  await watched.size('wide');
}

// --- Overview -----------------------------------------------------------------------------------------

export async function overview(watched) {
  const { page } = watched;
  await watched.visit('overview');
  const first = await text(page, 'main section h2');
  ok('the overview begins with what needs attention', first === 'Needs attention', first);
  const attention = await text(page, '.attention');
  ok('each item has a next step', /under review.*Review/.test(attention), attention);
  const steps = await page.evaluate(() =>
    [...document.querySelectorAll('.attention li')].every((row) => row.querySelector('a[href^="#/"]')),
  );
  ok('each next step has a link', steps);
  const today = await text(page, '#today');
  ok('today’s volume and count are next to yesterday’s', /Volume in USDC.*USDC\d+ payments; yesterday/.test(today), today);
  ok('failures are grouped by reason, connector and asset', (await page.$$('main .barlist')).length === 3);
  ok('zero figures are on one line', /^Zero: /.test(await text(page, '.zero')));
  await page.click('main a:text-is("30 days")');
  await page.waitForFunction(() => location.hash.includes('hours=720'));
  ok('a period can be chosen', await waitFor(page, 'main [aria-current=true]', '30 days'));
  await watched.visit(`overview?from=${new Date(Date.now() - 3_600_000).toISOString()}`);
  const spans = await page.evaluate(() => document.querySelectorAll('main svg.chart')[0].querySelectorAll('g').length);
  ok('a period can be entered', spans >= 1 && spans <= 3, String(spans));
  await watched.quiet('the overview');
}

// --- Conventions --------------------------------------------------------------------------------------

export async function manners(watched, world) {
  const { page } = watched;
  await watched.visit('payments');
  const all = await text(page, '.count');
  await page.selectOption('.scope select >> nth=0', 'production');
  ok('one switch sets the environment', await waitFor(page, '#scope-banner', 'Production: payments move real money.'));
  await page.waitForSelector('main .empty');
  ok('the environment applies to every list', (await rows(page)) === 0);
  await watched.axe('with the production banner');
  await watched.shot('production');
  await watched.scheme('dark');
  await watched.axe('with the production banner, in the dark');
  await watched.scheme('light');
  await page.click('#scope-banner button');
  ok('the switch returns to all environments', await waitFor(page, '.count', all.split(' ')[2]), all);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  ok('the key ? lists the shortcuts', /Ctrl K/.test(await text(page, 'dialog[open] table')));
  await watched.axe('the list of shortcuts');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog.palette');
  await watched.axe('the command palette');
  await page.keyboard.type('stat');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash === '#/statements');
  ok('the palette opens a screen', true);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.waitForFunction(() => location.hash === '#/payments');
  await watched.settled();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const at = await page.evaluate(() => [...document.querySelectorAll('tr.record')].indexOf(document.activeElement.closest('tr')));
  ok('the keys g p and j navigate', at === 1, String(at));
  await spelling(watched, world);
}

/** Printed pages are black on white in every theme, without buttons. */
export async function printing(watched, world) {
  const { page } = watched;
  for (const place of [`statements?wallet=${world.facts.wallets[0].id}`, `payments/${world.seeded.paid}`]) {
    await watched.visit(place);
    await page.waitForSelector('main tbody tr');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const seen = await page.evaluate(() => ({
      paper: getComputedStyle(document.querySelector('main .panel')).backgroundColor,
      ink: getComputedStyle(document.querySelector('main h1')).color,
      pressed: [...document.querySelectorAll('button, #menu, #top, .filters')].filter((each) => each.checkVisibility()).length,
      dated: /\d{4}, \d\d:\d\d/.test(document.querySelector('main time').textContent),
    }));
    const wanted = { paper: 'rgb(255, 255, 255)', ink: 'rgb(0, 0, 0)', pressed: 0, dated: true };
    ok(`#/${place.split('?')[0]} prints in black, dated, without buttons`, JSON.stringify(seen) === JSON.stringify(wanted), JSON.stringify(seen));
    await watched.shot(`print ${place}`);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  }
}

/** A printed statement of any length is complete, and a receipt names its payment. */
export async function paper(watched, world) {
  const { page } = watched;
  const { id } = world.facts.wallets[0];
  const onPaper = () =>
    page.evaluate(() => ({
      rows: [...document.querySelectorAll('main tbody tr')].filter((each) => each.checkVisibility()).length,
      text: document.querySelector('main').innerText,
    }));
  await watched.visit(`payments/${world.seeded.paid}`);
  const forOperators = /No action needed|Requests about this payment|next step/i;
  const shown = await onPaper();
  await page.emulateMedia({ media: 'print' });
  const printed = await onPaper();
  ok('a receipt has no texts for operators', forOperators.test(shown.text) && !forOperators.test(printed.text), printed.text);
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => {
    window.printed = 0;
    window.print = () => (window.printed += 1);
  });
  const all = await page.evaluate(async (wallet) => {
    const reply = await fetch(`api/run/wallet/statement?ID=${wallet}&limit=200`);
    return (await reply.json()).data.length;
  }, id);
  await page.route(/limit=200/, (route) => route.abort()); // as if it were longer than a page
  await watched.visit(`statements?wallet=${id}`);
  await page.waitForSelector('main tbody tr');
  await page.emulateMedia({ media: 'print' });
  const cut = await onPaper();
  ok('an incomplete statement is not printed', cut.rows === 0 && /Use the Print button/.test(cut.text), JSON.stringify(cut));
  await page.unroute(/limit=200/);
  await page.emulateMedia({ media: 'screen' });
  await page.click('[data-print]');
  await page.waitForFunction(() => window.printed === 1);
  await page.emulateMedia({ media: 'print' });
  const whole = await onPaper();
  ok('the button prints every entry', all > 60 && whole.rows === all, `${whole.rows} of ${all}`);
  ok('the printed statement has the account of the wallet', /account \w+/.test(whole.text), whole.text.slice(0, 200));
  await watched.shot('print whole statement');
  await page.emulateMedia({ media: 'screen' });
  await watched.visit(`payments/${world.seeded.paid}`);
  await page.emulateMedia({ media: 'print' });
  const receipt = await onPaper();
  ok('a receipt has the ID of its payment', receipt.text.includes(world.seeded.paid), receipt.text.slice(0, 200));
  ok('a receipt has no webhooks', !receipt.text.includes('deliver'), receipt.text);
  await watched.shot('print receipt');
  await page.emulateMedia({ media: 'screen' });
  watched.faults.splice(0); // faults of the aborted request
}

/** No amount has a line break between its digits, however narrow its place is and whatever groups its digits. */
async function unbrokenAmounts(page) {
  const broken = await page.evaluate(async () => {
    const { amount } = await import('/admin/format.js');
    const place = document.createElement('div');
    place.style.width = '3rem';
    document.querySelector('main').append(place);
    const found = [];
    for (const name of ['figure-value', 'members', 'notice', 'soft small', 'scroll long']) {
      for (const group of [',', '.', ' ', '\u00a0', '\u202f', '’']) {
        const shown = document.createElement('div');
        shown.className = name;
        shown.style.overflowWrap = 'anywhere'; // the policy forbids the attribute
        shown.append(amount('922337203685.4775807', 'USDC'));
        const number = shown.querySelector('.number');
        number.textContent = `922${group}337${group}203${group}685.4775807`;
        place.replaceChildren(shown);
        if (number.getClientRects().length !== 1) found.push(`${name} ${group}`);
      }
    }
    place.remove();
    return found;
  });
  ok('amounts never break between digits', broken.length === 0, broken.join());
}

/** Every status has one spelling, and no API member is shown unchanged. */
async function spelling(watched, world) {
  const { page } = watched;
  await watched.visit('payments?limit=200');
  const badges = await page.evaluate(() => [...new Set([...document.querySelectorAll('main .badge')].map((each) => each.textContent))]);
  ok('statuses are words', badges.every((each) => /^[A-Z][a-z]+( [a-z]+)*$/.test(each)), badges.join());
  await watched.visit(`wallets/${world.facts.wallets[0].id}`);
  ok('a wallet shows its recent activity', (await rows(page)) === 10);
  const zone = await text(page, '#menu .zone');
  ok('times show their zone', /GMT/.test(zone), zone);
  const english = await page.evaluate(async () => {
    const files = ['payments', 'payment', 'resolve', 'list', 'overview', 'webhooks', 'wallets', 'filters', 'palette', 'reviews', 'approvals', 'statements', 'connectors', 'operators', 'sandbox', 'alerts', 'tenants', 'market', 'find', 'commands', 'signin', 'account', 'passkeys', 'provider', 'wire', 'qr', 'form', 'record', 'app'];
    const found = [];
    for (const file of files) {
      const source = await (await fetch(`${file}.js`)).text();
      const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      found.push(...(code.match(/'[A-Z][a-z]+ [a-z]+ [a-z ]*[.']/g) || []).map((each) => `${file}: ${each}`));
    }
    return found;
  });
  ok('texts are only in the files of strings', english.length === 0, english.join(' | '));
  await unbrokenAmounts(page);
  await watched.quiet('manners');
}

// --- Webhooks -----------------------------------------------------------------------------------------

export async function webhookTasks(watched, world) {
  const { page } = watched;
  await watched.visit('webhooks');
  ok('webhooks explain which webhook receives a type', (await text(page, 'details.folded')).includes('at most one active webhook'));
  await page.click('main tbody a');
  await watched.settled();
  await page.waitForSelector('main section svg.chart');
  ok('a webhook shows a chart of its latest deliveries', true);
  await page.click('main tbody a');
  await page.waitForSelector('main ol.timeline');
  const attempts = await text(page, 'main ol.timeline');
  ok('a delivery shows every attempt: time, duration, status', /Attempt 1Response 500.*\d ms/.test(attempts), attempts);
  ok('a delivery shows the response', attempts.includes('<script>'));
  const sent = await page.locator('main ol.timeline li details', { hasText: 'Request headers' }).first().textContent();
  ok('a delivery shows the sent headers', /webhook-signature: v1,[\w+/=]{44}/.test(sent) && /X-Webhook-Ts: \d{13}/.test(sent), sent);
  const got = await page.locator('main ol.timeline li details', { hasText: 'Response headers' }).first().textContent();
  ok('a delivery shows the response headers', /X-Answer: /.test(got), got);
  ok('a delivery shows the request', /Request body.*"type"/s.test(await text(page, 'main')));
  await watched.axe('a delivery');
  await watched.shot('delivery');
  await watched.quiet('a delivery');
}

/** The loaded size of the whole page. */
export async function weight(_, world) {
  const watched = await Watched.open(world, 'wide');
  const { page } = watched;
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js')));
  let bytes = 0;
  for (const name of names) {
    const body = await (await fetch(name)).arrayBuffer();
    const { gzipSync } = await import('node:zlib');
    bytes += gzipSync(Buffer.from(body), { level: 6 }).length;
  }
  ok(`all ${names.length} scripts are under 120 KiB compressed`, names.length > 20 && bytes < 120 * 1024, `${bytes} bytes`);
  process.stdout.write(`scripts: ${names.length}, ${bytes} bytes compressed\n`);
  await watched.context.close();
}
