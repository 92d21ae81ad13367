// Test data: payments in many states, wallets under review, beneficiaries, a webhook; with a script in every text
// that an integrator can set.
import { SCRIPT } from './outside.mjs';

const short = '<svg onload=window.owned=true>';

export class Integrator {
  static async login(facts) {
    const self = new Integrator();
    self.base = facts.baseUrl;
    self.headers = { 'x-svc-auth': facts.apiKey, 'Content-Type': 'application/json' };
    const { accessToken } = await self.post('/v1/auth/token', {
      clientId: facts.clientId,
      clientSecret: facts.clientSecret,
    });
    self.headers.Authorization = `Bearer ${accessToken}`;
    return self;
  }

  async call(method, path, body) {
    const response = await fetch(this.base + path, {
      method,
      headers: this.headers,
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const answer = text ? JSON.parse(text) : {};
    return answer.data && !Array.isArray(answer.data) && !answer.id ? answer.data : answer;
  }

  post(path, body) {
    return this.call('POST', path, body);
  }

  get(path) {
    return this.call('GET', path);
  }
}

/** A third-party wallet that waits for a review. */
function pendingWallet(api, name) {
  return api.post('/v1/wallets', {
    walletName: name,
    assetCode: 'USDC',
    ownAccount: false,
    metadata: {
      entityType: 'Person',
      firstName: short,
      lastName: 'Kamau',
      dateOfBirth: '1990-04-01',
      nationality: 'KE',
    },
  });
}

function payee(api, first, account) {
  return api.post('/v1/beneficiaries', {
    individual: { firstName: first, lastName: short, email: 'wanjiru@example.com' },
    tags: [short],
    paymentDestinations: [
      {
        method: 'BANK',
        countryIsoCode2: 'KE',
        currencyIsoCode3: 'KES',
        bank: { accountName: first, accountNumber: account, bankName: short },
      },
    ],
  });
}

async function payout(api, facts, { beneficiary, transactionId, through }) {
  const { data } = await api.get(`/v1/connectors/beneficiary/${beneficiary.id}/BANK`);
  const connector = data.find(({ name }) => name === through);
  const quote = await api.post('/v1/quotes', {
    amount: '25',
    connectorId: connector.id,
    beneficiaryId: beneficiary.id,
  });
  const { transactionRecordId } = await api.post('/v1/payments/offramp', {
    transactionId,
    quoteId: quote.quoteId,
    sourceWalletId: facts.wallets[0].id,
    beneficiaryId: beneficiary.id,
    toRef: 'SALARY-11',
    purposeOfPayment: 'SALARY',
    sourceOfFunds: 'BUSINESS_INCOME',
    relationship: 'EMPLOYEE',
  });
  return transactionRecordId;
}

export const PAYMENTS = 60;

async function transfers(api, facts) {
  const [from, to] = facts.wallets;
  const done = [];
  for (let i = 0; i < PAYMENTS; i += 1) {
    done.push(
      await api.post('/v1/payments/p2p/own', {
        transactionId: `walk-${i}`,
        sendingAssetCode: 'USDC',
        amount: `${i + 1}.50`,
        sourceWalletId: from.id,
        destinationWalletId: to.id,
        memo: i === 0 ? short.slice(0, 28) : undefined,
      }),
    );
  }
  return done[0].transactionRecordId;
}

/** `liar`: name of a connector whose provider responds with scripts. */
export async function seed(facts, { liar, receiver }) {
  const api = await Integrator.login(facts);
  await api.post('/v1/webhooks', {
    url: `${receiver}/%3Cscript%3E`,
    eventTypes: ['*'],
    description: short,
  });
  const beneficiary = await payee(api, short, '0110550077');
  const unlucky = await payee(api, SCRIPT.slice(0, 60), '0110551102');
  const seeded = {
    api,
    transaction: 'walk-0',
    payment: await transfers(api, facts),
    wallet: await pendingWallet(api, short),
    rejected: await pendingWallet(api, `Second ${short}`),
    paid: await payout(api, facts, { beneficiary, transactionId: 'paid', through: 'Kenya bank payout' }),
    stuck: await payout(api, facts, { beneficiary, transactionId: 'stuck', through: liar }),
    failed: await payout(api, facts, { beneficiary: unlucky, transactionId: 'failed', through: liar }),
  };
  await api.post('/v1/sandbox/events/payment.succeeded/trigger', {});
  return seeded;
}
