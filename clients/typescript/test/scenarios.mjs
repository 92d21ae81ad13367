// Runs clients/scenarios.json with the TypeScript client: node scenarios.mjs FILE [ROW]... (see clients/README.md).
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import {
  Client, ConnectionLostError, PaymentTimeoutError, ProblemError, WebhookError, verifyWebhook,
} from '../dist-test/src/index.js';

const INTERVAL_MS = 50;
const HOUR_MS = 3_600_000;

/** A step did not have the expected result. */
class Fault extends Error {}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value) => String(JSON.stringify(value)).slice(0, 300);

/** Throws a Fault if `found` does not match. */
function compare(expected, found, where = 'result') {
  const fail = () => { throw new Fault(`${where} is ${shown(found)}, not ${shown(expected)}`); };
  if (expected === '*') return found === null || found === undefined ? fail() : undefined;
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) fail();
    return expected.forEach((value, number) => compare(value, found[number], `${where}[${number}]`));
  }
  if (!isObject(expected)) return expected === (found ?? null) ? undefined : fail();
  if ('$contains' in expected) return typeof found === 'string' && found.includes(expected.$contains) ? undefined : fail();
  if ('$length' in expected) return Array.isArray(found) && found.length === expected.$length ? undefined : fail();
  if ('$atLeast' in expected) return Array.isArray(found) && found.length >= expected.$atLeast ? undefined : fail();
  if (!isObject(found)) fail();
  for (const [name, value] of Object.entries(expected)) compare(value, found[name], `${where}.${name}`);
}

/** Replaces ${name} in every string. */
function fill(value, variables) {
  if (typeof value === 'string') return value.replace(/\$\{(\w+)\}/g, (whole, name) => variables[name] ?? whole);
  if (Array.isArray(value)) return value.map((member) => fill(member, variables));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, variables)])) : value;
}

/** An error as the scenarios compare it. */
function described(error) {
  if (error instanceof ProblemError) {
    const { status, slug, title, detail, requestId, errors } = error;
    return { kind: 'problem', status, slug, title, detail, requestId, errors };
  }
  const kinds = [[ConnectionLostError, 'connection'], [PaymentTimeoutError, 'timeout'], [WebhookError, 'webhook'], [TypeError, 'refused']];
  const found = kinds.find(([kind]) => error instanceof kind);
  if (!found) throw error;
  return { kind: found[1], message: error.message };
}

class Runner {
  constructor(given) {
    this.given = given;
  }

  async control(body) {
    const response = await fetch(this.given.control, { method: 'POST', body: JSON.stringify(body) });
    return response.json();
  }

  client(options) {
    const { timeout = 20, deadline = 30, scope, baseUrl = this.given.baseUrl, keys } = options;
    return new Client({
      baseUrl, ...this.given.keys, ...keys, ...(scope ? { scope } : {}), timeout: timeout * 1000, deadline: deadline * 1000,
      retryDelay: 50, monotonic: () => performance.now() + this.elapsed * 1000,
    });
  }

  async run(row) {
    this.elapsed = 0;
    this.variables = { ...this.given.vars };
    await this.control({ row: row.name });
    const options = fill(row.client ?? {}, this.variables);
    const wall = Date.now;
    Date.now = () => wall() + (options.clock ?? 0) * 1000;
    try {
      const client = this.client(options);
      for (const [number, step] of row.steps.entries()) {
        await this.step(client, step).catch((error) => {
          throw new Fault(`step ${number + 1}: ${error instanceof Fault ? error.message : error.stack}`);
        });
      }
    } finally {
      Date.now = wall;
    }
  }

  async step(client, unfilled) {
    const step = fill(unfilled, this.variables);
    let result;
    try {
      result = await this.result(client, step);
    } catch (error) {
      if (error instanceof Fault || !step.error) throw error;
      return compare(step.error, described(error), 'error');
    }
    if (step.error) throw new Fault(`no error: ${shown(result)}`);
    if ('expect' in step) compare(step.expect, result);
    for (const [name, path] of Object.entries(step.save ?? {})) {
      const found = path.split('.').reduce((value, part) => value[part], result);
      this.variables[name] = typeof found === 'string' ? found : JSON.stringify(found);
    }
  }

  async result(client, step) {
    if (step.call) return this.call(client, step.call, step);
    if (step.list) {
      const rows = [];
      for await (const row of this.call(client, step.list, step)) rows.push(row);
      return rows;
    }
    if (step.page) return this.call(client, step.page, step).first();
    if (step.wait) return this.wait(client, step);
    if (step.webhook) {
      const { body, headers, secrets, now } = step.webhook;
      return verifyWebhook(body, headers, secrets, { now: () => Number(now) * 1000 });
    }
    if (step.control) return this.control(step.control);
    this.elapsed += step.elapse;
    return null;
  }

  call(client, operation, step) {
    const words = Object.values(step.path ?? {});
    if (step.body) words.push(step.body);
    if (step.query) words.push(step.query);
    return client[operation](...words);
  }

  async wait(client, step) {
    const timeout = (step.timeout ?? 20) * 1000;
    if (!step.meanwhile) return client.waitForPayment(step.wait, { timeout, interval: INTERVAL_MS });
    const waiting = client.waitForPayment(step.wait, { timeout, interval: HOUR_MS });
    for (const each of step.meanwhile) await this.step(client, each);
    for await (const event of client.listEvents({ type: 'payment.succeeded' })) {
      if (event.data.id === step.wait) {
        client.notify(event);
        break;
      }
    }
    return waiting;
  }
}

const [path, ...names] = process.argv.slice(2);
const given = JSON.parse(await readFile(path, 'utf8'));
const runner = new Runner(given);
for (const row of given.rows) {
  if (names.length && !names.includes(row.name)) continue;
  const outcome = await runner.run(row).then(() => ({ ok: true }), (error) => ({ ok: false, fault: String(error.message) }));
  console.log(JSON.stringify({ row: row.name, ...outcome }));
}
