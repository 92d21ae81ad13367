// coffer listen as a developer uses it; see listen.sh.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { endsWithUs, startDemo } from './demo.mjs';

const binary = process.argv[2];
const WAIT_MS = 30_000;

function said(what) {
  console.log(`ok  ${what}`);
}

/** Exit code and output of one command of coffer on the demo's file. */
function coffer(folder, ...arguments_) {
  return run([...arguments_, '--db', join(folder, 'demo.db')]);
}

function run(arguments_, input = '', env = process.env) {
  return new Promise((resolve) => {
    const child = execFile(binary, arguments_, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }));
    child.stdin.on('error', () => {}); // one that ends without reading is judged by its exit code
    child.stdin.end(input);
  });
}

async function until(what, good) {
  const late = Date.now() + WAIT_MS;
  while (!await good()) {
    assert.ok(Date.now() < late, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A consumer on this machine: keeps what arrives and answers `statuses`, else 204. */
class Consumer {
  deliveries = [];
  statuses = [];

  async open(port = 0) {
    this.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      this.deliveries.push({ headers: request.headers, method: request.method, body, at: Date.now() });
      response.writeHead(this.statuses.shift() ?? 204).end();
    });
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}/hooks`;
    return this;
  }

  async close() {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  of(id) {
    return this.deliveries.filter(({ headers }) => headers['webhook-id'] === id);
  }
}

/** A running `coffer listen --json`, its first line and those that came since. */
class Listening {
  static async start(folder, url, ...more) {
    const self = new Listening();
    const arguments_ = ['listen', '--forward-to', url, '--json', '--db', join(folder, 'demo.db'), ...more];
    self.child = endsWithUs(spawn(binary, arguments_, { stdio: ['ignore', 'pipe', 'pipe'] }));
    self.lines = [];
    self.errors = '';
    self.child.stderr.on('data', (text) => (self.errors += text));
    createInterface({ input: self.child.stdout }).on('line', (line) => self.lines.push(JSON.parse(line)));
    self.ended = once(self.child, 'exit');
    await until('listen says hello', () => self.lines.length > 0 || self.child.exitCode !== null);
    assert.equal(self.child.exitCode, null, self.errors);
    self.hello = self.lines.shift();
    return self;
  }

  async stop(signal) {
    const began = Date.now();
    this.child.kill(signal);
    const [code] = await this.ended;
    return { code, ms: Date.now() - began };
  }
}

async function trigger(folder, type) {
  const { code, stdout, stderr } = await coffer(folder, 'trigger', type, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** What a consumer of the contract alone and one of Standard Webhooks say to a delivery. */
function verify({ headers, body, method }, secret) {
  assert.equal(method, 'POST');
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(new Webhook(secret).verify(body.toString(), headers), JSON.parse(body));
  const expected = 'sha256=' + createHmac('sha256', headers['x-webhook-id']).update(body).digest('hex');
  assert.equal(headers['x-svc-signature'], expected);
  assert.ok(Math.abs(Number(headers['x-webhook-ts']) - Date.now()) < 60_000);
}

async function api(info) {
  const call = async (method, path, body, headers = {}) => {
    const init = { method, headers: { 'content-type': 'application/json', ...headers } };
    const reply = await fetch(info.baseUrl + path, { ...init, body: body && JSON.stringify(body) });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  };
  const { clientId, clientSecret } = info;
  const token = await call('POST', '/v1/auth/token', { clientId, clientSecret });
  const own = { 'x-svc-auth': info.apiKey, authorization: `Bearer ${token.accessToken}` };
  return (method, path, body) => call(method, path, body, own);
}

function transfer(info, transactionId) {
  const [source, destination] = info.wallets.filter(({ assetCode }) => assetCode === 'USDC');
  return { transactionId, sourceWalletId: source.id, destinationWalletId: destination.id,
    sendingAssetCode: 'USDC', amount: '1.25' };
}

/** Milliseconds from a trigger to the consumer, the worst of ten. */
async function slowestOfTen(folder, consumer) {
  let slowest = 0;
  for (let i = 0; i < 10; ++i) {
    const { eventId } = await trigger(folder, 'payment.failed');
    const triggered = Date.now();
    await until('a triggered event', () => consumer.of(eventId).length > 0);
    slowest = Math.max(slowest, consumer.of(eventId)[0].at - triggered);
  }
  return slowest;
}

async function forwards(folder, info, consumer, listening) {
  const call = await api(info);
  const payment = await call('POST', '/v1/payments/p2p/own', transfer(info, 'listen-1'));
  await until('three events of a payment', () => consumer.deliveries.length >= 3);
  for (const delivery of consumer.deliveries) verify(delivery, listening.hello.secret);
  const types = consumer.deliveries.map(({ body }) => JSON.parse(body).type);
  assert.deepEqual(types, ['payment.initiated', 'payment.processing', 'payment.succeeded']);
  await until('three lines', () => listening.lines.length >= 3);
  assert.equal(listening.lines[2].about, payment.transactionRecordId);
  assert.equal(listening.lines[2].amount, '1.25 USDC');
  assert.equal(listening.lines[2].responseStatus, 204);
  said('a payment is three events, in order, and both signatures verify');

  // A disk that was busy for a moment is no fault of ours; three times in a row it is.
  let slowest = await slowestOfTen(folder, consumer);
  for (let tries = 1; slowest >= 1_000 && tries < 3; ++tries) slowest = await slowestOfTen(folder, consumer);
  assert.ok(slowest < 1_000, `${slowest} ms`);
  said(`an event is forwarded within a second (slowest of ten: ${slowest} ms)`);
}

/** The bytes are those of a registration, which may take the same type at the same time. */
async function sameBytes(info, folder, consumer, listening) {
  const call = await api(info);
  const endpoint = await new Consumer().open();
  const webhook = await call('POST', '/v1/webhooks', { url: endpoint.url, eventTypes: ['*'] });
  await call('POST', '/v1/payments/p2p/own', transfer(info, 'listen-2'));
  await until('three real deliveries', () => endpoint.deliveries.length >= 3);
  for (const delivery of endpoint.deliveries) {
    verify(delivery, webhook.secret);
    const id = delivery.headers['webhook-id'];
    await until('the same one forwarded', () => consumer.of(id).length > 0);
    assert.deepEqual(consumer.of(id)[0].body, delivery.body);
    const names = ({ headers }) => Object.keys(headers).sort();
    assert.deepEqual(names(consumer.of(id)[0]), names(delivery));
    verify(consumer.of(id)[0], listening.hello.secret);
  }
  said('bytes and headers are those of a registration beside it');

  const [{ headers }] = endpoint.deliveries;
  const id = headers['webhook-id'];
  const listed = JSON.parse((await coffer(folder, 'webhook', 'list', '--json')).stdout);
  assert.equal(listed[0].id, webhook.id);
  assert.equal((await coffer(folder, 'events', 'resend', id)).code, 0);
  await until('it arrives again', () => endpoint.of(id).length === 2);
  assert.deepEqual(endpoint.of(id)[0].body, endpoint.of(id)[1].body);
  // An attempt is on record after it was answered.
  await until('both attempts are in the log', async () => {
    const { stdout } = await coffer(folder, 'webhook', 'deliveries', webhook.id, '--json');
    return JSON.parse(stdout).some((row) => row.eventId === id && row.attempts === 2);
  });
  assert.equal((await coffer(folder, 'webhook', 'test', webhook.id)).code, 0);
  await until('the test event', () => endpoint.deliveries.some(({ body }) => JSON.parse(body).test));
  await call('DELETE', `/v1/webhooks/${webhook.id}`);
  const isDisabled = ({ body }) => JSON.parse(body).type === 'webhook.disabled';
  await until('what happens beside payments too', () => consumer.deliveries.some(isDisabled));
  await endpoint.close();
  said('events resend, webhook list, deliveries and test');
}

async function survives(folder, consumer, listening) {
  consumer.statuses.push(500);
  const { eventId } = await trigger(folder, 'payment.succeeded');
  await until('a second attempt', () => consumer.of(eventId).length === 2);
  assert.deepEqual(consumer.of(eventId)[0].body, consumer.of(eventId)[1].body);
  const { port } = consumer;
  await consumer.close();
  const lost = await trigger(folder, 'payment.succeeded');
  await until('the fault is shown', () => listening.lines.some((line) => line.eventId === lost.eventId));
  const shown = listening.lines.find((line) => line.eventId === lost.eventId);
  assert.equal(shown.responseStatus, 0);
  assert.ok(shown.error && shown.againInMs > 0);
  await consumer.open(port);
  await until('the consumer is back', () => consumer.of(lost.eventId).length === 1);
  said('an answer of 500 and a consumer that is down are tried again');
}

/** The server is killed and started again; what happens meanwhile is forwarded afterwards. */
async function outlives(running, folder, consumer, listening) {
  const gone = once(running.demo, 'exit');
  running.demo.kill('SIGKILL');
  await gone;
  const { eventId } = await trigger(folder, 'payment.refunded'); // on the file itself
  Object.assign(running, await startDemo(binary, folder));
  await until('what happened meanwhile', () => consumer.of(eventId).length > 0);
  verify(consumer.of(eventId)[0], listening.hello.secret);
  said('nothing is missed over a restart of the server');
}

async function verifiesSaved(folder, consumer, secret) {
  const { headers, body } = consumer.deliveries.at(-1);
  const saved = join(folder, 'headers');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(saved, lines.join(''));
  const judge = (input, ...more) =>
    run(['webhook', 'verify', '--headers', saved, '--json', ...more], input);
  const verdict = async (code, input, ...more) => {
    const result = await judge(input, ...more);
    assert.equal(result.code, code, result.stderr + result.stdout);
    return code === 2 ? result.stderr : JSON.parse(result.stdout);
  };
  const both = await verdict(0, body, '--secret', secret);
  assert.deepEqual(both.map(({ verified }) => verified), [true, true]);
  writeFileSync(join(folder, 'body'), body);
  writeFileSync(join(folder, 'secret'), secret + '\n');
  await verdict(0, '', '--secret-file', join(folder, 'secret'), '--body', join(folder, 'body'));
  const other = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const wrong = await verdict(1, body, '--secret', other);
  assert.match(wrong[0].reason, /different secret/);
  const changed = await verdict(1, body.toString().replace('"', '\''), '--secret', secret);
  assert.match(changed[0].reason, /the body.* differs/);
  const stale = Object.entries(headers).map(([name, value]) => [name,
    name === 'webhook-timestamp' ? String(Number(value) - 3600) : value]);
  const [id] = stale.filter(([name]) => name === 'webhook-id').map(([, value]) => value);
  const signed = new Webhook(secret).sign(id, new Date(Date.now() - 3_600_000), body.toString());
  writeFileSync(saved, `webhook-id: ${id}\nwebhook-timestamp: ${Math.floor(Date.now() / 1000) - 3600}\n` +
    `webhook-signature: ${signed}\n`);
  assert.match((await verdict(1, body, '--secret', secret))[0].reason, /stale|s ago/);
  assert.match(await verdict(2, body, '--secret', 'hello'), /whsec_/);
  said('webhook verify: genuine, another secret, changed, stale');
}

async function ends(folder, consumer, secret) {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    const listening = await Listening.start(folder, consumer.url, '--events', 'payment.failed');
    assert.equal(listening.hello.secret, secret);
    await trigger(folder, 'payment.succeeded');
    const { eventId } = await trigger(folder, 'payment.failed');
    await until('its event', () => listening.lines.some((line) => line.eventId === eventId));
    const { code, ms } = await listening.stop(signal);
    assert.equal(code, 0, listening.errors);
    assert.ok(ms < 5_000, `${ms} ms`);
    assert.deepEqual(listening.lines.at(-1), { events: 1, delivered: 1, dead: 0, waiting: 0 });
  }
  said('only the types asked for; the same secret; SIGINT and SIGTERM end it with 0 and a summary');
}

/** A consumer that never answers keeps nobody from ending. */
async function endsWhileWaiting(folder) {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listening = await Listening.start(folder, `http://127.0.0.1:${server.address().port}/`);
  const arrived = once(server, 'request');
  await trigger(folder, 'payment.failed');
  await arrived;
  const { code, ms } = await listening.stop('SIGINT');
  assert.equal(code, 0, listening.errors);
  assert.ok(ms < 5_000, `${ms} ms`);
  assert.deepEqual(listening.lines.at(-1), { events: 1, delivered: 0, dead: 0, waiting: 1 });
  server.close();
  server.closeAllConnections();
  said('Ctrl-C does not wait for a consumer that never answers');
}

async function refuses(folder, home) {
  const usage = async (code, ...arguments_) => {
    const result = await coffer(folder, ...arguments_);
    assert.equal(result.code, code, result.stdout + result.stderr);
    return result.stderr;
  };
  await usage(2, 'listen');
  await usage(2, 'listen', '--forward-to', 'ftp://127.0.0.1/');
  await usage(2, 'listen', '--forward-to', 'http://127.0.0.1:1/', '--events', 'payment.paid');
  await usage(2, 'trigger', 'payment.paid');
  await usage(1, 'events', 'resend', '0190a5a0-0000-7000-8000-000000000000');
  const missing = await run(['listen', '--forward-to', 'http://127.0.0.1:1/', '--db', join(home, 'no.db')]);
  assert.equal(missing.code, 69, missing.stderr);
  said('wrong usage is 2, no server is 69');
}

/** Without --db everything finds the demo in its usual place. */
async function findsTheDemo(home) {
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CONFIG_HOME: '' };
  const demo = endsWithUs(spawn(binary, ['demo', '--port', '0', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] }));
  await once(createInterface({ input: demo.stdout }), 'line');
  const triggered = await run(['trigger', 'payment.failed', '--json'], '', env);
  assert.equal(triggered.code, 0, triggered.stderr);
  const { stdout } = await run(['events', 'list'], '', env);
  assert.match(stdout, /payment\.failed/);
  const secret = await run(['listen', '--print-secret'], '', env);
  assert.match(secret.stdout, /^whsec_\S+\n$/);
  const gone = once(demo, 'exit');
  demo.kill('SIGTERM');
  await gone;
  said('beside coffer demo no command needs to be told where it is');
}

const folder = mkdtempSync(join(tmpdir(), 'coffer-listen-'));
const consumer = await new Consumer().open();
let running;
let listening;
try {
  running = await startDemo(binary, folder);
  listening = await Listening.start(folder, consumer.url);
  const { secret } = listening.hello;
  await forwards(folder, running.info, consumer, listening);
  await sameBytes(running.info, folder, consumer, listening);
  await survives(folder, consumer, listening);
  await outlives(running, folder, consumer, listening);
  await verifiesSaved(folder, consumer, secret);
  const { code } = await listening.stop('SIGINT');
  assert.equal(code, 0, listening.errors);
  await ends(folder, consumer, secret);
  await endsWhileWaiting(folder);
  await refuses(folder, folder);
  await findsTheDemo(join(folder, 'home'));
} finally {
  listening?.child.kill('SIGKILL');
  if (running && running.demo.exitCode === null && running.demo.signalCode === null) {
    const gone = once(running.demo, 'exit');
    running.demo.kill('SIGTERM');
    await gone;
  }
  await consumer.close();
  rmSync(folder, { recursive: true, force: true });
}
