// Lines that the compiler must reject: the document's types are as strict as the server.
import type { components, paths } from './schema.js';

type Schemas = components['schemas'];
type Problems = paths['/v1/payments/offramp']['post']['responses'];

export const offramp: Schemas['Offramp'] = {
  transactionId: 'x', quoteId: 'x', sourceWalletId: 'x', beneficiaryId: 'x', sourceOfFunds: 'SALARY', relationship: 'FRIEND',
  purposeOfPayment: 'FUN', // wrong: not a code of the vocabulary
};
export const transfer: Schemas['OwnTransfer'] = {
  transactionId: 'x', sourceWalletId: 'x', destinationWalletId: 'x', sendingAssetCode: 'USDC', amount: '1',
  idempotencyKey: 'x', // wrong: a removed field
};
export const acknowledgement = (reply: Schemas['Acknowledgement']): string => reply.quoteId; // wrong: not a member
export const code: Schemas['Problem']['code'] = 'nonsense'; // wrong: not a problem
export const status: Schemas['Transaction']['status'] = 'done'; // wrong: not a status
export const success: Problems[200] = undefined; // wrong: a payout has one success, 202
