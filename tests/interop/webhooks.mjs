// A receiver of events beside a running demo: every delivery is verified twice, by npm's
// `standardwebhooks` and by a consumer of the contract's own signature.
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { withDemo } from './demo.mjs';

/** X-Svc-Signature as docs/contract.md#delivery has it, alone: the event, or null to refuse. */
function contractConsumer() {
  const processed = new Set();
  return (headers, rawBody) => {
    const id = headers['x-webhook-id'];
    const age = Date.now() - Number(headers['x-webhook-ts']);
    if (!id || !(Math.abs(age) < 300_000)) return null;
    const expected = Buffer.from('sha256=' + createHmac('sha256', id).update(rawBody).digest('hex'));
    const presented = Buffer.from(headers['x-svc-signature'] ?? '');
    if (expected.length !== presented.length || !timingSafeEqual(expected, presented)) return null;
    const repeated = processed.has(id);
    processed.add(id);
    return { repeated, event: JSON.parse(rawBody) };
  };
}

/** Answers with what `statuses` has next, else 204; `next(n)` waits for n deliveries. */
async function startReceiver() {
  const deliveries = [];
  const statuses = [];
  let heard = () => {};
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    deliveries.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(statuses.shift() ?? 204).end();
    heard();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wait = async (count) => {
    const late = setTimeout(() => assert.fail(`${deliveries.length} of ${count} deliveries`), 20_000);
    while (deliveries.length < count) await new Promise((resolve) => (heard = resolve));
    clearTimeout(late);
  };
  return { url: `http://127.0.0.1:${server.address().port}/hooks`, deliveries, statuses, wait, server };
}

async function startClient(info) {
  const call = async (method, path, body, headers = {}) => {
    const reply = await fetch(info.baseUrl + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
    return text && JSON.parse(text);
  };
  const credentials = { clientId: info.clientId, clientSecret: info.clientSecret };
  const token = await call('POST', '/v1/auth/token', credentials);
  const own = { 'x-svc-auth': info.apiKey, authorization: `Bearer ${token.accessToken}` };
  return (method, path, body) => call(method, path, body, own);
}

function pay(api, info, number) {
  const [source, destination] = info.wallets.filter((wallet) => wallet.assetCode === 'USDC');
  return api('POST', '/v1/payments/p2p/own', {
    transactionId: `interop-${number}`,
    sourceWalletId: source.id,
    destinationWalletId: destination.id,
    sendingAssetCode: 'USDC',
    amount: '1.25',
  });
}

async function check(api, info, receiver) {
  const webhook = await api('POST', '/v1/webhooks', { url: receiver.url, eventTypes: ['*'] });
  const stock = new Webhook(webhook.secret);
  const consume = contractConsumer();

  receiver.statuses.push(500); // the first is tried again
  for (let i = 0; i < 5; ++i) await pay(api, info, i);
  await receiver.wait(16);
  const seen = receiver.deliveries.map(({ headers, body }) => {
    assert.deepEqual(stock.verify(body.toString(), headers), JSON.parse(body));
    const result = consume(headers, body);
    assert.ok(result, 'the consumer of the contract refuses a delivery');
    return result;
  });
  assert.equal(seen.filter(({ repeated }) => repeated).length, 1);
  console.log(`ok  ${seen.length} deliveries verify, one of them a repetition`);

  const { headers, body } = receiver.deliveries[0];
  const forged = Buffer.from(body.toString().replace('1.25', '9.25'));
  assert.throws(() => stock.verify(forged.toString(), headers));
  assert.equal(contractConsumer()(headers, forged), null);
  assert.throws(() => new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(body.toString(), headers));
  console.log('ok  forgeries do not');

  const rotated = await api('POST', `/v1/webhooks/${webhook.id}/rotate-secret`, { gracePeriodSeconds: 60 });
  await api('POST', `/v1/webhooks/${webhook.id}/test`);
  await receiver.wait(17);
  const both = receiver.deliveries[16];
  stock.verify(both.body.toString(), both.headers);
  new Webhook(rotated.secret).verify(both.body.toString(), both.headers);
  await api('POST', `/v1/webhooks/${webhook.id}/rotate-secret`, { gracePeriodSeconds: 0 });
  await api('POST', `/v1/webhooks/${webhook.id}/test`);
  await receiver.wait(18);
  const latest = receiver.deliveries[17];
  assert.throws(() => new Webhook(rotated.secret).verify(latest.body.toString(), latest.headers));
  console.log('ok  after a rotation both secrets verify, and without grace only the new one');
}

await withDemo(process.argv[2], async (info) => {
  const receiver = await startReceiver();
  try {
    await check(await startClient(info), info, receiver);
  } finally {
    receiver.server.close();
    receiver.server.closeAllConnections();
  }
});
