// What the reference says beside the operations: the guides and the words of the field.
'use strict';

const cofferTexts = {
  guides: [
    ['integrator-guide', 'Integrator guide', 'From the first token to a payout, step by step.'],
    ['sandbox', 'Sandbox', 'Outcomes on demand: failures, refunds, reviews, time.'],
    ['webhooks', 'Webhooks', 'Receive events: verify signatures, retries, recovery, consumers in four languages.'],
    ['contract', 'Contract', 'Every rule of the API.'],
    ['provider-protocol', 'Provider protocol', 'Connect a payment provider.'],
    ['install', 'Install', 'Packages, service, first start.'],
    ['operating', 'Operating', 'Backups, upgrades, monitoring, incidents.'],
    ['configuration', 'Configuration', 'Every setting.'],
    ['tls', 'TLS', 'Certificates and proxies.'],
  ],
  glossary: [
    ['Association', 'The customer of the operator. All data belong to one association; the API takes it from the credentials.'],
    ['Application', 'A program of an association, with its own key, secret and scopes, in one environment.'],
    ['Environment', 'Sandbox or production. The registration of an application decides; both have the same address.'],
    ['Wallet', 'A ledger account of an association, or of a third party that it serves, with a balance for each asset.'],
    ['Trustline', 'The readiness of a wallet to hold an asset. A wallet has one for the asset it was created with; a payment in another asset fails with trustline_missing.'],
    ['Beneficiary', 'A saved recipient: a person or a business with payment destinations.'],
    ['Payment destination', 'Where a beneficiary receives money: a bank account, a mobile money number, or a ledger address.'],
    ['Connector', 'A configured route to a payment provider for one country, method, direction and pair of asset and currency.'],
    ['Quote', 'A price of a connector: what is sent, what arrives, the fee. It holds for about two minutes.'],
    ['Off-ramp', 'A payout: an asset of a wallet becomes money in the account of a beneficiary.'],
    ['On-ramp', 'A collection: money of a payer becomes an asset in a wallet.'],
    ['Reference', 'A text issued for a payer. Money that arrives at the provider with it credits a wallet. Also fromRef and toRef: what sender and recipient see on their statements.'],
    ['Swap', 'A payment that sends one asset and delivers another at the exchange rate.'],
    ['Strict send', 'A swap that fixes the amount sent; what arrives follows from the rate. minReceivingAmount sets the least.'],
    ['Hold', 'Funds reserved for a payment in progress: part of the balance, not available.'],
    ['Refund', 'The return of a debit after a payout failed at the provider. The statuses are refund_pending, refunded and refund_failed; the events payment.refund_pending, payment.refunded and payment.refund_failed.'],
    ['Idempotency', 'A submission with a transactionId that exists returns the first result with isIdempotent true, and moves nothing again.'],
    ['Webhook', 'An endpoint registered for events. An association has one active webhook for each event type in an environment.'],
    ['Delivery', 'One event for one endpoint. It has up to three attempts; after the last it is a failed delivery (dead letter).'],
    ['Settlement', 'The posting of an accepted payment to the ledger. A submission is accepted first and settled later.'],
  ],
};
