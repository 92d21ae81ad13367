// What a walk needs to see: payments in many states, wallets under review, beneficiaries, a webhook; with a
// script in every text that an integrator may choose.

export const SCRIPT = '<img src=x onerror="window.owned=true"><script>window.owned=true</script>';
const short = '<svg onload=window.owned=true>';

class Integrator {
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

/** A third-party wallet, which waits for a review. */
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

async function payout(api, facts, beneficiary, name) {
  const answer = await api.get(`/v1/connectors/beneficiary/${beneficiary.id}/BANK`);
  const list = Array.isArray(answer) ? answer : answer.data || answer.connectors;
  const quote = await api.post('/v1/quotes', {
    amount: '25',
    connectorId: list[0].id,
    beneficiaryId: beneficiary.id,
  });
  return api.post('/v1/payments/offramp', {
    transactionId: name,
    quoteId: quote.quoteId,
    sourceWalletId: facts.wallets[0].id,
    beneficiaryId: beneficiary.id,
    toRef: 'SALARY-11',
    purposeOfPayment: 'SALARY',
    sourceOfFunds: 'BUSINESS_INCOME',
    relationship: 'EMPLOYEE',
  });
}

/** What does not work is said and left out: then the screen that wants it fails by name. */
async function attempt(what, work) {
  try {
    return await work();
  } catch (fault) {
    process.stdout.write(`seed     ${what}: ${fault.message}\n`);
    return undefined;
  }
}

export async function seed(facts) {
  const api = await Integrator.login(facts);
  const [from, to] = facts.wallets;
  const seeded = { api, transaction: 'walk-0' };
  for (let i = 0; i < 60; i += 1) {
    const payment = await attempt('payment', () =>
      api.post('/v1/payments/p2p/own', {
        transactionId: `walk-${i}`,
        sendingAssetCode: 'USDC',
        amount: `${i + 1}.50`,
        sourceWalletId: from.id,
        destinationWalletId: to.id,
        memo: i === 0 ? short.slice(0, 28) : undefined,
      }),
    );
    seeded.payment ??= payment && payment.transactionRecordId;
  }
  seeded.wallet = await attempt('wallet', () => pendingWallet(api, short));
  seeded.rejected = await attempt('wallet', () => pendingWallet(api, `Second ${short}`));
  const lucky = await attempt('beneficiary', () => payee(api, short, '0110550077'));
  const stuck = await attempt('beneficiary', () => payee(api, 'Otieno', '0110551201'));
  const failing = await attempt('beneficiary', () => payee(api, 'Ouma', '0110551102'));
  seeded.beneficiary = lucky;
  seeded.payout = lucky && (await attempt('payout', () => payout(api, facts, lucky, 'payout-1')));
  seeded.stuck = stuck && (await attempt('stuck payout', () => payout(api, facts, stuck, 'payout-stuck')));
  if (failing) await attempt('failing payout', () => payout(api, facts, failing, 'payout-failing'));
  seeded.webhook = await attempt('webhook', () =>
    api.post('/v1/webhooks', {
      url: 'http://127.0.0.1:9/%3Cscript%3E',
      eventTypes: ['*'],
      description: short,
    }),
  );
  await attempt('an event', () => api.post('/v1/sandbox/events/payment.succeeded/trigger', {}));
  return seeded;
}
