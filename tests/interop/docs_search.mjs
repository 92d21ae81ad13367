// The search of the API reference finds what people type.
import assert from 'node:assert/strict';

import { browser, Element, known, openapi } from './docs_page.mjs';

const GROUPS = ['Guides', 'Operations and events', 'Problems, fields and terms'];
const FIRST = 3;
const box = known.search;

/** The results, in order: {group, href, text, marked}. */
async function search(text) {
  box.value = text;
  await box.listeners.input();
  return known.hits.children.flatMap((group) => [...group.all('a')].map((each) => ({
    group: group.children[0].textContent,
    href: each.attributes.href,
    text: each.textContent,
    marked: [...each.all('mark')].map(({ textContent }) => textContent.toLowerCase()),
  })));
}

/** The addresses of the first results of each group. */
async function first(text) {
  const hits = await search(text);
  return GROUPS.flatMap((title) => hits.filter(({ group }) => group === title).slice(0, FIRST).map(({ href }) => href));
}

// A search that cannot read a guide says so, and the next one works.
const { fetch } = browser;
browser.fetch = () => Promise.reject(new Error('no connection'));
await search('refund');
assert.equal(known.found.textContent, 'The search failed: no connection. Type again to repeat it.');
browser.fetch = fetch;

// What people type, and what has to be among the first three of its group.
const guide = (place) => `/docs/guides/${place}`;
const TABLE = [
  ['refund', guide('contract#refunds'), '#event-payment.refunded', '#term-refund'],
  ['refunded', guide('contract#refunds'), '#event-payment.refunded', '#term-refund'],
  ['how do I get a refund', guide('contract#refunds')],
  ['retry', guide('webhooks#failed-deliveries'), '#resendDelivery'],
  ['retries', guide('webhooks#failed-deliveries')],
  ['how do webhook retries work', guide('webhooks#failed-deliveries')],
  ['dead letter', guide('webhooks#failed-deliveries'), '#term-delivery'],
  ['signature', guide('webhooks#verify'), '#rotateWebhookSecret'],
  ['verify webhook signature', guide('webhooks#verify')],
  ['signing', guide('provider-protocol#signatures'), '#rotateWebhookSecret'],
  ['error codes', guide('contract#errors'), guide('integrator-guide#errors')],
  ['errors', guide('contract#errors'), guide('integrator-guide#errors')],
  ['422', '/problems/validation-failed'],
  ['insufficient funds', '/problems/insufficient-funds'],
  ['trustline_missing', '/problems/trustline-missing'],
  ['trustline missing', '/problems/trustline-missing', '#term-trustline'],
  ['expired quote', guide('contract#quotes'), '/problems/quote-expired'],
  ['rate limit', guide('contract#rate-limits'), '/problems/rate-limited'],
  ['too many requests', guide('contract#rate-limits'), '/problems/rate-limited'],
  ['idempotency', guide('integrator-guide#idempotency'), '#term-idempotency'],
  ['duplicate payment', guide('integrator-guide#idempotency'), '/problems/transaction-id-conflict'],
  ['cashing out', guide('integrator-guide#off-ramp'), '#executeOfframp', '#term-off-ramp'],
  ['payout', guide('integrator-guide#off-ramp'), '#executeOfframp', '#term-off-ramp'],
  ['off ramp', guide('contract#off-ramp'), '#executeOfframp'],
  ['offramp', guide('contract#off-ramp'), '#executeOfframp'],
  ['withdrawals', guide('integrator-guide#off-ramp'), '#executeOfframp'],
  ['deposit', guide('integrator-guide#on-ramp'), '#executeOnramp'],
  ['mpesa', guide('contract#destinations')],
  ['mobile money', guide('contract#destinations')],
  ['pagination', guide('contract#collections'), '/problems/invalid-cursor'],
  ['exchange rate', guide('integrator-guide#swap'), '#term-swap'],
  ['payment status', guide('contract#transaction-records')],
  ['rotate secret', guide('webhooks#rotate-the-secret'), '#rotateWebhookSecret'],
  ['login', guide('contract#authentication'), '#createToken'],
  ['access token', '#createToken'],
  ['scopes', guide('contract#scopes'), '/problems/insufficient-scope'],
  ['webhook', guide('webhooks'), '#term-webhook'],
  ['web hook', guide('contract#webhooks')],
  ['missed events', guide('webhooks#reading-missed-events')],
  ['local development', guide('webhooks#local-development')],
  ['python consumer', guide('webhooks#python')],
  ['payment.succeeded', '#event-payment.succeeded'],
  ['create wallet', guide('contract#wallets'), '#createWallet'],
  ['add beneficiary', guide('contract#beneficiaries'), '#createBeneficiary'],
  ['bulk beneficiaries', '#createBeneficiaries'],
  ['kyc', guide('sandbox#third-party-wallets-the-name'), '/problems/wallet-not-verified'],
  ['statement', guide('contract#statements'), '#getStatement', '#term-statement'],
  ['export csv', guide('integrator-guide#statements'), '#getStatementCsv'],
  ['decimal places', guide('contract#amounts'), '/problems/amount-precision'],
  ['minReceivingAmount', guide('contract#swaps'), '#swapToBeneficiary'],
  ['transactionId', guide('integrator-guide#idempotency'), '#payBeneficiary'],
  ['getTransaction', '#getTransaction'],
  ['POST /v1/quotes', '#createQuote'],
  ['/v1/wallets', '#listWallets', '#createWallet'],
  ['x-svc-auth', guide('integrator-guide#authentication'), '/problems/unauthorized'],
  ['go live', guide('integrator-guide#going-live')],
  ['test data', guide('sandbox#sandbox-only-routes'), '#testWebhook'],
  ['simulate failure', '#sandboxFailTransaction'],
  ['swagger', '#getOpenApi'],
  ['backup', guide('operating#backup')],
  ['upgrade', guide('install#upgrading')],
  ['payments per second', guide('scaling#1000-and-1000000-payments-per-second')],
  ['many ledgers', guide('scaling#many-ledgers')],
  ['two machines', guide('operating#two-machines')],
  ['prometheus', guide('operating#metrics')],
  ['ssl certificate', guide('tls#tls-in-coffer')],
  ['docker', guide('install#container')],
  ['refu', guide('contract#refunds'), '#term-refund'],
];
const missing = [];
for (const [text, ...wanted] of TABLE) {
  const found = await first(text);
  for (const href of wanted) if (!found.includes(href)) missing.push(`${text}: ${href} is not among ${found.join(' ')}`);
}
assert.deepEqual(missing, []);
// Control: a wrong expectation is not met.
assert.ok(!(await first('refund')).includes('#getStatementCsv'));

// Every operation is found by its address and its name, and every problem by its slug.
const ids = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`]));
for (const [id, address] of ids) {
  for (const text of [id, address]) assert.equal((await search(text)).find(({ group }) => group === GROUPS[1])?.href, `#${id}`, text);
}
const slugs = Object.values(openapi.components.examples).map(({ value }) => /^urn:coffer:problem:(.+)$/.exec(value.type)?.[1]);
for (const slug of slugs.filter(Boolean)) {
  assert.equal((await search(slug)).find(({ group }) => group === GROUPS[2])?.href, `/problems/${slug}`, slug);
}

// Guides come first; for an address or a name of the API, what has it does. Snippets mark what was found, with stems and related words.
const order = (hits) => [...new Set(hits.map(({ group }) => group))];
const refunds = await search('refunds');
assert.deepEqual(order(refunds), GROUPS);
assert.ok(refunds.every(({ marked }) => marked.some((word) => /refund|revers/.test(word))), JSON.stringify(refunds.map(({ marked }) => marked)));
assert.equal(known.found.textContent, `${refunds.length} results for "refunds"`);
for (const text of ['POST /v1/quotes', '/v1/quotes', 'createQuote', 'payment.refunded']) assert.equal(order(await search(text))[0], GROUPS[1], text);
for (const text of ['trustline-missing', 'minReceivingAmount']) assert.equal(order(await search(text))[0], GROUPS[2], text);
assert.equal(order(await search('off-ramp'))[0], GROUPS[0]);
assert.ok((await search('cashing out')).every(({ marked }) => !marked.includes('on-ramp')));
assert.ok((await search('cashing out'))[0].marked.some((word) => /off-ramp|payout/.test(word)));
for (const { text } of refunds) assert.ok(text.length < 400 && !/[`|]|\]\(/.test(text), text);
// All words count more than some.
const verified = await search('wallet review sandbox');
assert.match(verified[0].href, /sandbox/);

// The keyboard: arrows choose, Enter follows, Escape ends. The text keeps the focus.
const press = (key) => {
  let prevented = false;
  box.listeners.keydown({ key, preventDefault: () => { prevented = true; } });
  return prevented;
};
const selected = () => [...known.hits.all('a')].filter((each) => each.attributes['aria-selected'] === 'true').map(({ id }) => id);
const hits = await search('refund');
assert.equal(box.attributes['aria-expanded'], 'true');
assert.equal(known.hits.hidden, false);
assert.deepEqual(selected(), []);
assert.ok(press('ArrowDown') && press('ArrowDown') && !press('ArrowLeft'));
assert.deepEqual(selected(), ['hit-1']);
assert.equal(box.attributes['aria-activedescendant'], 'hit-1');
press('Enter');
assert.equal(Element.clicked, hits[1].href);
press('ArrowUp');
press('ArrowUp');
assert.deepEqual(selected(), [`hit-${hits.length - 1}`]);
press('Escape');
await new Promise((resolve) => setTimeout(resolve, 0));
assert.deepEqual([box.value, known.hits.hidden, box.attributes['aria-expanded'], known.found.textContent], ['', true, 'false', '']);

// Without a result, the page offers other words.
const offered = () => [...known.offers.all('button')].map((each) => each.textContent);
assert.deepEqual(await search('zzqx'), []);
assert.equal(known.found.textContent, 'No results for "zzqx"');
assert.deepEqual(offered(), ['refund', 'webhook signature', 'error codes']);
for (const text of offered()) assert.ok((await search(text)).length > FIRST, text);
await search('wbehook signatrue');
assert.deepEqual(offered(), ['webhook signature']);
[...known.offers.all('button')][0].click();
await new Promise((resolve) => setTimeout(resolve, 0));
assert.equal(box.value, 'webhook signature');
assert.equal(known.hits.hidden, false);
await search('refund');
assert.deepEqual(offered(), []);

console.log(`${TABLE.length} questions, ${ids.length} operations and ${slugs.length} examples of problems found`);
