// admin.mjs <binary> <browser>: starts a demo, opens its admin page in a browser and walks it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

import { attacks, guessing } from './attacks.mjs';
import { actions } from './actions.mjs';
import { controls, failures, ok, Watched } from './judge.mjs';
import { newcomer } from './newcomer.mjs';
import { seed } from './seed.mjs';
import { expiry, idleness, keyboard, screens } from './screens.mjs';

const [binary, browserPath] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'coffer-browser-'));
const database = join(scratch, 'demo.db');

/** The demo and the JSON line it says. */
async function startDemo() {
  const server = spawn(binary, ['demo', '--port', '0', '--json', '--db', database], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  server.stderr.on('data', (text) => {
    said += text;
  });
  const lines = createInterface({ input: server.stdout });
  const first = await Promise.race([
    new Promise((resolve) => {
      lines.once('line', resolve);
    }),
    new Promise((resolve) => {
      server.once('exit', () => resolve(undefined));
    }),
  ]);
  if (!first) throw new Error(`the demo does not start: ${said}`);
  return { server, facts: JSON.parse(first), said: () => said };
}

async function run() {
  const demo = await startDemo();
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    const { facts } = demo;
    ok('the demo names its admin page', facts.adminUrl && facts.adminUser && facts.adminPassword);
    const world = { facts, browser, admin: facts.adminUrl.replace(/\/?$/, '/'), seeded: await seed(facts) };
    const page = await Watched.open(world, 'wide');
    await controls(page);
    await page.signIn(facts.adminUser, facts.adminPassword);
    await screens(page, world);
    await keyboard(page, world);
    await actions(page, world);
    await expiry(page, world);
    await idleness(world);
    await newcomer(world);
    await attacks(page, world);
    await guessing(world);
  } finally {
    await browser.close();
    demo.server.kill('SIGTERM');
    await new Promise((resolve) => {
      demo.server.once('exit', resolve);
    });
    if (failures() > 0) process.stdout.write(demo.said().split('\n').slice(-15).join('\n'));
  }
}

try {
  await run();
} catch (fault) {
  ok(`the walk comes to its end: ${fault.stack}`, false);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = failures() > 0 ? 1 : 0;
