// provider_protocol.mjs <coffer> <docs> <scratch>: judges the documents of the provider protocol and
// the simulated provider with nothing of coffer's own: signatures by node, shapes by ajv.
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const [binary, docs, scratch] = process.argv.slice(2);
const document = JSON.parse(readFileSync(`${docs}/provider-openapi.json`, 'utf8'));
const page = readFileSync(`${docs}/provider-protocol.md`, 'utf8');
const secret = 'interop-secret';

let failures = 0;
const check = (what, good) => {
  console.log(`${good ? 'ok      ' : 'FAILED  '} ${what}`);
  if (!good) failures += 1;
};
const deadline = setTimeout(() => {
  console.error('FAILED   it hangs');
  process.exit(1);
}, 120_000);

// --- Shapes -------------------------------------------------------------------------------------

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ $id: 'doc', components: document.components });
const inDocument = (schema) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc#/components'));
/** What is wrong with `value`, or null. */
const faultOf = (schema, value) => {
  const validate = ajv.compile(inDocument(schema));
  return validate(value) ? null : ajv.errorsText(validate.errors);
};
const schemaFault = (name, value) => faultOf({ $ref: `#/components/schemas/${name}` }, value);

const operations = [...Object.entries(document.paths), ...Object.entries(document.webhooks)].flatMap(
  ([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, operation })));

const judgeExamples = () => {
  const seen = [];
  for (const { path, method, operation } of operations) {
    const contents = [operation.requestBody, ...Object.values(operation.responses)]
      .map((part) => part?.content?.['application/json']).filter(Boolean);
    for (const content of contents) {
      const values = content.examples
        ? Object.values(content.examples).map((example) => example.value) : [content.example];
      for (const value of values) seen.push([`${method} ${path}`, faultOf(content.schema, value)]);
    }
  }
  const wrong = seen.filter(([, fault]) => fault);
  check(`${seen.length} examples have the documented shape ${wrong.join(' ')}`, wrong.length === 0);
  check('a payout that failed for no reason is found', schemaFault('Payout',
    { id: randomUUID(), status: 'failed' }) !== null);
  check('an amount that is a number is found', schemaFault('Quote',
    { sendAmount: 1, receiveAmount: '1', rate: '1', fee: '0' }) !== null);
};

// --- Signatures ---------------------------------------------------------------------------------

const signatureOf = (key, timestamp, method, path, body) =>
  `v1=${createHmac('sha256', key).update(`${timestamp}.${method}.${path}.${body}`).digest('hex')}`;

const judgeSignedExamples = () => {
  const blocks = [...page.matchAll(
    /secret: {4}(.*)\ntimestamp: (.*)\nmethod: {4}(.*)\npath: {6}(.*)\nbody: {6}(.*)\nsignature: (.*)\n/g)];
  check('the page has three signed examples', blocks.length === 3);
  for (const [, key, timestamp, method, path, shown, signature] of blocks) {
    const body = shown === '(empty)' ? '' : shown;
    check(`the signature of ${method} ${path} is right`,
      signatureOf(key, timestamp, method, path, body) === signature);
    if (body === '') continue;
    const name = path === '/payouts' ? 'NewPayout' : 'Callback';
    check('and its body has the documented shape', schemaFault(name, JSON.parse(body)) === null);
  }
};

// --- The simulated provider ---------------------------------------------------------------------

const callbacks = [];
const coffer = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => {
    callbacks.push({ path: request.url, headers: request.headers, body });
    response.writeHead(204).end();
  });
});

let provider;
let base;
const start = async () => {
  provider = spawn(binary, ['provider-sim', '--listen', '127.0.0.1:0', '--secret', secret, '--db',
    `${scratch}/provider.ndjson`, '--callback', `http://127.0.0.1:${coffer.address().port}`, '--json'],
  { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: provider.stdout }), 'line');
  base = JSON.parse(line).url;
};
const stop = async (signal) => {
  provider.kill(signal);
  const [code] = await once(provider, 'exit');
  return code;
};

/** One signed call, judged by the document. */
const call = async (method, path, body, { key = secret, skew = 0 } = {}) => {
  const text = body === undefined ? '' : JSON.stringify(body);
  const timestamp = Math.floor(Date.now() / 1000) + skew;
  const response = await fetch(base + path, {
    method,
    body: text === '' ? undefined : text,
    redirect: 'manual',
    headers: {
      'Coffer-Timestamp': String(timestamp),
      'Coffer-Signature': signatureOf(key, timestamp, method, path.split('?')[0], text),
      'Content-Type': 'application/json',
    },
  });
  const answer = JSON.parse(await response.text());
  const pattern = path.split('?')[0].replace(/[0-9a-f-]{36}/, '{id}');
  const documented = document.paths[pattern]?.[method.toLowerCase()]?.responses[response.status];
  const fault = documented
    ? faultOf(documented.content['application/json'].schema, answer) : 'no such status';
  if (fault) check(`${method} ${path} ${response.status} is as documented: ${fault}`, false);
  return { status: response.status, answer };
};
const exampleOf = (path) =>
  structuredClone(document.paths[path].post.requestBody.content['application/json'].example);
const payoutTo = (accountNumber) => {
  const payout = { ...exampleOf('/payouts'), id: randomUUID() };
  payout.recipient.accountNumber = accountNumber;
  return payout;
};

const judgeProvider = async () => {
  const quote = await call('POST', '/quotes', exampleOf('/quotes'));
  check('a quote', quote.status === 200 && quote.answer.sendAmount === '100.00');
  const payout = payoutTo('0123456789');
  check('a payout is accepted', (await call('POST', '/payouts', payout)).status === 202);
  check('and known when it comes again', (await call('POST', '/payouts', payout)).status === 200);
  check('another content is refused',
    (await call('POST', '/payouts', { ...payout, sendAmount: '1.00' })).status === 409);
  const refused = await call('POST', '/payouts', payoutTo('000001102'));
  check('a refusal has its code', refused.status === 422 && refused.answer.code === 'account_closed');
  check('garbage is refused', (await call('POST', '/payouts', { id: 'x' })).status === 400);
  check('another secret is refused',
    (await call('POST', '/payouts', payoutTo('1'), { key: 'x' })).status === 401);
  check('an old signature is refused',
    (await call('GET', `/payouts/${payout.id}`, undefined, { skew: -301 })).status === 401);
  const never = randomUUID();
  const unknown = await call('GET', `/payouts/${never}`);
  check('what never arrived is 404',
    unknown.status === 404 && unknown.answer.code === 'payout_not_found');
  const cancelled = await call('POST', `/payouts/${never}/cancel`);
  check('it can be cancelled', cancelled.answer.failure?.code === 'cancelled');
  const late = await call('POST', '/payouts', { ...payoutTo('0123456789'), id: never });
  check('and is not executed when it comes late', late.answer.status === 'failed');

  const collection = { ...exampleOf('/collections'), id: randomUUID() };
  collection.payer.accountNumber = '000001201';
  collection.expiresAt = new Date(Date.now() + 600_000).toISOString();
  const asked = await call('POST', '/collections', collection);
  check('a collection has instructions', Object.keys(asked.answer.instructions).length > 0);
  const ended = await call('POST', `/collections/${collection.id}/expire`);
  check('and expires when asked to', ended.answer.status === 'expired');
  check('for good', (await call('GET', `/collections/${collection.id}`)).answer.status === 'expired');

  const ask = exampleOf('/references');
  const issued = await call('POST', '/references', ask);
  check('a reference', issued.status === 200 && issued.answer.metadata !== null);
  const statusFor = async (customerId) => (await call('POST', '/references', { ...ask, customerId })).status;
  check('a customer who is not registered', (await statusFor('customer-2002')) === 404);
  check('no reference to give', (await statusFor('customer-2003')) === 409);
  await fetch(`${base}/control/references/${issued.answer.reference}/pay`,
    { method: 'POST', body: JSON.stringify({ amount: '12.50', payer: { name: 'Ada' } }) });
  return payout;
};

const until = async (good) => {
  for (let tries = 0; tries < 200 && !good(); tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  return good();
};

const judgeCallbacks = async () => {
  const types = () => new Set(callbacks.map(({ body }) => JSON.parse(body).type));
  check('callbacks of every kind arrive', await until(() => types().size === 3));
  for (const { path, headers, body } of callbacks) {
    const fault = schemaFault('Callback', JSON.parse(body));
    const good = headers['coffer-signature']
      === signatureOf(secret, headers['coffer-timestamp'], 'POST', path, body);
    if (fault || !good) check(`the callback ${body} is signed and as documented: ${fault}`, false);
  }
  const ids = callbacks.map(({ body }) => JSON.parse(body).id);
  check('each once', new Set(ids).size === ids.length);
};

const judgeRestart = async (payout) => {
  const inReview = payoutTo('000001202');
  await call('POST', '/payouts', inReview);
  await stop('SIGKILL');
  await start();
  const again = await call('POST', '/payouts', payout);
  check('after kill -9 it knows what it paid',
    again.status === 200 && again.answer.status === 'succeeded');
  const list = await call('GET', '/payouts?cursor=');
  const ids = list.answer.data.map(({ id }) => id);
  check('its list has every payout once',
    ids.includes(payout.id) && ids.includes(inReview.id) && new Set(ids).size === ids.length);
  const told = () => callbacks.some(({ body }) => JSON.parse(body).data.id === inReview.id);
  check('and it still calls back', await until(told));
  check('SIGTERM ends it with 0', (await stop('SIGTERM')) === 0);
};

judgeExamples();
judgeSignedExamples();
coffer.listen(0, '127.0.0.1');
await once(coffer, 'listening');
await start();
try {
  const payout = await judgeProvider();
  await judgeCallbacks();
  await judgeRestart(payout);
} finally {
  provider.kill('SIGKILL');
  coffer.closeAllConnections();
  coffer.close();
  clearTimeout(deadline);
}
process.exit(failures === 0 ? 0 : 1);
