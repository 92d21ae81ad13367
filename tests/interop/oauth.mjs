// Stock OAuth 2 clients (openid-client and oauth4webapi) get a token from the release build, with client_secret_post
// and with client_secret_basic, read wallets with it, and learn the reason of each rejection.
import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';

const info = JSON.parse(process.env.COFFER_TEST);
const server = { issuer: info.baseUrl, token_endpoint: `${info.baseUrl}/v1/oauth/token` };
const METHODS = { client_secret_post: 'ClientSecretPost', client_secret_basic: 'ClientSecretBasic' };

/** Each client: a function that requests a token, and throws what the library throws. */
const CLIENTS = {
  'openid-client': (secret, method, parameters = {}) => {
    const authentication = openid[METHODS[method]](secret);
    const config = new openid.Configuration(server, info.clientId, secret, authentication);
    openid.allowInsecureRequests(config);
    return openid.clientCredentialsGrant(config, parameters);
  },
  oauth4webapi: async (secret, method, parameters = {}) => {
    const client = { client_id: info.clientId };
    const insecure = { [oauth.allowInsecureRequests]: true };
    const reply = await oauth.clientCredentialsGrantRequest(
      server, client, oauth[METHODS[method]](secret), new URLSearchParams(parameters), insecure);
    return oauth.processClientCredentialsResponse(server, client, reply);
  },
};

const read = (token, path, key = info.apiKey) => fetch(`${info.baseUrl}${path}`, {
  headers: { Authorization: `Bearer ${token}`, ...(key && { 'x-svc-auth': key }) },
});

/** The error code that the client shows, in the body or in the challenge of the scheme that it used. */
async function rejection(request, method) {
  const error = await request.then(() => assert.fail('a token was issued'), (thrown) => thrown);
  if (method !== 'client_secret_basic' || error.status !== 401) return error.error;
  const [challenge] = error.cause;
  assert.equal(challenge.scheme, 'basic');
  return challenge.parameters.error;
}

async function checkGrant(client, method) {
  const tokens = await client(info.clientSecret, method);
  assert.equal(tokens.token_type, 'bearer');
  // The remainder of the hour.
  assert.ok(tokens.expires_in > 3590 && tokens.expires_in <= 3600, `${tokens.expires_in}`);
  assert.match(tokens.scope, /wallets:read/);
  const claims = JSON.parse(Buffer.from(tokens.access_token.split('.')[1], 'base64url'));
  assert.ok(Number.isInteger(claims.iat) && claims.exp === claims.iat + 3600, JSON.stringify(claims));

  const reply = await read(tokens.access_token, '/v1/wallets');
  assert.equal(reply.status, 200);
  const page = await reply.json();
  for (const wallet of info.wallets) {
    assert.ok(page.data.some((row) => row.id === wallet.id), `wallet ${wallet.id} is not listed`);
  }
  // The token alone is not sufficient.
  assert.equal((await read(tokens.access_token, '/v1/wallets', '')).status, 401);

  const reader = await client(info.clientSecret, method, { scope: 'wallets:read' });
  assert.equal(reader.scope, 'wallets:read');
  const lacking = await read(reader.access_token, '/v1/transactions');
  assert.equal(lacking.status, 403);
  assert.match(lacking.headers.get('www-authenticate'), /^Bearer .*error="insufficient_scope", scope="transactions:read"/);
}

async function checkRejections(client, method) {
  const scope = client(info.clientSecret, method, { scope: 'assets wallets:read' });
  assert.equal(await rejection(scope, method), 'invalid_scope');
  assert.equal(await rejection(client('not the secret: %&+=', method), method), 'invalid_client');
}

for (const [name, client] of Object.entries(CLIENTS)) {
  for (const method of Object.keys(METHODS)) {
    await checkGrant(client, method);
    await checkRejections(client, method);
    console.log(`ok  ${name} ${method}`);
  }
}
