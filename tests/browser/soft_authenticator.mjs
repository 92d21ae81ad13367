// A software authenticator: passkeys of three kinds, with optional errors.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const KINDS = {
  ES256: { type: 'ec', options: { namedCurve: 'P-256' }, digest: 'sha256' },
  EdDSA: { type: 'ed25519', options: {}, digest: null },
  RS256: { type: 'rsa', options: { modulusLength: 2048 }, digest: 'sha256' },
};

const sha256 = (data) => createHash('sha256').update(data).digest();

function head(type, value) {
  if (value < 24) return Buffer.from([(type << 5) | value]);
  if (value < 256) return Buffer.from([(type << 5) | 24, value]);
  return Buffer.from([(type << 5) | 25, value >> 8, value & 255]);
}

/** CBOR (RFC 8949) of numbers, texts, bytes and maps (lists of pairs). */
function cbor(value) {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.length), ...value.flat().map(cbor)]);
}

export class SoftAuthenticator {
  constructor(kind, { origin, site }) {
    const { type, options, digest } = KINDS[kind];
    Object.assign(this, generateKeyPairSync(type, options), { kind, digest, origin, site });
    Object.assign(this, { id: randomBytes(32), counter: 1, flags: 0x05, client: {}, userHandle: '' });
  }

  coseKey() {
    const jwk = this.publicKey.export({ format: 'jwk' });
    const raw = (name) => Buffer.from(jwk[name], 'base64url');
    if (this.kind === 'ES256') return cbor([[1, 2], [3, -7], [-1, 1], [-2, raw('x')], [-3, raw('y')]]);
    if (this.kind === 'EdDSA') return cbor([[1, 1], [3, -8], [-1, 6], [-2, raw('x')]]);
    return cbor([[1, 3], [3, -257], [-1, raw('n')], [-2, raw('e')]]);
  }

  clientData(type, challenge) {
    const { origin } = this;
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...this.client }));
  }

  data(withKey) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const start = [sha256(this.site), Buffer.from([this.flags | (withKey ? 0x40 : 0)]), counter];
    if (!withKey) return Buffer.concat(start);
    return Buffer.concat([...start, Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, this.coseKey()]);
  }

  /** In the form that the page sends. */
  create(challenge) {
    const data = this.data(true);
    this.counter += 1;
    const object = cbor([['fmt', 'none'], ['attStmt', []], ['authData', data]]);
    return {
      clientDataJSON: this.clientData('webauthn.create', challenge).toString('base64url'),
      attestationObject: object.toString('base64url'),
    };
  }

  get(challenge) {
    const client = this.clientData('webauthn.get', challenge);
    const data = this.data(false);
    const signature = sign(this.digest, Buffer.concat([data, sha256(client)]), this.privateKey);
    this.counter += 1;
    return {
      id: this.id.toString('base64url'),
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: this.userHandle,
    };
  }
}
