// Complete challenge logins in parallel: GET the challenge, sign it, POST it.
// Arguments: base URL, public key, secret seed, seconds, number of parallel logins. Prints `RESULT rate errors`.
import crypto from "node:crypto";
import http from "node:http";

const [base, account, seed, seconds, atOnce] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(atOnce) });

function fromBase32(text) {
  const bytes = [];
  let bits = 0, value = 0;
  for (const c of text) {
    value = (value << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 255);
      value &= (1 << bits) - 1;
    }
  }
  return Buffer.from(bytes);
}
const rawKey = (text) => fromBase32(text).subarray(1, 33);
const key = crypto.createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), rawKey(seed)]),
  format: "der", type: "pkcs8",
});
const hint = rawKey(account).subarray(28);

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(base + path, { method, agent, headers: { "Content-Type": "application/json" } },
      (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("end", () => resolve([response.statusCode, JSON.parse(Buffer.concat(parts))]));
      });
    request.on("error", reject);
    request.end(body);
  });
}

// TransactionEnvelope: type, transaction, one signature of the server (hint, length, 64 bytes).
const kSignature = 4 + 4 + 64;
function signed(transaction, passphrase) {
  const envelope = Buffer.from(transaction, "base64");
  const end = envelope.length - kSignature - 4;
  const network = crypto.createHash("sha256").update(passphrase).digest();
  const hash = crypto.createHash("sha256").update(network).update(envelope.subarray(0, end)).digest();
  const length = Buffer.from([0, 0, 0, 64]);
  return Buffer.concat([envelope.subarray(0, end), Buffer.from([0, 0, 0, 2]), envelope.subarray(end + 4),
    hint, length, crypto.sign(null, hash, key)]).toString("base64");
}

let logins = 0, errors = 0;
const until = Date.now() + seconds * 1000;
async function client() {
  while (Date.now() < until) {
    const [, challenge] = await call("GET", `/v1/public/auth-connect?account=${account}`);
    const transaction = signed(challenge.transaction, challenge.network_passphrase);
    const [status, answer] = await call("POST", "/v1/public/auth-connect", JSON.stringify({ transaction }));
    if (status === 200 && answer.idToken) logins += 1;
    else errors += 1;
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, client));
console.log(`RESULT ${Math.round(logins / seconds)} ${errors}`);
process.exit(0);
