// Pays with the client of hey-api, which authenticates its calls by the security schemes of the
// document.
import { client } from './hey/client.gen.js';
import {
  createQuote, createToken, executeOfframp, getStatement, getStatementNdjson, getTransaction, listWallets,
  transferBetweenOwnWallets, validateOfframp,
} from './hey/index.js';
import type { Acknowledgement, Offramp, Statement, Transaction, Validation } from './hey/index.js';
import { check, first, pause, readDemo, type Same } from './story.js';

const demo = await readDemo();
client.setConfig({ baseUrl: demo.baseUrl });
const always = { throwOnError: true } as const;
const token = await createToken({ ...always, body: { clientId: demo.clientId, clientSecret: demo.clientSecret } });
client.setConfig({
  baseUrl: demo.baseUrl,
  auth: (scheme) => (scheme.type === 'apiKey' ? demo.apiKey : token.data.accessToken),
});

const wallets = await listWallets({ ...always, query: { assetCode: 'USDC' } });
check('wallets are listed', wallets.data.data.length >= 2);
const source = first(demo.wallets, 'USDC wallet', (each) => each.assetCode === 'USDC');
const target = first(demo.wallets, 'second USDC wallet', (each) => each.assetCode === 'USDC' && each.id !== source.id);

async function settled(id: string): Promise<Transaction> {
  for (let i = 0; i < 200; i += 1) {
    const { data } = await getTransaction({ ...always, path: { transactionId: id } });
    if (data.status !== 'initiated' && data.status !== 'processing') return data;
    await pause();
  }
  throw new Error(`${id} does not settle`);
}

const own = await transferBetweenOwnWallets({
  ...always,
  body: {
    transactionId: `hey-own-${Date.now()}`, sourceWalletId: source.id, destinationWalletId: target.id,
    sendingAssetCode: 'USDC', amount: '7.25', fromRef: 'HEY-OUT',
  },
});
const ownIsOneShape: Same<typeof own.data, Acknowledgement> = true;
check('the transfer succeeds', ownIsOneShape && (await settled(own.data.transactionRecordId)).status === 'succeeded');

const connector = first(demo.connectors, 'payout connector',
  (each) => each.flow === 'QUOTED' && each.direction === 'OFF_RAMP' && each.method === 'MOMO');
const recipient = first(demo.beneficiaries, 'recipient',
  (each) => each.destinations.some((destination) => destination.method === 'MOBILE_MONEY'));
const quote = await createQuote({
  ...always, body: { amount: '50', connectorId: connector.id, beneficiaryId: recipient.id },
});
const body: Offramp = {
  transactionId: `hey-payout-${Date.now()}`, quoteId: quote.data.quoteId, sourceWalletId: source.id,
  beneficiaryId: recipient.id, purposeOfPayment: 'GIFT', sourceOfFunds: 'SAVINGS', relationship: 'FRIEND',
};
const valid = await validateOfframp({ ...always, body });
const validIsOneShape: Same<typeof valid.data, Validation> = true;
check('the check passes', validIsOneShape && valid.data.valid);
const payout = await executeOfframp({ ...always, body });
const payoutIsOneShape: Same<typeof payout.data, Acknowledgement> = true;
const record = await settled(payout.data.transactionRecordId);
check(`the payout succeeds, not ${record.status}`, payoutIsOneShape && record.status === 'succeeded');

const rejected = await executeOfframp({ body: { ...body, transactionId: `${body.transactionId}-again` } });
check('a quote serves one payment', rejected.error?.code === 'quote_already_used');

const query = {
  walletId: source.id, assetCode: 'USDC', startDate: '2020-01-01',
  endDate: new Date(Date.now() + 86_400_000).toISOString(),
};
const statement = await getStatement({ ...always, query });
const statementIsOneShape: Same<typeof statement.data, Statement> = true;
check('the statement has the transfer', statementIsOneShape && statement.data.data.some((line) => line.reference === 'HEY-OUT'));
const lines = await getStatementNdjson({ ...always, query, parseAs: 'text' });
const linesAreText: Same<typeof lines.data, string> = true;
check('the export has the transfer', linesAreText && lines.data.includes('HEY-OUT'));

console.log(`hey-api: paid ${own.data.transactionRecordId} and ${payout.data.transactionRecordId}`);
