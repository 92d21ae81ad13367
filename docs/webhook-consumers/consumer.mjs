// A consumer of coffer's webhooks. It verifies and stores each event, responds, and then processes it.
//
//   WEBHOOK_SECRETS='whsec_…' PORT=3000 INBOX=inbox node consumer.mjs
//
// During a rotation, set WEBHOOK_SECRETS to both secrets, separated by a space. Requires only Node 18 or
// later. Run one process per inbox.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:http';

const TOLERANCE_S = 300;
const BODY_BYTES_MAX = 1024 * 1024; // coffer's limit is 128 KiB by default; its operator can raise it
const RETRY_MS = 5000;

const KEYS = (process.env.WEBHOOK_SECRETS ?? '').split(/\s+/).filter(Boolean)
  .map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
const PORT = Number(process.env.PORT ?? 3000);
const INBOX = process.env.INBOX ?? 'inbox';
const NEW = `${INBOX}/new`; // stored and acknowledged, not processed yet
const DONE = `${INBOX}/done`; // processed; kept to recognise repeated deliveries
const PAYMENTS = `${INBOX}/payments`; // the latest state of each payment

const isId = (text) => typeof text === 'string' && /^[\w-]{1,64}$/.test(text);

// --- Verify -------------------------------------------------------------------------------------------

function equal(a, b) {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The reason to reject a delivery, or null. `body` contains the raw bytes, before any parsing. */
function rejection(headers, body) {
  const id = headers['webhook-id'];
  const time = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id || !time || !signatures) return 'a header is missing';
  if (!isId(id)) return 'webhook-id is malformed';
  if (!/^\d{1,12}$/.test(time)) return 'webhook-timestamp is malformed';
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S) return 'too old, or a clock is wrong';
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  for (const key of KEYS) {
    const expected = Buffer.from('v1,' + createHmac('sha256', key).update(signed).digest('base64'));
    for (const given of signatures.split(' ')) {
      if (equal(Buffer.from(given), expected)) return null;
    }
  }
  return 'no signature matches';
}

// --- Store --------------------------------------------------------------------------------------------

function sync(path) {
  const file = fs.openSync(path, 'r');
  fs.fsyncSync(file);
  fs.closeSync(file);
}

/** Stores the event on disk. Returns false if it was stored before. */
function keep(id, body) {
  if (fs.existsSync(`${DONE}/${id}`)) return false;
  const draft = `${INBOX}/draft-${randomUUID()}`;
  fs.writeFileSync(draft, body);
  sync(draft);
  try {
    fs.linkSync(draft, `${NEW}/${id}`); // atomic, and succeeds in one process only
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.unlinkSync(draft);
    sync(NEW);
  }
}

// --- Process ------------------------------------------------------------------------------------------

/** Replace this with your work. It must be idempotent, because after a crash it can run twice for an event. */
async function apply(event) {
  if (event.test || !event.type.startsWith('payment.')) return 'nothing to do';
  const { id, version, status } = event.data;
  if (!isId(id)) throw new Error('data.id is malformed');
  const path = `${PAYMENTS}/${id}`;
  const known = fs.existsSync(path) ? JSON.parse(fs.readFileSync(path)) : { version: 0 };
  if (version <= known.version) return 'overtaken by a later event';
  fs.writeFileSync(`${path}.draft`, JSON.stringify({ version, status }));
  fs.renameSync(`${path}.draft`, path);
  return `${id} ${status}`;
}

let working = false;
let wanted = false;

async function work() {
  wanted = true;
  if (working) return;
  working = true;
  while (wanted) {
    wanted = false;
    const events = [];
    for (const id of fs.readdirSync(NEW)) {
      if (fs.existsSync(`${DONE}/${id}`)) fs.unlinkSync(`${NEW}/${id}`); // redelivered during processing
      else events.push([id, JSON.parse(fs.readFileSync(`${NEW}/${id}`))]);
    }
    events.sort(([, a], [, b]) => a.sequence - b.sequence);
    for (const [id, event] of events) {
      try {
        console.log(`processed ${event.sequence} ${event.type}: ${await apply(event)}`);
        fs.renameSync(`${NEW}/${id}`, `${DONE}/${id}`);
      } catch (error) {
        console.log(`failed ${event.sequence} ${event.type}, will be retried: ${error.message}`);
        setTimeout(work, RETRY_MS);
      }
    }
  }
  working = false;
}

// --- Serve --------------------------------------------------------------------------------------------

/** The bytes of the body, or null if there are too many. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isEvent(body) {
  try {
    const event = JSON.parse(body);
    return typeof event.type === 'string' && Number.isInteger(event.sequence);
  } catch {
    return false;
  }
}

async function receive(request) {
  if (request.url !== '/hooks') return 404;
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === null) return 413;
  const reason = rejection(request.headers, body);
  if (reason) {
    console.log(`rejected: ${reason}`);
    return 401;
  }
  if (!isEvent(body)) return 400;
  const id = request.headers['webhook-id'];
  console.log(`${keep(id, body) ? 'kept' : 'repeated'} ${id}`);
  return 204;
}

async function answer(request, response) {
  let status = 500; // not stored: coffer retries
  try {
    status = await receive(request);
  } catch (error) {
    console.log(`error: ${error.message}`);
  }
  if (!request.complete) response.setHeader('Connection', 'close');
  response.writeHead(status).end();
  if (status === 204) setImmediate(work); // after the response
}

if (KEYS.length === 0 || KEYS.some((key) => key.length < 24)) {
  throw new Error('WEBHOOK_SECRETS is missing or contains an invalid secret; expected whsec_…');
}
for (const folder of [NEW, DONE, PAYMENTS]) fs.mkdirSync(folder, { recursive: true });
createServer(answer).listen(PORT, '127.0.0.1', () => console.log(`listening on port ${PORT}`));
work(); // events that an earlier run stored but did not process
