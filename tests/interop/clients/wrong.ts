// What a compiler must refuse: the document's types are strict where the server is.
import type { components, paths } from './schema.js';

type Schemas = components['schemas'];
type Problems = paths['/v1/payments/offramp']['post']['responses'];

export const offramp: Schemas['Offramp'] = {
  transactionId: 'x', quoteId: 'x', sourceWalletId: 'x', beneficiaryId: 'x', sourceOfFunds: 'SALARY', relationship: 'FRIEND',
  purposeOfPayment: 'FUN', // wrong: it is no code of the vocabulary
};
export const transfer: Schemas['OwnTransfer'] = {
  transactionId: 'x', sourceWalletId: 'x', destinationWalletId: 'x', sendingAssetCode: 'USDC', amount: '1',
  idempotencyKey: 'x', // wrong: it is a retired field
};
export const acknowledgement = (reply: Schemas['Acknowledgement']): string => reply.quoteId; // wrong: it has no such member
export const code: Schemas['Problem']['code'] = 'nonsense'; // wrong: it is no problem
export const status: Schemas['Transaction']['status'] = 'done'; // wrong: it is no status
export const success: Problems[200] = undefined; // wrong: a payout has one success, 202
