// Pays with the client of openapi-typescript and openapi-fetch. No success is narrowed: `need` only
// removes the undefined that stands for an error.
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './schema.js';
import { check, first, pause, readDemo, type Same } from './story.js';

type Schemas = components['schemas'];

function need<T>(result: { data?: T; error?: unknown; response: Response }): T {
  if (result.data === undefined) throw new Error(`${result.response.url}: ${JSON.stringify(result.error)}`);
  return result.data;
}

const demo = await readDemo();
const api = createClient<paths>({ baseUrl: demo.baseUrl });
const token = need(await api.POST('/v1/auth/token', {
  body: { clientId: demo.clientId, clientSecret: demo.clientSecret },
}));
api.use({
  onRequest({ request }) {
    request.headers.set('x-svc-auth', demo.apiKey);
    request.headers.set('Authorization', `Bearer ${token.accessToken}`);
    return request;
  },
});

const wallets = need(await api.GET('/v1/wallets', { params: { query: { assetCode: 'USDC', limit: 10 } } }));
check('wallets are listed', wallets.data.length >= 2 && !wallets.hasMore);
const source = first(demo.wallets, 'USDC wallet', (each) => each.assetCode === 'USDC');
const target = first(demo.wallets, 'second USDC wallet', (each) => each.assetCode === 'USDC' && each.id !== source.id);

async function settled(id: string): Promise<Schemas['Transaction']> {
  for (let i = 0; i < 200; i += 1) {
    const record = need(await api.GET('/v1/transactions/{transactionId}', { params: { path: { transactionId: id } } }));
    if (record.status !== 'initiated' && record.status !== 'processing') return record;
    await pause();
  }
  throw new Error(`${id} does not settle`);
}

// Between own wallets: first a check, then the payment, then a replay.
const transfer: Schemas['OwnTransfer'] = {
  transactionId: `fetch-own-${Date.now()}`, sourceWalletId: source.id, destinationWalletId: target.id,
  sendingAssetCode: 'USDC', amount: '12.50', fromRef: 'FETCH-OUT', description: 'Weekly float 💶',
};
const valid = need(await api.POST('/v1/payments/p2p/own/validate', { body: transfer }));
const validIsOneShape: Same<typeof valid, Schemas['Validation']> = true;
check('the check passes', valid.valid && validIsOneShape);
const own = need(await api.POST('/v1/payments/p2p/own', { body: transfer }));
const ownIsOneShape: Same<typeof own, Schemas['Acknowledgement']> = true;
check('the transfer is new', !own.isIdempotent && ownIsOneShape);
check('the transfer succeeds', (await settled(own.transactionRecordId)).status === 'succeeded');
check('a repeated request is a replay', need(await api.POST('/v1/payments/p2p/own', { body: transfer })).isIdempotent);

// A payout at the price of a quote.
const connector = first(demo.connectors, 'payout connector',
  (each) => each.flow === 'QUOTED' && each.direction === 'OFF_RAMP' && each.method === 'MOMO');
const recipient = first(demo.beneficiaries, 'recipient',
  (each) => each.destinations.some((destination) => destination.method === 'MOBILE_MONEY'));
const quote = need(await api.POST('/v1/quotes', {
  body: { amount: '100.00', connectorId: connector.id, beneficiaryId: recipient.id },
}));
const payout = need(await api.POST('/v1/payments/offramp', {
  body: {
    transactionId: `fetch-payout-${Date.now()}`, quoteId: quote.quoteId, sourceWalletId: source.id,
    beneficiaryId: recipient.id, purposeOfPayment: 'FAMILY_SUPPORT', sourceOfFunds: 'SALARY', relationship: 'FRIEND',
  },
}));
const record = await settled(payout.transactionRecordId);
check(`the payout succeeds, not ${record.status}`, record.status === 'succeeded' && record.quoteId === quote.quoteId);

// A rejection: `code` is a known value.
const rejected = await api.POST('/v1/payments/p2p/own', { body: { ...transfer, amount: '13.50' } });
check('another body is a conflict', rejected.error?.code === 'transaction_id_conflict');

// The statement as a page, and as exports.
const range = {
  walletId: source.id, assetCode: 'USDC', startDate: '2020-01-01',
  endDate: new Date(Date.now() + 86_400_000).toISOString(),
};
const statement = need(await api.GET('/v1/statements/transactions', { params: { query: range } }));
const statementIsOneShape: Same<typeof statement, Schemas['Statement']> = true;
check('the statement has the transfer', statementIsOneShape && statement.data.some((line) => line.reference === 'FETCH-OUT'));
const csv = need(await api.GET('/v1/statements/transactions/csv', { params: { query: range }, parseAs: 'text' }));
const csvIsText: Same<typeof csv, string> = true;
check('the export has the transfer', csvIsText && csv.includes('FETCH-OUT'));

// A receiver's handler for one event type.
type Succeeded = webhooks['payment.succeeded']['post']['requestBody']['content']['application/json'];
const describe = (event: Succeeded): string => `${event.type} ${event.data.transactionId} ${event.data.status}`;
const eventTypeIsExact: Same<Succeeded['type'], 'payment.succeeded'> = true;
check('events are typed', eventTypeIsExact && typeof describe === 'function');

console.log(`openapi-fetch: paid ${own.transactionRecordId} and ${payout.transactionRecordId}`);
