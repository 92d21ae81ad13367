// Tests of the runtime without a server: tsc -p test && node --test test/runtime_test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Client, ConnectionLostError, ProblemError } from '../dist-test/src/index.js';

/** A client whose requests get these responses; the last one repeats. */
function served(responses, options = {}) {
  const requests = [];
  const fetch = async (url, init) => {
    requests.push({ url, ...init });
    if (url.endsWith('/v1/auth/token')) return Response.json({ accessToken: 'T', expiresIn: 3600 });
    const next = responses.length > 1 ? responses.shift() : responses[0];
    if (next instanceof Error) throw next;
    return next.clone();
  };
  const client = new Client({
    baseUrl: 'https://pay.example.com/gw/', clientSecret: 'SECRET-1', apiKey: 'SECRET-2', retryDelay: 1, fetch, ...options,
  });
  return { client, requests };
}

const asset = () => Response.json({ code: 'USDC' });
const failure = (code) => Object.assign(new TypeError('fetch failed'), { cause: { code, message: code } });
const wallet = { walletName: 'a', assetCode: 'USDC' };

test('concurrent calls share one token', async () => {
  const { client, requests } = served([asset()]);
  await Promise.all(Array.from({ length: 20 }, () => client.getAsset('USDC')));
  assert.equal(requests.length, 21);
});

test('a creation is repeated only if it was not sent', async () => {
  const refused = served([failure('ECONNREFUSED'), Response.json({ id: '1' }, { status: 201 })]);
  assert.equal((await refused.client.createWallet(wallet)).id, '1');
  const reset = served([failure('ECONNRESET')]);
  await assert.rejects(reset.client.createWallet(wallet), ConnectionLostError);
  assert.equal(reset.requests.length, 2);
});

test('an untrusted certificate is not retried', async () => {
  const { client, requests } = served([failure('DEPTH_ZERO_SELF_SIGNED_CERT')]);
  await assert.rejects(client.getAsset('USDC'), ConnectionLostError);
  assert.equal(requests.length, 2);
});

test('a retry that would cross the deadline fails at once', async () => {
  const { client, requests } = served([new Response('', { status: 503, headers: { 'Retry-After': '61' } })]);
  await assert.rejects(client.getAsset('USDC'), ProblemError);
  assert.equal(requests.length, 2);
});

test('a signal ends a call, also while it waits', async () => {
  const { client } = served([new Response('', { status: 503, headers: { 'Retry-After': '30' } })]);
  const abort = new AbortController();
  const call = client.getAsset('USDC', { signal: abort.signal });
  setImmediate(() => abort.abort());
  await assert.rejects(call, { name: 'AbortError' });
});

test('an address with a path stays', async () => {
  const { client, requests } = served([asset()]);
  await client.getAsset('US/DC');
  assert.equal(requests.at(-1).url, 'https://pay.example.com/gw/v1/assets/US%2FDC');
});

test('an object in a query has a parameter per member', async () => {
  const { client, requests } = served([asset()]);
  await client.listTransactions({ metadata: { order: 'a b' }, limit: 1, createdFrom: new Date(0) }).first();
  assert.equal(new URL(requests.at(-1).url).search, '?metadata%5Border%5D=a+b&limit=1&createdFrom=1970-01-01T00%3A00%3A00.000Z');
});

test('secrets are not printed', async () => {
  const { client } = served([asset()]);
  await client.getAsset('USDC');
  assert.doesNotMatch(inspect(client, { depth: null, showHidden: true }), /SECRET|Bearer/);
});
