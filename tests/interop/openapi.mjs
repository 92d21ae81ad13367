// Part of openapi.py: checks every recorded exchange of the API tests against the served document, and checks the judge
// with forgeries. COFFER_TEST has the path of the `exchanges` and the output path of the `document`.
import { readFileSync, writeFileSync } from 'node:fs';
import { findingsOf } from './openapi_judge.mjs';

const { exchanges: logPath, document: documentPath } = JSON.parse(process.env.COFFER_TEST);
const lines = new Set(readFileSync(logPath, 'utf8').trimEnd().split('\n'));
const exchanges = [...lines].map((line) => JSON.parse(line));
const served = exchanges.find((e) => e.pattern === '/v1/openapi.json' && e.status === 200);
if (!served) throw new Error('no test has read /v1/openapi.json');
writeFileSync(documentPath, served.response);

const fresh = () => JSON.parse(served.response);
const schemas = (document) => document.components.schemas;
const resolved = (document, response) => document.components.responses[response.$ref.split('/').pop()];

/** Changes that make the document and the exchanges differ. Each must be detected. */
const forgeries = {
  'a status that is not documented': (document) => {
    delete document.paths['/v1/wallets/{walletId}'].get.responses['404'];
  },
  'a status that no test saw': (document) => {
    document.paths['/v1/wallets'].get.responses['410'] = { $ref: '#/components/responses/not-found' };
  },
  'a path that no test called': (document) => {
    document.paths['/v1/nothing'] = { get: document.paths['/v1/assets'].get };
  },
  'a response member of another type': (document) => {
    schemas(document).Wallet.properties.ownAccount = { type: 'string' };
  },
  'a response member that is missing': (document) => {
    schemas(document).Transaction.required.push('memo');
  },
  'a response member that is not documented': (document) => {
    delete schemas(document).StatementLine.properties.counterparty;
  },
  'a problem of another shape': (document) => {
    schemas(document).Problem.properties.status = { type: 'string' };
  },
  'a request member that may not be sent': (document) => {
    delete schemas(document).OwnTransfer.properties.memo;
  },
  'a request member that must be sent': (document) => {
    schemas(document).NewWallet.required.push('metadata');
  },
  'a query value that may not be sent': (document) => {
    schemas(document).Limit.maximum = 50;
  },
  'a query parameter that must be sent': (document) => {
    document.paths['/v1/wallets'].get.parameters[0].required = true;
  },
  'a media type that is not documented': (document) => {
    delete document.paths['/v1/statements/transactions/csv'].get.responses['200'].content['text/csv'];
  },
  'a problem that is not documented': (document) => {
    const response = document.paths['/v1/payments/p2p/own'].post.responses['409'];
    delete resolved(document, response).content['application/problem+json'].examples['wallet-not-verified'];
  },
  'a problem that no test saw': (document) => {
    const response = document.paths['/v1/payments/p2p/own'].post.responses['400'];
    resolved(document, response).content['application/problem+json'].examples['invalid-cursor'] = {};
  },
  'an event that is not documented': (document) => {
    delete document.webhooks['payment.succeeded'];
  },
  'an event of another shape': (document) => {
    schemas(document).PaymentEvent.properties.sequence = { type: 'string' };
  },
  'an example of a request that may not be sent': (document) => {
    document.paths['/v1/wallets'].post.requestBody.content['application/json'].example.walletName = 7;
  },
  'an example of a response of another shape': (document) => {
    delete document.paths['/v1/wallets'].post.responses['201'].content['application/json'].example.id;
  },
  'an example of a problem that the operation does not have': (document) => {
    document.paths['/v1/wallets'].post['x-problem-example'].body.type = 'urn:coffer:problem:invalid-cursor';
  },
  'an operation without an example of a problem': (document) => {
    delete document.paths['/v1/wallets'].post['x-problem-example'];
  },
};

for (const [name, forge] of Object.entries(forgeries)) {
  const document = fresh();
  forge(document);
  if (findingsOf(document, exchanges).length === 0) throw new Error(`the judge overlooks ${name}`);
}

const findings = [...new Set(findingsOf(fresh(), exchanges))];
const kinds = new Set(exchanges.map((e) => `${e.method} ${e.pattern} ${e.status}`));
console.log(`${exchanges.length} exchanges of ${kinds.size} kinds, ${Object.keys(forgeries).length} forgeries found`);
for (const finding of findings.slice(0, 50)) console.error(finding);
if (findings.length > 0) {
  console.error(`${findings.length} findings`);
  process.exit(1);
}
