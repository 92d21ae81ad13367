// A stock OAuth 2 client (openid-client) gets tokens from a running demo and uses them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Issuer, errors } from 'openid-client';

/** Starts the demo on a free port and gives what its first line says. */
async function startDemo(binary, folder) {
  const demo = spawn(binary, ['demo', '--db', join(folder, 'demo.db'), '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((_, reject) => {
    demo.on('error', reject);
    demo.on('exit', (code) => reject(new Error(`the demo ended early: ${code}`)));
  });
  ended.catch(() => {}); // once it has said hello, its end is no failure
  const lines = createInterface({ input: demo.stdout });
  const firstLine = new Promise((resolve) => lines.once('line', resolve));
  return { demo, info: JSON.parse(await Promise.race([firstLine, ended])) };
}

async function checkGrant(issuer, info, method) {
  const client = new issuer.Client({
    client_id: info.clientId,
    client_secret: info.clientSecret,
    token_endpoint_auth_method: method,
  });
  const tokens = await client.grant({ grant_type: 'client_credentials' });
  assert.equal(tokens.token_type, 'Bearer');
  assert.equal(tokens.expired(), false);
  assert.equal(tokens.expires_in, 3600);
  assert.match(tokens.scope, /wallets:read/);

  const wallets = `${info.baseUrl}/v1/wallets`;
  const headers = { 'x-svc-auth': info.apiKey };
  const reply = await client.requestResource(wallets, tokens, { headers });
  assert.equal(reply.statusCode, 200);
  const page = JSON.parse(reply.body);
  for (const wallet of info.wallets) {
    assert.ok(page.data.some((row) => row.id === wallet.id), `wallet ${wallet.id} is not listed`);
  }
  // The token alone is not enough.
  assert.equal((await client.requestResource(wallets, tokens)).statusCode, 401);

  const narrow = await client.grant({ grant_type: 'client_credentials', scope: 'assets wallets:read' })
    .catch((error) => error);
  assert.ok(narrow instanceof errors.OPError);
  assert.equal(narrow.error, 'invalid_scope');
  const reader = await client.grant({ grant_type: 'client_credentials', scope: 'wallets:read' });
  assert.equal(reader.scope, 'wallets:read');
  const transactions = `${info.baseUrl}/v1/transactions`;
  assert.equal((await client.requestResource(transactions, reader, { headers })).statusCode, 403);
}

async function checkRefusals(issuer, info, method) {
  const impostor = new issuer.Client({
    client_id: info.clientId,
    client_secret: 'not the secret: %&+=',
    token_endpoint_auth_method: method,
  });
  const refusal = await impostor.grant({ grant_type: 'client_credentials' }).catch((error) => error);
  assert.ok(refusal instanceof errors.OPError, `no OAuth error: ${refusal}`);
  assert.equal(refusal.error, 'invalid_client');
  const other = await impostor.grant({ grant_type: 'password' }).catch((error) => error);
  assert.equal(other.error, 'unsupported_grant_type');
}

const folder = mkdtempSync(join(tmpdir(), 'coffer-oauth-'));
let running;
try {
  running = await startDemo(process.argv[2], folder);
  const { info } = running;
  const issuer = new Issuer({ issuer: info.baseUrl, token_endpoint: `${info.baseUrl}/v1/auth/token` });
  for (const method of ['client_secret_post', 'client_secret_basic']) {
    await checkGrant(issuer, info, method);
    await checkRefusals(issuer, info, method);
    console.log(`ok  ${method}`);
  }
} finally {
  if (running) {
    const gone = new Promise((resolve) => running.demo.once('exit', resolve));
    running.demo.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
