// The forms of all commands, by rules that follow from the table of commands; and what an operator creates with them: a
// connector in three steps, a wallet, a beneficiary with a destination, and a payment with its quote.

import { ok } from './judge.mjs';
import { run } from './lists.mjs';

const FORM_RULES = ['label', 'select-name', 'button-name', 'aria-dialog-name', 'duplicate-id-aria', 'color-contrast'];
const SCREEN = 900; // pixels

/** Runs in the page: the form of a command against the rules. */
async function judgeForm([command, rules, limit]) {
  const wait = (check) =>
    new Promise((resolve) => {
      const began = Date.now();
      const look = () => (check() || Date.now() - began > 3000 ? resolve() : setTimeout(look, 15));
      look();
    });
  document.querySelector(`main [data-command="${command}"]`).click();
  const dialog = document.querySelector('dialog[open]');
  // Choices arrive from the server.
  await wait(() => ![...dialog.querySelectorAll('select')].some((each) => each.dataset.loading !== undefined));
  const found = [];
  const say = (text) => found.push(`${command}: ${text}`);
  const inWords = (text) => /^[A-Z0-9“]/.test(text) && !/_|\b[A-Z]{2}[A-Z]*_|--/.test(text) && (!/^[A-Z]{4,}$/.test(text) || ['IBAN', 'JSON'].includes(text));
  for (const label of dialog.querySelectorAll('form .field > label, form legend')) {
    const text = label.firstChild.textContent.trim();
    if (!inWords(text)) say(`the label “${text}” is not in words`);
  }
  for (const option of dialog.querySelectorAll('form option')) {
    const isCode = option.closest('select').dataset.list === undefined && option.value !== '';
    if (isCode && !/^\dxx$/.test(option.value) && !inWords(option.textContent)) {
      say(`the choice “${option.value}” has no words`);
    }
  }
  const steps = [...dialog.querySelectorAll('.step')];
  for (const step of steps) {
    steps.forEach((each) => (each.hidden = each !== step));
    const height = dialog.scrollHeight + dialog.offsetHeight - dialog.clientHeight;
    if (height > limit - 32) say(`step ${step.dataset.step} is ${height} pixels high`);
    const shown = [...step.querySelectorAll(':scope > .fields > .field:not([hidden])')];
    const needs = shown.map((field) => Boolean(field.querySelector('[required]')) || (!field.querySelector(':is(label, legend) .soft') && !field.classList.contains('toggle')));
    if (needs.includes(false) && needs.lastIndexOf(true) > needs.indexOf(false)) say('a required field follows an optional one');
    const rare = step.querySelector('.more');
    if (rare && rare.querySelector('.field [required]')) say('a required field is under More');
  }
  const result = await window.axe.run('dialog[open]', { runOnly: { type: 'rule', values: rules }, resultTypes: ['violations'] });
  found.push(...result.violations.map((each) => `${command}: ${each.id} ${each.nodes[0].target}`));
  dialog.querySelector('.row.end button.quiet').click();
  if (document.querySelector('dialog[open]')) say('stays open');
  return { found, fields: dialog.querySelectorAll('.field').length, steps: steps.length };
}

export async function forms(watched) {
  const { page } = watched;
  await watched.visit('commands');
  await watched.loadAxe();
  const commands = await page.evaluate(() =>
    [...document.querySelectorAll('main [data-command]')].map((each) => each.dataset.command),
  );
  ok('all commands are listed', commands.length > 50, String(commands.length));
  const faults = [];
  let fields = 0;
  for (const command of commands) {
    const judged = await page.evaluate(judgeForm, [command, FORM_RULES, SCREEN]);
    faults.push(...judged.found);
    fields += judged.fields;
  }
  ok('each form has words, required fields first, fits 900 pixels, and passes axe', faults.length === 0, faults.join(' | '));
  ok('the forms have the fields of the table', fields > 200, String(fields));
  const control = await page.evaluate(judgeForm, ['connector add', FORM_RULES, 200]);
  ok('control: a form that is too high is detected', control.found.length > 0);
  await watched.quiet('the forms of all commands');
}

const inDialog = (page, selector) => page.locator(`dialog[open] ${selector}`);

/** Types into a field with a list of objects, and takes the first. */
export async function pick(page, name, text) {
  const field = inDialog(page, `.field:has([name="${name}"]) input[role=combobox]`);
  await field.fill(text);
  await page.waitForSelector(`dialog[open] [role=option]:has-text("${text}")`);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

export async function choose(page, name, text) {
  const select = inDialog(page, `select[name="${name}"]`);
  await page.waitForSelector(`dialog[open] select[name="${name}"] option:has-text("${text}")`, { state: 'attached' });
  const value = await select.evaluate((element, wanted) => [...element.options].find((each) => each.textContent.includes(wanted)).value, text);
  await select.selectOption(value);
}

export async function stage(page, wanted) {
  await page.click('dialog[open] button[type=submit]');
  await page.waitForFunction(
    (to) => {
      const form = document.querySelector('dialog[open] form');
      return (form && form.dataset.stage === to) || document.querySelector('dialog[open] :is(.notice.bad, .field-error)');
    },
    String(wanted),
  );
}

const shown = (page) => inDialog(page, 'form').innerText();
export const fault = (page) => page.evaluate(() => [...document.querySelectorAll('dialog[open] :is(.notice.bad, .field-error)')].map((each) => each.textContent).join(' '));

async function connector(watched) {
  const { page } = watched;
  await watched.visit('connectors');
  await page.click('main [data-command="connector add"]');
  await page.waitForSelector('dialog[open] form');
  ok('adding a connector has three steps', /Step 1 of 3: Provider/.test(await shown(page)), await shown(page));
  ok('the URL of a provider is hidden until it is needed', !(await inDialog(page, '[name=base-url]').isVisible()));
  await choose(page, 'driver', 'Calls the provider');
  ok('the URL of a provider appears with the driver', await inDialog(page, '[name=base-url]').isVisible());
  await choose(page, 'driver', 'Simulated');
  await page.fill('dialog[open] [name=NAME]', 'Walked connector');
  await watched.axe('adding a connector, step 1');
  await watched.shot('connector step 1');
  await stage(page, 1);
  await choose(page, 'country', 'Kenya');
  await choose(page, 'currency', 'Kenyan Shilling');
  await choose(page, 'asset', 'USDC');
  await watched.axe('adding a connector, step 2');
  await watched.shot('connector step 2');
  await stage(page, 2);
  await page.fill('dialog[open] [name=min]', '1');
  await page.fill('dialog[open] [name=max]', '1000');
  await page.fill('dialog[open] [name=rate]', '129.50x');
  await watched.axe('adding a connector, step 3');
  await watched.shot('connector step 3');
  await stage(page, 'preview');
  const wrong = await page.textContent('dialog[open] .field:has([name=rate]) .field-error');
  ok('a wrong rate is reported at its field', /Not a number/.test(wrong), wrong);
  await page.fill('dialog[open] [name=rate]', '129.50');
  await stage(page, 'preview');
  const price = await shown(page);
  ok('the last step shows the price of a payment', /12950(\.00)? KES|12,950(\.00)? KES/.test(price), price + (await fault(page)));
  await watched.axe('the preview of a connector');
  await watched.shot('connector preview');
  const before = await page.evaluate(async () => (await (await fetch('api/run/connector/list')).json()).data.length);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .row.end button');
  const after = await page.evaluate(async () => (await (await fetch('api/run/connector/list')).json()).data.length);
  ok('the connector is added only after its preview', after === before + 1, `${before} ${after}`);
}

/** A command that changes given values starts with the present ones, and sends those that differ. */
async function present(watched) {
  const { page } = watched;
  await watched.visit('connectors');
  await page.click('main tbody a:has-text("Walked connector")');
  await watched.settled();
  const open = async () => {
    await page.click('main [data-command="connector limits"]');
    await page.waitForFunction(() => (document.querySelector('dialog[open] [name=max]') || {}).value);
  };
  await open();
  const max = await page.inputValue('dialog[open] [name=max]');
  ok('a form starts with the present values', /^1,000(\.00)?$/.test(max), max);
  await page.fill('dialog[open] [name=day-limit]', '500');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  await page.waitForFunction(() => /500/.test(document.querySelector('main').textContent));
  await open();
  await page.waitForFunction(() => Number(document.querySelector('dialog[open] [name=day-limit]').value) === 500);
  await page.fill('dialog[open] [name=day-limit]', '');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  const audit = await page.evaluate(async () => (await (await fetch('api/run/audit/list?limit=2&command=connector%20limits')).json()).data);
  ok('only what differs is sent, and an emptied field removes its value', audit.length === 2 && /no-day-limit/.test(audit[0].arguments) && !/max/.test(audit[0].arguments), JSON.stringify(audit));
}

const becomes = (page, name, wanted) =>
  page
    .waitForFunction(([at, value]) => document.querySelector(`dialog[open] [name="${at}"]`).value === value, [name, wanted], { timeout: 5000 })
    .then(
      () => true,
      () => false,
    );
const sentLast = (page, command) =>
  page.evaluate(async (name) => (await (await fetch(`api/run/audit/list?limit=1&command=${encodeURIComponent(name)}`)).json()).data[0].arguments, command);

/** A fee, limit, rate, quota or mapping that several choices name together. */
async function presentOfSeveral(watched, { facts }) {
  const { page } = watched;
  const connectors = await page.evaluate(async () => (await (await fetch('api/run/connector/list')).json()).data);
  const CONNECTOR = connectors.find(({ name }) => name === 'Walked connector').id;
  const wallet = facts.wallets[0].id;
  await run(watched, 'fee set', { ASSOCIATION: facts.associationId, CONNECTOR, TYPE: 'B2C', 'fee-fixed': '0.25', 'fee-bps': '30' });
  await run(watched, 'limit set', { association: facts.associationId, environment: 'production', asset: 'EURC', 'per-day': '700' });
  await run(watched, 'limit set', { wallet, asset: 'EURC', 'per-day': '90', 'count-per-day': '7' });
  await run(watched, 'reconcile map', { NAME: 'walked', columns: 'bookingDate=Date,amount=Sum,currency==KES,account==KE1', separator: ';' });
  const open = async (command) => {
    await watched.visit('commands');
    await page.click(`main [data-command="${command}"]`);
    await page.waitForSelector('dialog[open] form');
  };
  const send = async () => {
    await page.click('dialog[open] button[type=submit]');
    await page.waitForSelector('dialog[open] .notice.good');
    await page.click('dialog[open] .row.end button');
  };

  await open('fee set');
  await choose(page, 'ASSOCIATION', 'Demo');
  await choose(page, 'CONNECTOR', 'Walked connector');
  await choose(page, 'TYPE', 'Business to consumer');
  ok('a fee is filled in once its three choices are made', (await becomes(page, 'fee-fixed', '0.25')) && (await becomes(page, 'fee-bps', '30')), await page.inputValue('dialog[open] [name=fee-fixed]'));
  await watched.axe('the form of a fee');
  await choose(page, 'TYPE', 'Business to business');
  ok('it is emptied for a type without a fee', await becomes(page, 'fee-fixed', ''));
  await choose(page, 'TYPE', 'Business to consumer');
  await becomes(page, 'fee-bps', '30');
  await page.fill('dialog[open] [name=fee-bps]', '40');
  await send();
  const fee = await sentLast(page, 'fee set');
  ok('only the part that differs is sent', /"fee-bps":"40"/.test(fee) && !/fee-fixed/.test(fee), fee);

  await open('limit set');
  await pick(page, 'wallet', facts.wallets[0].name);
  await choose(page, 'asset', 'EURC');
  ok('a limit is filled in', (await becomes(page, 'per-day', '90.00')) || (await becomes(page, 'per-day', '90')), await page.inputValue('dialog[open] [name=per-day]'));
  await page.fill('dialog[open] [name=count-per-day]', '');
  await page.fill('dialog[open] [name=per-month]', '800');
  await watched.axe('the form of a limit');
  await send();
  const limit = await sentLast(page, 'limit set');
  ok('an emptied limit is removed', /"no-count-per-day":"true"/.test(limit) && /"per-month":"800"/.test(limit), limit);
  await open('limit set');
  await choose(page, 'association', 'Demo');
  await choose(page, 'asset', 'EURC');
  await page.waitForTimeout(300);
  ok('the limit of production is not offered for the sandbox', (await page.inputValue('dialog[open] [name=per-day]')) === '');
  await choose(page, 'environment', 'Production');
  ok('it is, once production is chosen', /^700/.test(((await becomes(page, 'per-day', '700.00')), await page.inputValue('dialog[open] [name=per-day]'))));
  await page.keyboard.press('Escape');

  const rates = await page.evaluate(async () => (await (await fetch('api/run/rate/list?environment=sandbox')).json()).data);
  await open('rate set');
  await choose(page, 'SELL', rates[0].sellAssetCode);
  await choose(page, 'BUY', rates[0].buyAssetCode);
  ok('an exchange rate is filled in', await becomes(page, 'RATE', String(rates[0].rate)), await page.inputValue('dialog[open] [name=RATE]'));
  await page.keyboard.press('Escape');

  const quotas = await page.evaluate(async (of) => (await (await fetch(`api/run/association/quotas?association=${of}&environment=sandbox`)).json()).data, facts.associationId);
  await open('association set-quota');
  await choose(page, 'ID', 'Demo');
  await page.selectOption('dialog[open] [name=QUOTA]', quotas[1].quota);
  ok('a quota is filled in', await becomes(page, 'LIMIT', quotas[1].limit), await page.inputValue('dialog[open] [name=LIMIT]'));
  await page.keyboard.press('Escape');

  await open('reconcile map');
  await page.fill('dialog[open] [name=NAME]', 'walked');
  await page.keyboard.press('Tab');
  ok('a mapping is filled in', (await becomes(page, 'separator', ';')) && /amount=Sum/.test(await page.inputValue('dialog[open] [name=columns]')));
  await page.keyboard.press('Escape');
  await run(watched, 'fee remove', { ASSOCIATION: facts.associationId, CONNECTOR, TYPE: 'B2C' });
  await run(watched, 'limit remove', { wallet, asset: 'EURC' });
  await run(watched, 'limit remove', { association: facts.associationId, environment: 'production', asset: 'EURC' });
}

async function wallet(watched) {
  const { page } = watched;
  await watched.visit('wallets');
  await page.click('main [data-command="wallet create"]');
  await page.waitForSelector('dialog[open] form');
  ok('details of a person are hidden until they are needed', !(await inDialog(page, '[name=first-name]').isVisible()));
  await page.fill('dialog[open] [name=NAME]', 'Walked wallet');
  await choose(page, 'asset', 'USDC');
  await choose(page, 'association', 'Demo');
  await choose(page, 'holder', 'A person');
  ok('they appear with the choice', await inDialog(page, '[name=first-name]').isVisible());
  await watched.axe('creating a wallet of a person');
  await watched.shot('wallet create');
  await choose(page, 'holder', 'The customer');
  await stage(page, 'preview');
  ok('the preview of a wallet has its status', /Verified/.test(await shown(page)), (await shown(page)) + (await fault(page)));
  await watched.axe('the preview of a wallet');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .row.end button');
  await page.waitForSelector('main tbody:has-text("Walked wallet")');
  ok('a wallet is created', true);
}

async function beneficiary(watched) {
  const { page } = watched;
  await watched.visit('beneficiaries');
  await page.click('main [data-command="beneficiary create"]');
  await page.waitForSelector('dialog[open] form');
  await page.fill('dialog[open] [name=first-name]', 'Amina');
  await page.fill('dialog[open] [name=last-name]', 'Walker');
  await choose(page, 'association', 'Demo');
  await watched.axe('creating a beneficiary, step 1');
  await watched.shot('beneficiary step 1');
  await stage(page, 1);
  await choose(page, 'country', 'Kenya');
  await choose(page, 'currency', 'Kenyan Shilling');
  await page.evaluate(() => document.querySelectorAll('dialog[open] .step:not([hidden]) .more').forEach((each) => (each.open = true)));
  await page.fill('dialog[open] [name=account-name]', 'Amina Walker');
  await stage(page, 'preview');
  const missing = await fault(page);
  ok('a missing account number is reported at a field', /account/i.test(missing), missing);
  await page.fill('dialog[open] [name=account-number]', '0110555678');
  await watched.axe('creating a beneficiary, step 2');
  await watched.shot('beneficiary step 2');
  await stage(page, 'preview');
  ok('the preview of a beneficiary has its destination', /0110555678/.test(await shown(page)), (await shown(page)) + (await fault(page)));
  await watched.axe('the preview of a beneficiary');
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .row.end button');
  await page.waitForSelector('main tbody:has-text("Amina Walker")');
  await page.click('main tbody a:has-text("Amina Walker")');
  await watched.settled();
}

/** Objects of another association are not offered once an application is chosen. */
async function narrowed(watched) {
  const { page } = watched;
  const field = inDialog(page, '.field:has([name=wallet]) input[role=combobox]');
  await field.fill('Elsewhere');
  await page.waitForSelector('dialog[open] [role=option]');
  const found = await inDialog(page, '[role=option]').allTextContents();
  ok('wallets of another association are not offered', found.length === 1 && !/Elsewhere/.test(found[0]), found.join(' | '));
  await choose(page, 'application', 'Application elsewhere');
  await field.fill('');
  await pick(page, 'wallet', 'Elsewhere');
  ok('they are for its application', true);
  await choose(page, 'application', 'Demo application');
}

/** Another association with an application, a wallet, and a connector of production. */
async function elsewhere(watched) {
  const { id } = await run(watched, 'association create', { NAME: 'Another customer' });
  await run(watched, 'application register', { name: 'Application elsewhere', association: id });
  await run(watched, 'wallet create', { NAME: 'Elsewhere', asset: 'USDC', association: id });
  const terms = { driver: 'http', 'base-url': 'https://93.184.216.34', method: 'BANK', country: 'KE', currency: 'KES', asset: 'USDC', min: '1', max: '9' };
  await run(watched, 'connector add', { NAME: 'Elsewhere payout', environment: 'production', ...terms });
}

async function payment(watched) {
  const { page } = watched;
  await page.click('main [data-command="payment create"]');
  await page.waitForSelector('dialog[open] form');
  await page.waitForFunction(() => /Amina Walker/.test((document.querySelector('dialog[open] .field:has([name=beneficiary]) input[role=combobox]') || {}).value));
  ok('paying a beneficiary fills it in', true);
  await choose(page, 'application', 'Demo application');
  await narrowed(watched);
  await pick(page, 'wallet', 'Treasury');
  await page.evaluate(() => document.querySelectorAll('dialog[open] .step:not([hidden]) .more').forEach((each) => (each.open = true)));
  await choose(page, 'destination', '0110555678');
  await watched.axe('creating a payment, step 1');
  await watched.shot('payment step 1');
  await stage(page, 1);
  const offered = await inDialog(page, 'select[name=connector] option').allTextContents();
  ok('only connectors of payouts in the environment are offered', offered.some((each) => /Kenya bank payout/.test(each)) && !offered.some((each) => /collection|Elsewhere/.test(each)), offered.join(' | '));
  ok('a transaction ID is proposed', /^OP-\d{4}-/.test(await page.inputValue('dialog[open] [name=transaction-id]')));
  await choose(page, 'connector', 'Kenya bank payout');
  await page.fill('dialog[open] [name=amount]', '25');
  await choose(page, 'purpose', 'Wages and salaries');
  await choose(page, 'source-of-funds', 'Income of a business');
  await choose(page, 'relationship', 'Employee');
  await watched.axe('creating a payment, step 2');
  await watched.shot('payment step 2');
  await stage(page, 'preview');
  const price = await shown(page);
  ok('the preview of a payment has fee, total and what the recipient gets', /Fee/.test(price) && /Total/.test(price) && /KES/.test(price), price + (await fault(page)));
  await watched.axe('the preview of a payment');
  await watched.shot('payment preview');
  const quote = await page.evaluate(() => document.querySelector('dialog[open] form').innerText.match(/[0-9a-f]{8}/)?.[0]);
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .row.end button');
  const listed = await page.evaluate(async () => (await (await fetch('api/run/payment/list?text=OP-&limit=5')).json()).data);
  ok('the payment is accepted once', listed.length === 1, JSON.stringify(listed.map((each) => each.transactionId)));
  const whole = await page.evaluate(async (id) => (await (await fetch(`api/run/payment/show?ID=${id}`)).json()).data, listed[0].id);
  ok('it has the quote of the preview', Boolean(quote) && whole.quoteId.startsWith(quote), `${quote} ${whole.quoteId}`);
}

async function reversal(watched, { seeded }) {
  const { page } = watched;
  await watched.visit(`payments/${seeded.payment}`);
  await page.click('main [data-command="payment reverse"]');
  await page.waitForSelector('dialog[open] form');
  await page.fill('dialog[open] [name=reason]', 'Paid twice');
  await stage(page, 'preview');
  ok('the preview of a reversal has the amount', /1\.50/.test(await shown(page)), (await shown(page)) + (await fault(page)));
  await watched.axe('the preview of a reversal');
  await watched.shot('reversal preview');
  const status = () => page.evaluate(async (id) => (await (await fetch(`api/run/payment/show?ID=${id}`)).json()).data.status, seeded.payment);
  ok('a preview moves nothing', (await status()) === 'succeeded', await status());
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  ok('the payment is reversed', (await status()) === 'refunded', await status());
}

/** An application that is registered on the page of an association belongs to it. */
async function registering(watched, { facts }) {
  const { page } = watched;
  await watched.visit(`associations/${facts.associationId}`);
  await page.locator('main [data-command="application register"]').first().click();
  await page.waitForSelector('dialog[open] [name=association]:not([data-loading])', { state: 'attached' });
  const chosen = await page.evaluate(() => document.querySelector('dialog[open] [name=association]').selectedOptions[0].textContent);
  ok('registering an application keeps the association', /Demo/.test(chosen), chosen);
  await watched.axe('registering an application');
  await page.keyboard.press('Escape');
}

export async function creating(watched, world) {
  await registering(watched, world);
  await connector(watched);
  await present(watched);
  await presentOfSeveral(watched, world);
  await elsewhere(watched);
  await wallet(watched);
  await beneficiary(watched);
  await payment(watched);
  await reversal(watched, world);
  await watched.quiet('creating');
}

