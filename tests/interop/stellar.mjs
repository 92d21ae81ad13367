// The stock Stellar SDK logs in to the release build by SEP-10; forged, late, replayed and otherwise invalid challenges
// are rejected.
import assert from 'node:assert/strict';
import { Asset, Keypair, Networks, StellarToml, Transaction, WebAuth } from '@stellar/stellar-sdk';

const info = JSON.parse(process.env.COFFER_TEST);

/** A SEP-10 client, with only a home domain and a key. */
class StockClient {
  constructor(homeDomain, keys) {
    this.homeDomain = homeDomain;
    this.keys = keys;
  }

  async discover() {
    this.toml = await StellarToml.Resolver.resolve(this.homeDomain, { allowHttp: true });
    assert.ok(Keypair.fromPublicKey(this.toml.SIGNING_KEY));
    assert.equal(this.toml.VERSION, '2.7.0');
    assert.ok(new URL(this.toml.DOCUMENTATION.ORG_URL));
    assert.ok(this.toml.CURRENCIES.length > 0);
    for (const { code, issuer, display_decimals: decimals } of this.toml.CURRENCIES) {
      assert.ok(new Asset(code, issuer) && Number.isInteger(decimals) && decimals >= 0 && decimals <= 7, code);
    }
  }

  async challenge(query = {}) {
    const url = new URL(this.toml.WEB_AUTH_ENDPOINT);
    for (const [name, value] of Object.entries({ account: this.keys.publicKey(), ...query })) {
      url.searchParams.set(name, value);
    }
    const reply = await fetch(url);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('access-control-allow-origin'), '*');
    const challenge = await reply.json();
    assert.deepEqual(Object.keys(challenge).sort(), ['network_passphrase', 'transaction']);
    return challenge;
  }

  read(transaction) {
    return WebAuth.readChallengeTx(transaction, this.toml.SIGNING_KEY, this.toml.NETWORK_PASSPHRASE,
      this.homeDomain, new URL(this.toml.WEB_AUTH_ENDPOINT).host);
  }

  sign(transaction, keys = this.keys, passphrase = this.toml.NETWORK_PASSPHRASE) {
    const tx = new Transaction(transaction, passphrase);
    tx.sign(keys);
    return tx.toEnvelope().toXDR('base64');
  }

  async submit(transaction, form = false) {
    const body = form ? new URLSearchParams({ transaction }) : JSON.stringify({ transaction });
    const headers = form ? {} : { 'Content-Type': 'application/json' };
    const reply = await fetch(this.toml.WEB_AUTH_ENDPOINT, { method: 'POST', headers, body });
    return { status: reply.status, body: await reply.json() };
  }
}

async function checkLogin(client, info) {
  const challenge = await client.challenge({ home_domain: client.homeDomain });
  assert.equal(challenge.network_passphrase, client.toml.NETWORK_PASSPHRASE);
  const { clientAccountID, matchedHomeDomain } = client.read(challenge.transaction);
  assert.equal(clientAccountID, info.publicKey);
  assert.equal(matchedHomeDomain, client.homeDomain);
  const signed = client.sign(challenge.transaction);
  // The SDK's server side accepts the signatures.
  const signers = WebAuth.verifyChallengeTxSigners(signed, client.toml.SIGNING_KEY,
    client.toml.NETWORK_PASSPHRASE, [info.publicKey], client.homeDomain,
    new URL(client.toml.WEB_AUTH_ENDPOINT).host);
  assert.deepEqual(signers, [info.publicKey]);

  const { status, body } = await client.submit(signed);
  assert.equal(status, 200);
  assert.equal(body.token, body.idToken);
  const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url'));
  assert.equal(claims.iss, client.toml.WEB_AUTH_ENDPOINT);
  assert.equal(claims.sub, info.publicKey);
  assert.ok(Number.isInteger(claims.iat) && Number.isInteger(claims.exp));
  const wallets = await fetch(`${info.baseUrl}/v1/wallets`, {
    headers: { 'x-svc-auth': info.apiKey, Authorization: `Bearer ${body.token}` },
  });
  assert.equal(wallets.status, 200);
  assert.equal((await client.submit(signed)).body.code, 'invalid_challenge', 'a replay was accepted');

  const byForm = await client.submit(client.sign((await client.challenge()).transaction), true);
  assert.equal(byForm.status, 200);
  const refreshed = await fetch(`${info.baseUrl}/v1/public/auth/refresh`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refreshToken: body.refreshToken }),
  });
  assert.equal(refreshed.status, 200);
}

/** name -> a transaction that must be rejected. */
async function badChallenges(client) {
  const stranger = Keypair.random();
  const { SIGNING_KEY, NETWORK_PASSPHRASE } = client.toml;
  const host = new URL(client.toml.WEB_AUTH_ENDPOINT).host;
  const fresh = async () => (await client.challenge()).transaction;
  // A challenge built by a caller that pretends to be the server.
  const built = (lifetime, homeDomain = client.homeDomain, passphrase = NETWORK_PASSPHRASE) =>
    client.sign(WebAuth.buildChallengeTx(stranger, client.keys.publicKey(), homeDomain, lifetime,
      passphrase, host), client.keys, passphrase);
  /** A server's challenge with another envelope and the original server signature. */
  const changed = async (change) => {
    const envelope = new Transaction(await fresh(), NETWORK_PASSPHRASE).toEnvelope();
    change(envelope.v1().tx());
    return client.sign(envelope.toXDR('base64'));
  };
  assert.notEqual(SIGNING_KEY, stranger.publicKey());
  const signed = client.sign(await fresh());
  return {
    unsigned: await fresh(),
    'signed by a stranger': client.sign(await fresh(), stranger),
    'signed by a stranger too': client.sign(signed, stranger),
    're-signed': client.sign(signed),
    'signed for another network': client.sign(await fresh(), client.keys, Networks.PUBLIC),
    'forged by another server': built(300),
    'forged and expired': built(-300),
    'forged for another home domain': built(300, 'example.com'),
    'forged for another network': built(300, client.homeDomain, Networks.TESTNET),
    'with later time bounds': await changed((tx) => {
      const bounds = tx.cond().timeBounds();
      bounds.maxTime(bounds.maxTime().constructor.fromString('4000000000'));
    }),
    'with a sequence number': await changed((tx) => {
      tx.seqNum(tx.seqNum().constructor.fromString('7'));
    }),
    'with another home domain': await changed((tx) => {
      tx.operations()[0].body().manageDataOp().dataName('example.com auth');
    }),
    oversize: 'A'.repeat(52 * 1024),
    nonsense: 'AAAA',
  };
}

const client = new StockClient(new URL(info.baseUrl).host, Keypair.fromSecret(info.secretSeed));
await client.discover();
await checkLogin(client, info);
console.log('ok  login');
for (const [name, transaction] of Object.entries(await badChallenges(client))) {
  const { status, body } = await client.submit(transaction);
  assert.equal(status, 400, `${name}: ${status} ${JSON.stringify(body)}`);
  assert.equal(body.code, 'invalid_challenge', name);
  assert.equal(typeof body.error, 'string', name);
  console.log(`ok  rejected: ${name}`);
}
const unknown = new URL(client.toml.WEB_AUTH_ENDPOINT);
unknown.searchParams.set('account', Keypair.random().publicKey());
assert.equal((await fetch(unknown)).status, 404);
unknown.searchParams.set('account', 'GNONSENSE');
assert.equal((await fetch(unknown)).status, 400);
