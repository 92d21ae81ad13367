// A stock OAuth 2 client (openid-client) gets a token from the release build, with client_secret_post and with
// client_secret_basic, and reads wallets with it.
import assert from 'node:assert/strict';
import { Issuer, errors } from 'openid-client';

const info = JSON.parse(process.env.COFFER_TEST);

async function checkGrant(issuer, info, method) {
  const client = new issuer.Client({
    client_id: info.clientId,
    client_secret: info.clientSecret,
    token_endpoint_auth_method: method,
  });
  const tokens = await client.grant({ grant_type: 'client_credentials' });
  assert.equal(tokens.token_type, 'Bearer');
  assert.equal(tokens.expired(), false);
  // The remainder of the hour.
  assert.ok(tokens.expires_in > 3590 && tokens.expires_in <= 3600, `${tokens.expires_in}`);
  assert.match(tokens.scope, /wallets:read/);

  const wallets = `${info.baseUrl}/v1/wallets`;
  const headers = { 'x-svc-auth': info.apiKey };
  const reply = await client.requestResource(wallets, tokens, { headers });
  assert.equal(reply.statusCode, 200);
  const page = JSON.parse(reply.body);
  for (const wallet of info.wallets) {
    assert.ok(page.data.some((row) => row.id === wallet.id), `wallet ${wallet.id} is not listed`);
  }
  // The token alone is not sufficient.
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

async function checkRejections(issuer, info, method) {
  const impostor = new issuer.Client({
    client_id: info.clientId,
    client_secret: 'not the secret: %&+=',
    token_endpoint_auth_method: method,
  });
  const rejection = await impostor.grant({ grant_type: 'client_credentials' }).catch((error) => error);
  assert.ok(rejection instanceof errors.OPError, `no OAuth error: ${rejection}`);
  assert.equal(rejection.error, 'invalid_client');
  const other = await impostor.grant({ grant_type: 'password' }).catch((error) => error);
  assert.equal(other.error, 'unsupported_grant_type');
}

const issuer = new Issuer({ issuer: info.baseUrl, token_endpoint: `${info.baseUrl}/v1/auth/token` });
for (const method of ['client_secret_post', 'client_secret_basic']) {
  await checkGrant(issuer, info, method);
  await checkRejections(issuer, info, method);
  console.log(`ok  ${method}`);
}
