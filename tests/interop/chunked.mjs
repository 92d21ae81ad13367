// Payments from clients that do not know the length of a body in advance: Node's http module and curl, with
// `Transfer-Encoding: chunked`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

const info = JSON.parse(process.env.COFFER_TEST);

const PAYMENTS = '/v1/payments/p2p/own';

/** Sends `pieces` one by one and returns status and body. Without Content-Length, Node.js sends chunks. */
async function send(info, agent, path, pieces, headers = {}) {
  const outgoing = request(info.baseUrl + path, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const response = once(outgoing, 'response');
  response.catch(() => {}); // the server may respond before everything is sent; the response is awaited below
  if (headers.expect) await once(outgoing, 'continue');
  for (const piece of pieces) await new Promise((resolve) => outgoing.write(piece, resolve));
  outgoing.end();
  const [incoming] = await response;
  assert.match(outgoing._header, /\r\ntransfer-encoding: chunked\r\n/i);
  return { status: incoming.statusCode, body: JSON.parse(await text(incoming)) };
}

function payment(info, number) {
  const [source, destination] = info.wallets.filter((wallet) => wallet.assetCode === 'USDC');
  return JSON.stringify({
    transactionId: `chunked-${number}`,
    sourceWalletId: source.id,
    destinationWalletId: destination.id,
    sendingAssetCode: 'USDC',
    amount: '1.25',
  });
}

async function curl(...arguments_) {
  const child = spawn('curl', ['--silent', '--show-error', '--write-out', '\n%{http_code}', ...arguments_], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(child.stdout);
  const end = output.lastIndexOf('\n');
  return { status: Number(output.slice(end + 1)), body: JSON.parse(output.slice(0, end)) };
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const credentials = JSON.stringify({ clientId: info.clientId, clientSecret: info.clientSecret });
const token = await send(info, agent, '/v1/auth/token', [credentials]);
assert.equal(token.status, 200);
const own = { 'x-svc-auth': info.apiKey, authorization: `Bearer ${token.body.accessToken}` };

const body = payment(info, 'node');
const paid = await send(info, agent, PAYMENTS, [body.slice(0, 40), body.slice(40)], own);
assert.equal(paid.status, 202, JSON.stringify(paid.body));
const again = await send(info, agent, PAYMENTS, [...body], { ...own, expect: '100-continue' });
assert.equal(again.status, 202, JSON.stringify(again.body));
assert.equal(again.body.isIdempotent, true);
const large = await send(info, agent, PAYMENTS, ['{"memo":"', 'x'.repeat(70_000)], own)
  .catch((error) => error);
assert.ok(large.status === 413 || large.code === 'EPIPE' || large.code === 'ECONNRESET', `${large.status}`);
agent.destroy();
console.log('ok  Node.js pays in two pieces, and again one byte at a time');

const fields = Object.entries({ ...own, 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' })
  .flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
const byCurl = await curl(...fields, '--data', payment(info, 'curl'), info.baseUrl + PAYMENTS);
assert.equal(byCurl.status, 202, JSON.stringify(byCurl.body));
console.log('ok  curl pays with Transfer-Encoding: chunked');
