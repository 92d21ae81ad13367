// Generated from the OpenAPI document by clients/generate. Do not edit.
import { CallOptions, Pages, Runtime, escape } from "./runtime.js";
import * as types from "./types.js";

/**
 * A client of the API. A method that creates a payment is repeated with the same transaction ID until there is a
 * response, at most until the deadline. A list is an async iterator over the rows of all pages.
 */
export class Client extends Runtime {
  /** Exchange client credentials for a bearer token. */
  createToken(body: types.TokenRequest, options: CallOptions = {}): Promise<types.Token> {
    return this.request<types.Token>("POST", "/v1/auth/token", { body, auth: "public", options });
  }

  /** Exchange client credentials for a bearer token (OAuth 2, RFC 6749). */
  createOAuthToken(body: types.OAuthTokenRequest, options: CallOptions = {}): Promise<types.OAuthToken> {
    return this.request<types.OAuthToken>("POST", "/v1/oauth/token", { body, auth: "public", form: true, options });
  }

  /** Request a challenge to sign (SEP-10). */
  getChallenge(
    query: { account: string; home_domain?: string; client_domain?: string; memo?: string },
    options: CallOptions = {},
  ): Promise<types.Challenge> {
    return this.request<types.Challenge>("GET", "/v1/public/auth-connect", { query, auth: "public", options });
  }

  /** Log in with a signed challenge. */
  submitChallenge(body: types.SignedChallenge, options: CallOptions = {}): Promise<types.Session> {
    return this.request<types.Session>("POST", "/v1/public/auth-connect", { body, auth: "public", repeat: "never", options });
  }

  /** Sign in with public key and secret. */
  signIn(body: types.SignIn, options: CallOptions = {}): Promise<types.Session> {
    return this.request<types.Session>("POST", "/v1/public/auth-connect/sign-in", { body, auth: "public", options });
  }

  /** Exchange a refresh token for a new idToken. */
  refreshSession(body: types.Refresh, options: CallOptions = {}): Promise<types.Session> {
    return this.request<types.Session>("POST", "/v1/public/auth/refresh", { body, auth: "public", repeat: "never", options });
  }

  /** Log in a user with password and one-time code, for the business routes. */
  verifyOtp(body: types.OtpLogin, options: CallOptions = {}): Promise<types.Token> {
    return this.request<types.Token>("POST", "/v1/public/auth/verify-otp", { body, auth: "public", repeat: "never", options });
  }

  /** List the application's association. Requires the scope `associations:read`. */
  listAssociations(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Promise<types.Association[]> {
    return this.request<types.Association[]>("GET", "/v1/business/association/all", { query, envelope: true, options });
  }

  /** Read the application's association. Requires the scope `associations:read`. */
  getAssociation(id: string, options: CallOptions = {}): Promise<types.Association> {
    return this.request<types.Association>("GET", `/v1/business/association/${escape(id)}`, { envelope: true, options });
  }

  /** List the association's quotas and their usage. Requires the scope `associations:read`. */
  listQuotas(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.QuotaList, types.Quota> {
    return new Pages<types.QuotaList, types.Quota>(this, "/v1/quotas", { query, options });
  }

  /** List the registered assets. Requires the scope `wallets:read`. */
  listAssets(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.AssetList, types.Asset> {
    return new Pages<types.AssetList, types.Asset>(this, "/v1/assets", { query, options });
  }

  /** Read an asset. Requires the scope `wallets:read`. */
  getAsset(assetCode: string, options: CallOptions = {}): Promise<types.Asset> {
    return this.request<types.Asset>("GET", `/v1/assets/${escape(assetCode)}`, { options });
  }

  /** List wallets with balances. Requires the scope `wallets:read`. */
  listWallets(
    query: { assetCode?: string; networkName?: string; status?: types.WalletStatus; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.WalletList, types.Wallet> {
    return new Pages<types.WalletList, types.Wallet>(this, "/v1/wallets", { query, options });
  }

  /** Create a wallet. Requires the scope `wallets:write`. */
  createWallet(body: types.NewWallet, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("POST", "/v1/wallets", { body, repeat: "never", options });
  }

  /** Read a wallet with its balances. Requires the scope `wallets:read`. */
  getWallet(walletId: string, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("GET", `/v1/wallets/${escape(walletId)}`, { options });
  }

  /** Change a wallet's name or metadata. Requires the scope `wallets:write`. */
  updateWallet(walletId: string, body: types.WalletUpdate, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("PUT", `/v1/wallets/${escape(walletId)}`, { body, options });
  }

  /** Add an asset to a wallet. Requires the scope `wallets:write`. */
  createTrustline(walletId: string, body: types.NewTrustline, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("POST", `/v1/wallets/${escape(walletId)}/trustlines`, { body, repeat: "never", options });
  }

  /** List beneficiaries, with masked destinations. Requires the scope `beneficiaries:read`. */
  listBeneficiaries(
    query: { tag?: string; q?: string; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.BeneficiaryList, types.Beneficiary> {
    return new Pages<types.BeneficiaryList, types.Beneficiary>(this, "/v1/beneficiaries", { query, options });
  }

  /** Create a beneficiary. Requires the scope `beneficiaries:write`. */
  createBeneficiary(body: types.NewBeneficiary, options: CallOptions = {}): Promise<types.Beneficiary> {
    return this.request<types.Beneficiary>("POST", "/v1/beneficiaries", { body, repeat: "never", options });
  }

  /** Create up to 500 beneficiaries independently of each other. Requires the scope `beneficiaries:write`. */
  createBeneficiaries(body: types.NewBeneficiaries, options: CallOptions = {}): Promise<types.BulkResult> {
    return this.request<types.BulkResult>("POST", "/v1/beneficiaries/bulk", { body, repeat: "never", options });
  }

  /** Read a beneficiary. Requires the scope `beneficiaries:read`. */
  getBeneficiary(beneficiaryId: string, options: CallOptions = {}): Promise<types.Beneficiary> {
    return this.request<types.Beneficiary>("GET", `/v1/beneficiaries/${escape(beneficiaryId)}`, { options });
  }

  /** Change a beneficiary (JSON Merge Patch). Requires the scope `beneficiaries:write`. */
  updateBeneficiary(
    beneficiaryId: string,
    body: types.BeneficiaryPatch,
    options: CallOptions = {},
  ): Promise<types.Beneficiary> {
    return this.request<types.Beneficiary>("PATCH", `/v1/beneficiaries/${escape(beneficiaryId)}`, { body, repeat: "never", options });
  }

  /** Replace a beneficiary: details, destinations, addresses and tags. Requires the scope `beneficiaries:write`. */
  replaceBeneficiary(
    beneficiaryId: string,
    body: types.NewBeneficiary,
    options: CallOptions = {},
  ): Promise<types.Beneficiary> {
    return this.request<types.Beneficiary>("PUT", `/v1/beneficiaries/${escape(beneficiaryId)}`, { body, options });
  }

  /** Archive a beneficiary. Requires the scope `beneficiaries:write`. */
  deleteBeneficiary(beneficiaryId: string, options: CallOptions = {}): Promise<void> {
    return this.request<void>("DELETE", `/v1/beneficiaries/${escape(beneficiaryId)}`, { options });
  }

  /** List a beneficiary's payment destinations, masked. Requires the scope `beneficiaries:read`. */
  listDestinations(
    beneficiaryId: string,
    query: { method?: types.DestinationMethodIn; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.DestinationList, types.Destination> {
    return new Pages<types.DestinationList, types.Destination>(this, `/v1/beneficiaries/${escape(beneficiaryId)}/payment-destinations`, { query, options });
  }

  /** Add a payment destination. Requires the scope `beneficiaries:write`. */
  createDestination(
    beneficiaryId: string,
    body: types.NewDestination,
    options: CallOptions = {},
  ): Promise<types.Destination> {
    return this.request<types.Destination>("POST", `/v1/beneficiaries/${escape(beneficiaryId)}/payment-destinations`, { body, repeat: "never", options });
  }

  /** Read a payment destination. Requires the scope `beneficiaries:read`. */
  getDestination(
    beneficiaryId: string,
    destinationId: string,
    options: CallOptions = {},
  ): Promise<types.Destination> {
    return this.request<types.Destination>("GET", `/v1/beneficiaries/${escape(beneficiaryId)}/payment-destinations/${escape(destinationId)}`, { options });
  }

  /** Archive a payment destination. Requires the scope `beneficiaries:write`. */
  deleteDestination(beneficiaryId: string, destinationId: string, options: CallOptions = {}): Promise<void> {
    return this.request<void>("DELETE", `/v1/beneficiaries/${escape(beneficiaryId)}/payment-destinations/${escape(destinationId)}`, { options });
  }

  /** Replace a payment destination. Requires the scope `beneficiaries:write`. */
  replaceDestination(
    associationId: string,
    id: string,
    destId: string,
    body: types.NewDestination,
    options: CallOptions = {},
  ): Promise<types.Destination> {
    return this.request<types.Destination>("PUT", `/v1/business/beneficiaries/${escape(associationId)}/${escape(id)}/payment-destinations/${escape(destId)}`, { body, envelope: true, options });
  }

  /** List connectors. Requires the scope `connectors:read`. */
  listConnectors(
    query: { countryIsoCode2?: string; direction?: types.ConnectorDirection; method?: types.PayMethodFilter; assetCode?: string; flow?: types.ConnectorFlow; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.ConnectorList, types.Connector> {
    return new Pages<types.ConnectorList, types.Connector>(this, "/v1/connectors", { query, options });
  }

  /** Read a connector with its execution steps. Requires the scope `connectors:read`. */
  getConnector(
    connectorId: string,
    query: { transactionType?: string } = {},
    options: CallOptions = {},
  ): Promise<types.ConnectorDetail> {
    return this.request<types.ConnectorDetail>("GET", `/v1/connectors/${escape(connectorId)}`, { query, options });
  }

  /** List connectors that can pay a beneficiary by this method. Requires the scope `connectors:read`. */
  listConnectorsForBeneficiary(
    beneficiaryId: string,
    method: types.PayMethodFilter,
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.ConnectorList, types.Connector> {
    return new Pages<types.ConnectorList, types.Connector>(this, `/v1/connectors/beneficiary/${escape(beneficiaryId)}/${escape(method)}`, { query, options });
  }

  /** Request a quote for an off-ramp or, with type=onramp, an on-ramp. Requires the scope `quotes:write`. */
  createQuote(body: types.NewQuote, query: { type?: string } = {}, options: CallOptions = {}): Promise<types.Quote> {
    return this.request<types.Quote>("POST", "/v1/quotes", { query, body, repeat: "never", options });
  }

  /** Read a quote, including an expired one. Requires the scope `quotes:read`. */
  getQuote(quoteId: string, options: CallOptions = {}): Promise<types.Quote> {
    return this.request<types.Quote>("GET", `/v1/quotes/${escape(quoteId)}`, { options });
  }

  /** Expire an open quote. Requires the scope `quotes:write`. */
  sandboxExpireQuote(quoteId: string, options: CallOptions = {}): Promise<types.Quote> {
    return this.request<types.Quote>("POST", `/v1/sandbox/quotes/${escape(quoteId)}/expire`, { repeat: "never", options });
  }

  /**
   * Request a quote by the amount to send or to receive; responds with 402 on success. Requires the scope
   * `connect:write`.
   */
  createConnectQuote(
    direction: types.QuoteDirection,
    body: types.NewConnectQuote,
    options: CallOptions = {},
  ): Promise<types.Quote> {
    return this.request<types.Quote>("POST", `/v1/connect-quotes/${escape(direction)}`, { body, auth: "connect", repeat: "never", success: 402, options });
  }

  /** List the vocabularies. Requires the scope `payments:read`. */
  getPaymentEnums(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Promise<types.PaymentEnums> {
    return this.request<types.PaymentEnums>("GET", "/v1/payments/enums", { query, options });
  }

  /** List the fields that a connector requires. Requires the scope `payments:read`. */
  getPaymentRequirements(
    query: { connectorId: string; transactionType?: string },
    options: CallOptions = {},
  ): Promise<types.PaymentRequirements> {
    return this.request<types.PaymentRequirements>("GET", "/v1/payments/requirements", { query, options });
  }

  /** Read the health of the platform. Requires the scope `connect:read`. */
  getConnectHealth(options: CallOptions = {}): Promise<types.ConnectHealth> {
    return this.request<types.ConnectHealth>("GET", "/v1/connect-platform/health", { auth: "connect", options });
  }

  /** List countries with active connectors. Requires the scope `connect:read`. */
  listConnectCountries(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.ConnectCountryList, types.ConnectCountry> {
    return new Pages<types.ConnectCountryList, types.ConnectCountry>(this, "/v1/connect-countries", { query, auth: "connect", options });
  }

  /** List the registered assets. Requires the scope `connect:read`. */
  listConnectAssets(
    query: { limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.AssetList, types.Asset> {
    return new Pages<types.AssetList, types.Asset>(this, "/v1/connect-assets", { query, auth: "connect", options });
  }

  /** Pay a beneficiary's CRYPTO destination in one asset. Requires the scope `payments:write`. */
  payBeneficiary(body: types.BeneficiaryTransfer, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/p2p/beneficiary", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateBeneficiaryPayment(body: types.BeneficiaryTransfer, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/p2p/beneficiary/validate", { body, options });
  }

  /** Swap to a beneficiary (strict-send path payment). Requires the scope `payments:write`. */
  swapToBeneficiary(body: types.BeneficiarySwap, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/swap/beneficiary", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateBeneficiarySwap(body: types.BeneficiarySwap, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/swap/beneficiary/validate", { body, options });
  }

  /** Execute an off-ramp (payout) against a quote. Requires the scope `payments:write`. */
  executeOfframp(body: types.Offramp, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/offramp", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateOfframp(body: types.Offramp, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/offramp/validate", { body, options });
  }

  /** Execute an on-ramp (collection) against a quote. Requires the scope `payments:write`. */
  executeOnramp(body: types.Onramp, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/onramp", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateOnramp(body: types.Onramp, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/onramp/validate", { body, options });
  }

  /** Transfer one asset between own wallets. Requires the scope `payments:write`. */
  transferBetweenOwnWallets(body: types.OwnTransfer, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/p2p/own", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateOwnTransfer(body: types.OwnTransfer, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/p2p/own/validate", { body, options });
  }

  /** Transfer between own wallets atomically: all transfers settle or none. Requires the scope `payments:write`. */
  transferBetweenOwnWalletsAtomically(
    body: types.MultiTransfer,
    options: CallOptions = {},
  ): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/p2p/own/multi", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateOwnMultiTransfer(body: types.MultiTransfer, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/p2p/own/multi/validate", { body, options });
  }

  /** Swap between own wallets (strict send on the best market path). Requires the scope `payments:write`. */
  swapBetweenOwnWallets(body: types.OwnSwap, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/payments/swap/own", { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateOwnSwap(body: types.OwnSwap, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/payments/swap/own/validate", { body, options });
  }

  /** Register a reference for a customer's payments. Requires the scope `references:write`. */
  registerReference(body: types.NewReference, options: CallOptions = {}): Promise<types.RegisteredReference> {
    return this.request<types.RegisteredReference>("POST", "/v1/onramp/references", { body, repeat: "never", options });
  }

  /** List registered references, newest first. Requires the scope `references:read`. */
  listReferences(
    query: { connectorId?: string; customerId?: string; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.ReferenceList, types.RegisteredReference> {
    return new Pages<types.ReferenceList, types.RegisteredReference>(this, "/v1/onramp/references", { query, options });
  }

  /** Execute an on-ramp against a quote, like POST /v1/payments/onramp. Requires the scope `connect:write`. */
  executeConnectOnramp(body: types.Onramp, options: CallOptions = {}): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", "/v1/connect-onramp", { body, auth: "connect", repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `connect:write`. */
  validateConnectOnramp(body: types.Onramp, options: CallOptions = {}): Promise<types.Validation> {
    return this.request<types.Validation>("POST", "/v1/connect-onramp/validate", { body, auth: "connect", options });
  }

  /** Request an on-ramp quote and execute it in one request. Requires the scope `connect:write`. */
  executeConnectCashIn(body: types.CashIn, options: CallOptions = {}): Promise<types.CashInResult> {
    return this.request<types.CashInResult>("POST", "/v1/connect-cashin", { body, auth: "connect", repeat: "transaction", options });
  }

  /** List transaction records, newest first. Requires the scope `transactions:read`. */
  listTransactions(
    query: { status?: types.TransactionStatus; type?: types.TransactionType; walletId?: string; assetCode?: string; beneficiaryId?: string; connectorId?: string; transactionId?: string; reference?: string; metadata?: { [name: string]: string }; createdFrom?: string | Date; createdTo?: string | Date; updatedFrom?: string | Date; sort?: types.TransactionSort; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.TransactionList, types.Transaction> {
    return new Pages<types.TransactionList, types.Transaction>(this, "/v1/transactions", { query, options });
  }

  /** Read a transaction record by its record ID. Requires the scope `transactions:read`. */
  getTransaction(transactionId: string, options: CallOptions = {}): Promise<types.Transaction> {
    return this.request<types.Transaction>("GET", `/v1/transactions/${escape(transactionId)}`, { options });
  }

  /** List the statement lines of a wallet in one asset, oldest first. Requires the scope `statements:read`. */
  getStatement(
    query: { walletId: string; assetCode: string; startDate: string | Date; endDate: string | Date; limit?: number; cursor?: string },
    options: CallOptions = {},
  ): Pages<types.Statement, types.StatementLine> {
    return new Pages<types.Statement, types.StatementLine>(this, "/v1/statements/transactions", { query, options });
  }

  /** Export the whole range of a statement as CSV. Requires the scope `statements:read`. */
  getStatementCsv(
    query: { walletId: string; assetCode: string; startDate: string | Date; endDate: string | Date },
    options: CallOptions = {},
  ): Promise<string> {
    return this.request<string>("GET", "/v1/statements/transactions/csv", { query, text: true, options });
  }

  /** Export the whole range of a statement as one JSON object per line. Requires the scope `statements:read`. */
  getStatementNdjson(
    query: { walletId: string; assetCode: string; startDate: string | Date; endDate: string | Date },
    options: CallOptions = {},
  ): Promise<string> {
    return this.request<string>("GET", "/v1/statements/transactions/ndjson", { query, text: true, options });
  }

  /** Export the whole range of a statement as ISO 20022 camt.053.001.08. Requires the scope `statements:read`. */
  getStatementCamt053(
    query: { walletId: string; assetCode: string; startDate: string | Date; endDate: string | Date },
    options: CallOptions = {},
  ): Promise<string> {
    return this.request<string>("GET", "/v1/statements/transactions/camt.053", { query, text: true, options });
  }

  /** Register a webhook. Requires the scope `webhooks:write`. */
  createWebhook(body: types.NewWebhook, options: CallOptions = {}): Promise<types.WebhookWithSecret> {
    return this.request<types.WebhookWithSecret>("POST", "/v1/webhooks", { body, repeat: "never", options });
  }

  /** List webhooks, newest first. Requires the scope `webhooks:read`. */
  listWebhooks(
    query: { status?: types.WebhookStatus; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.WebhookList, types.Webhook> {
    return new Pages<types.WebhookList, types.Webhook>(this, "/v1/webhooks", { query, options });
  }

  /** Read a webhook. Requires the scope `webhooks:read`. */
  getWebhook(webhookId: string, options: CallOptions = {}): Promise<types.Webhook> {
    return this.request<types.Webhook>("GET", `/v1/webhooks/${escape(webhookId)}`, { options });
  }

  /** Change a webhook's URL, description or event types. Requires the scope `webhooks:write`. */
  updateWebhook(webhookId: string, body: types.WebhookUpdate, options: CallOptions = {}): Promise<types.Webhook> {
    return this.request<types.Webhook>("PATCH", `/v1/webhooks/${escape(webhookId)}`, { body, repeat: "never", options });
  }

  /** Disable a webhook permanently. Requires the scope `webhooks:write`. */
  deactivateWebhook(webhookId: string, options: CallOptions = {}): Promise<types.Webhook> {
    return this.request<types.Webhook>("DELETE", `/v1/webhooks/${escape(webhookId)}`, { options });
  }

  /** Rotate the signing secret of a webhook. Requires the scope `webhooks:write`. */
  rotateWebhookSecret(
    webhookId: string,
    body?: types.SecretRotation,
    options: CallOptions = {},
  ): Promise<types.WebhookWithSecret> {
    return this.request<types.WebhookWithSecret>("POST", `/v1/webhooks/${escape(webhookId)}/rotate-secret`, { body, repeat: "never", options });
  }

  /** Send a test event to a webhook. Requires the scope `webhooks:write`. */
  testWebhook(webhookId: string, options: CallOptions = {}): Promise<types.TestEvent> {
    return this.request<types.TestEvent>("POST", `/v1/webhooks/${escape(webhookId)}/test`, { repeat: "never", options });
  }

  /** List an application's webhooks. Requires the scope `webhooks:read`. */
  listApplicationWebhooks(
    id: string,
    query: { status?: types.WebhookStatus; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.WebhookList, types.Webhook> {
    return new Pages<types.WebhookList, types.Webhook>(this, `/v1/application/${escape(id)}/webhook`, { query, options });
  }

  /** Add a webhook, by default for all payment events. Requires the scope `webhooks:write`. */
  addApplicationWebhook(
    id: string,
    body: types.NewApplicationWebhook,
    options: CallOptions = {},
  ): Promise<types.WebhookWithSecret> {
    return this.request<types.WebhookWithSecret>("POST", `/v1/application/${escape(id)}/webhook`, { body, repeat: "never", options });
  }

  /** Change a webhook. Requires the scope `webhooks:write`. */
  updateApplicationWebhook(
    id: string,
    webhookId: string,
    body: types.WebhookUpdate,
    options: CallOptions = {},
  ): Promise<types.Webhook> {
    return this.request<types.Webhook>("PATCH", `/v1/application/${escape(id)}/webhook/${escape(webhookId)}`, { body, repeat: "never", options });
  }

  /** Remove a webhook permanently. Requires the scope `webhooks:write`. */
  removeApplicationWebhook(id: string, webhookId: string, options: CallOptions = {}): Promise<void> {
    return this.request<void>("DELETE", `/v1/application/${escape(id)}/webhook/${escape(webhookId)}`, { options });
  }

  /** Rotate the signing secret of a webhook. Requires the scope `webhooks:write`. */
  rotateApplicationWebhookSecret(
    id: string,
    webhookId: string,
    body?: types.SecretRotation,
    options: CallOptions = {},
  ): Promise<types.WebhookWithSecret> {
    return this.request<types.WebhookWithSecret>("POST", `/v1/application/${escape(id)}/webhook/${escape(webhookId)}/rotate-secret`, { body, repeat: "never", options });
  }

  /** List the deliveries of a webhook, newest event first. Requires the scope `webhooks:read`. */
  listDeliveries(
    webhookId: string,
    query: { status?: types.DeliveryStatus; eventType?: types.EventType; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.DeliveryList, types.Delivery> {
    return new Pages<types.DeliveryList, types.Delivery>(this, `/v1/webhooks/${escape(webhookId)}/deliveries`, { query, options });
  }

  /** Read a delivery with its body and attempts. Requires the scope `webhooks:read`. */
  getDelivery(webhookId: string, deliveryId: string, options: CallOptions = {}): Promise<types.DeliveryDetail> {
    return this.request<types.DeliveryDetail>("GET", `/v1/webhooks/${escape(webhookId)}/deliveries/${escape(deliveryId)}`, { options });
  }

  /** Redeliver an event, with the same ID and bytes. Requires the scope `webhooks:write`. */
  resendDelivery(webhookId: string, deliveryId: string, options: CallOptions = {}): Promise<types.Delivery> {
    return this.request<types.Delivery>("POST", `/v1/webhooks/${escape(webhookId)}/deliveries/${escape(deliveryId)}/resend`, { repeat: "never", options });
  }

  /** Deliver all events of a period that the endpoint did not receive. Requires the scope `webhooks:write`. */
  recoverDeliveries(webhookId: string, body: types.NewRecovery, options: CallOptions = {}): Promise<types.Recovery> {
    return this.request<types.Recovery>("POST", `/v1/webhooks/${escape(webhookId)}/recover`, { body, repeat: "never", options });
  }

  /** List events, oldest first, as delivered to webhooks. Requires the scope `webhooks:read`. */
  listEvents(
    query: { afterSequence?: number; type?: types.EventType; limit?: number; cursor?: string } = {},
    options: CallOptions = {},
  ): Pages<types.EventList, types.Event> {
    return new Pages<types.EventList, types.Event>(this, "/v1/events", { query, options });
  }

  /** Read an event. Requires the scope `webhooks:read`. */
  getEvent(eventId: string, options: CallOptions = {}): Promise<types.Event> {
    return this.request<types.Event>("GET", `/v1/events/${escape(eventId)}`, { options });
  }

  /** Send a sample event to the webhook registered for its type. Requires the scope `webhooks:write`. */
  sandboxTriggerEvent(type: types.EventType, options: CallOptions = {}): Promise<types.TestEvent> {
    return this.request<types.TestEvent>("POST", `/v1/sandbox/events/${escape(type)}/trigger`, { repeat: "never", options });
  }

  /** Approve a pending wallet. Requires the scope `wallets:write`. */
  sandboxVerifyWallet(walletId: string, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("POST", `/v1/sandbox/wallets/${escape(walletId)}/verify`, { repeat: "never", options });
  }

  /** Reject a pending wallet. Requires the scope `wallets:write`. */
  sandboxRejectWallet(
    walletId: string,
    body?: types.WalletRejection,
    options: CallOptions = {},
  ): Promise<types.Wallet> {
    return this.request<types.Wallet>("POST", `/v1/sandbox/wallets/${escape(walletId)}/reject`, { body, repeat: "never", options });
  }

  /** Simulate a successful result from the provider. Requires the scope `payments:write`. */
  sandboxSucceedTransaction(transactionId: string, options: CallOptions = {}): Promise<types.Transaction> {
    return this.request<types.Transaction>("POST", `/v1/sandbox/transactions/${escape(transactionId)}/succeed`, { repeat: "never", options });
  }

  /** Simulate a failed result from the provider. Requires the scope `payments:write`. */
  sandboxFailTransaction(
    transactionId: string,
    query: { code?: types.FailureCode } = {},
    options: CallOptions = {},
  ): Promise<types.Transaction> {
    return this.request<types.Transaction>("POST", `/v1/sandbox/transactions/${escape(transactionId)}/fail`, { query, repeat: "never", options });
  }

  /** Simulate a customer payment on a reference. Requires the scope `payments:write`. */
  sandboxPayReference(
    reference: string,
    body: types.ReferencePayment,
    options: CallOptions = {},
  ): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", `/v1/sandbox/references/${escape(reference)}/pay`, { body, repeat: "never", options });
  }

  /** Credit a wallet. Requires the scope `wallets:write`. */
  sandboxFundWallet(walletId: string, body: types.WalletFunding, options: CallOptions = {}): Promise<types.Wallet> {
    return this.request<types.Wallet>("POST", `/v1/sandbox/wallets/${escape(walletId)}/fund`, { body, repeat: "never", options });
  }

  /** OpenAPI document. */
  getOpenApi(options: CallOptions = {}): Promise<unknown> {
    return this.request<unknown>("GET", "/v1/openapi.json", { auth: "public", options });
  }

  /** Give back a payment that has succeeded, in whole or in part. Requires the scope `payments:write`. */
  reversePayment(
    transactionRecordId: string,
    body: types.Reversal,
    options: CallOptions = {},
  ): Promise<types.Acknowledgement> {
    return this.request<types.Acknowledgement>("POST", `/v1/payments/${escape(transactionRecordId)}/reversals`, { body, repeat: "transaction", options });
  }

  /** Validate this payment without storing it. Requires the scope `payments:write`. */
  validateReversal(
    transactionRecordId: string,
    body: types.Reversal,
    options: CallOptions = {},
  ): Promise<types.Validation> {
    return this.request<types.Validation>("POST", `/v1/payments/${escape(transactionRecordId)}/reversals/validate`, { body, options });
  }
}
