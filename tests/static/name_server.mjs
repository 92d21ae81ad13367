// Helper of static_binary.sh: a DNS server and a TLS server, both independent of ours.
//
//   node name_server.mjs <certificate> <key> <file for the TLS port>
//
// DNS on 127.0.0.1:53 over UDP: name.test and other.test are 127.0.0.1, they have no IPv6 address, and no
// other name exists. TLS on a free port: /livez answers 200, everything else 503.
import dgram from 'node:dgram';
import fs from 'node:fs';
import https from 'node:https';

const [certFile, keyFile, portFile] = process.argv.slice(2);
const known = new Set(['name.test', 'other.test']);
const kTypeA = 1;

// The question is the only thing read: one name in length-prefixed labels, then type and class.
function answer(query) {
  const labels = [];
  let at = 12;
  while (query[at] !== 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
    at += 1 + query[at];
  }
  const question = query.subarray(12, at + 5);
  const type = query.readUInt16BE(at + 1);
  const exists = known.has(labels.join('.').toLowerCase());
  const hasAddress = exists && type === kTypeA;

  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8580 | (exists ? 0 : 3), 2); // an authoritative answer, or NXDOMAIN
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // The name by reference to the question, type A, class IN, 5 s, 4 bytes: 127.0.0.1.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat(hasAddress ? [header, question, record] : [header, question]);
}

const dns = dgram.createSocket('udp4');
dns.on('message', (query, from) => dns.send(answer(query), from.port, from.address));
dns.bind(53, '127.0.0.1', () => {
  const web = https.createServer(
    { cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile) },
    (request, response) => {
      response.statusCode = request.url === '/livez' ? 200 : 503;
      response.setHeader('Content-Type', 'application/json');
      response.end('{}\n');
    },
  );
  web.on('tlsClientError', () => {}); // a client that refuses our certificate is part of the test
  web.listen(0, '127.0.0.1', () => fs.writeFileSync(portFile, `${web.address().port}\n`));
});
