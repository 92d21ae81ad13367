// Generated from the OpenAPI document by clients/generate. Do not edit.

/** A decimal number as text, such as "12.50": a number of JavaScript cannot hold every amount. */
export type Decimal = string;

/** Members of requests that take any JSON value, also fractions. */
export const freeForm: ReadonlySet<string> = new Set(["additionalFields"]);

/** Status of a payment. GET /v1/payments/enums returns labels and transitions */
export type TransactionStatus =
  | "initiated"
  | "processing"
  | "succeeded"
  | "failed"
  | "refund_pending"
  | "refunded"
  | "refund_failed"
  | "expired"
  | (string & {});

/** Type of the payment */
export type TransactionType =
  | "p2p_own"
  | "p2p_beneficiary"
  | "p2p_own_multi"
  | "swap_own"
  | "swap_beneficiary"
  | "offramp"
  | "onramp"
  | "onramp_reference"
  | (string & {});

/** Sort order, newest first */
export type TransactionSort = "createdAt" | "updatedAt";

/** Review status of a wallet */
export type WalletStatus = "Pending" | "Verified" | "Rejected" | (string & {});

/** A problem (RFC 9457) */
export interface ProblemDetails {
  /** URN of the problem: `urn:coffer:problem:` followed by the slug */
  type: string;
  /** Title of the problem, identical for every occurrence */
  title: string;
  /** HTTP status code */
  status: number;
  /** Explanation of this occurrence */
  detail?: string;
  /** Path of the request */
  instance?: string;
  /** ID of the request, as in `X-Request-Id` */
  requestId: string;
  /** Slug of the problem, with underscores */
  code: ProblemCode;
  /** URL of the page that explains this problem */
  docUrl: string;
  /** Address of the machine that leads the ledger; only with `not_leader` */
  leader?: string;
  /** The invalid fields */
  errors?: FieldError[];
  /**
   * OAuth error code of POST /v1/oauth/token, or the text that SEP-10 clients read from /v1/public/auth-connect; only
   * there
   */
  error?: string;
  /** Description of the OAuth error; only on POST /v1/oauth/token */
  error_description?: string;
}

/** Slug of a problem, with underscores */
export type ProblemCode =
  | "malformed_request"
  | "invalid_reference"
  | "invalid_cursor"
  | "invalid_challenge"
  | "unauthorized"
  | "token_expired"
  | "forbidden"
  | "no_association"
  | "insufficient_scope"
  | "association_suspended"
  | "not_found"
  | "method_not_allowed"
  | "transaction_id_conflict"
  | "wallet_not_verified"
  | "conflict"
  | "quote_expired"
  | "quote_already_used"
  | "references_exist"
  | "webhook_event_type_taken"
  | "payload_too_large"
  | "headers_too_large"
  | "unsupported_media_type"
  | "validation_failed"
  | "insufficient_funds"
  | "trustline_missing"
  | "amount_precision"
  | "amount_out_of_range"
  | "requirement_missing"
  | "webhook_target_refused"
  | "quota_exceeded"
  | "limit_exceeded"
  | "reversal_exceeds_payment"
  | "rate_limited"
  | "unexpected_error"
  | "provider_error"
  | "provider_unavailable"
  | "overloaded"
  | "storage_full"
  | "not_leader"
  | "provider_timeout"
  | "token_verification_timeout"
  | (string & {});

/** An error in one field */
export interface FieldError {
  /** Path of the field in the request */
  field: string;
  /** A sentence about the error in the field */
  message: string;
}

/** Credentials of an application */
export interface TokenRequest {
  /** Client ID issued at registration */
  clientId: string;
  /** Client secret issued at registration */
  clientSecret: string;
  /** Scopes to request, separated by spaces; all scopes of the application by default */
  scope?: string;
}

/**
 * Credentials of an application as an OAuth 2 form. `client_id` and `client_secret` can also be sent with HTTP Basic
 * authentication
 */
export interface OAuthTokenRequest {
  /** OAuth grant */
  grant_type: "client_credentials";
  /** Client ID issued at registration */
  client_id?: string;
  /** Client secret issued at registration */
  client_secret?: string;
  /** Scopes to request, separated by spaces; all scopes of the application by default */
  scope?: string;
}

/** An access token */
export interface Token {
  /** Bearer token for the API */
  accessToken: string;
  /** Token type */
  tokenType: "Bearer";
  /** Seconds until the token expires */
  expiresIn: number;
  /** Association of the application; null if it has none */
  associationId: string | null;
}

/** An access token in the form of OAuth 2 */
export interface OAuthToken {
  /** Bearer token for the API */
  access_token: string;
  /** Token type */
  token_type: "Bearer";
  /** Seconds until the token expires */
  expires_in: number;
  /** Granted scopes, separated by spaces */
  scope: string;
}

/** The tenant: a customer of the operator */
export interface Association {
  /** ID of the association */
  id: string;
  /** Name of the association */
  name: string;
  /** Status of the association */
  status: AssociationStatus;
}

/** Status of the association */
export type AssociationStatus = "pending" | "active" | "suspended" | (string & {});

/** A registered asset */
export interface Asset {
  /** Asset code */
  code: string;
  /** Public key of the asset's issuer */
  issuer: string;
  /** Name of the asset */
  name: string;
  /** Number of decimal places */
  decimals: number;
  /** Network of the wallet or asset */
  networkName: string;
}

/** All registered assets */
export interface AssetList {
  /** The rows of this page */
  data: Asset[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A person that holds a wallet */
export interface PersonMetadata {
  /** Whether the holder is a person or a company */
  entityType: "Person";
  /** Given name */
  firstName: string;
  /** Family name */
  lastName: string;
  /** Date of birth */
  dateOfBirth: string;
  /** Country of nationality */
  nationality: string;
  /** Type of identity document. GET /v1/payments/enums suggests codes */
  idType?: string;
  /** Number of the identity document */
  idNumber?: string;
  /** Postal address on one line */
  address?: string;
  /** E-mail address */
  email?: string;
  /** Phone number in E.164 format */
  phone?: string;
}

/** A company that holds a wallet */
export interface BusinessMetadata {
  /** Whether the holder is a person or a company */
  entityType: "Business";
  /** Registered name of the company */
  companyName: string;
  /** Registration number of the company */
  registrationNumber: string;
  /** Country of registration */
  registrationCountry: string;
  /** Tax number */
  taxId?: string;
  /** Postal address on one line */
  address?: string;
  /** E-mail address */
  contactEmail?: string;
}

/** The holder of a wallet */
export type Metadata = PersonMetadata | BusinessMetadata;

/** A wallet to create */
export interface NewWallet {
  /** Display name of the wallet */
  walletName: string;
  /** First asset of the wallet */
  assetCode: string;
  /** Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review */
  ownAccount?: boolean;
  /** Required unless `ownAccount` is true */
  metadata?: Metadata;
}

/** Fields to change. Changing the metadata of a third-party wallet starts a new review */
export interface WalletUpdate {
  /** Display name of the wallet */
  walletName?: string;
  /** The holder of the wallet */
  metadata?: Metadata;
}

/** An asset to add to a wallet */
export interface NewTrustline {
  /** Asset code */
  assetCode: string;
}

/** Reason for rejecting the wallet */
export interface WalletRejection {
  /** Code of the reason */
  code?: string;
  /** The reason as a sentence */
  message?: string;
}

/** Amount and asset to credit */
export interface WalletFunding {
  /** Asset code */
  assetCode: string;
  /** Amount to credit */
  amount: Decimal;
}

/** Balance of a wallet in one asset */
export interface Balance {
  /** Asset code */
  assetCode: string;
  /** Public key of the asset's issuer */
  issuer: string;
  /** Number of decimal places */
  decimals: number;
  /** Total balance, including held amounts */
  balance: Decimal;
  /** Amount that can be spent: the balance without held amounts */
  available: Decimal;
  /** Amount reserved for payments in progress */
  held: Decimal;
}

/** A wallet with its balances */
export interface Wallet {
  /** ID of the wallet */
  id: string;
  /** Display name of the wallet */
  walletName: string;
  /** Account number of the wallet */
  accountNumber: string;
  /** Public key of the wallet on the ledger */
  publicKey: string;
  /** Network of the wallet or asset */
  networkName: string;
  /** First asset of the wallet */
  assetCode: string;
  /** Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review */
  ownAccount: boolean;
  /** Review status. Only a `Verified` wallet can transact */
  status: WalletStatus;
  /** Reason for this status */
  statusReason?: WalletStatusReason;
  /** The holder of the wallet */
  metadata?: Metadata;
  /** One balance per asset */
  balances: Balance[];
  /** True if the balances could not be read; `balances` is then empty */
  balancesUnavailable?: boolean;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
}

/** Reason for this status */
export interface WalletStatusReason {
  /** Code of the reason */
  code: string;
  /** The reason as a sentence */
  message: string;
}

/** A page of wallets */
export interface WalletList {
  /** The rows of this page */
  data: Wallet[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A transfer of one asset between own wallets */
export interface OwnTransfer {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /**
   * Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
   * `notifyWhatsApp`
   */
  notifyEmail?: boolean | null;
  /**
   * Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
   * `notifyEmail`
   */
  notifyWhatsApp?: boolean | null;
  /** Wallet to debit */
  sourceWalletId: string;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Optional; must equal `sendingAssetCode`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
}

/** Up to 100 transfers that either all settle or all fail */
export interface MultiTransfer {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** The transfers, in the order in which they are applied */
  transfers: readonly Transfer[];
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
}

/** One transfer of a multi-transfer */
export interface Transfer {
  /** Wallet to debit */
  sourceWalletId: string;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Optional; must equal `sendingAssetCode`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
}

/** A swap between own wallets */
export interface OwnSwap {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /**
   * Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
   * `notifyWhatsApp`
   */
  notifyEmail?: boolean | null;
  /**
   * Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
   * `notifyEmail`
   */
  notifyWhatsApp?: boolean | null;
  /** Wallet to debit */
  sourceWalletId: string;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Asset to credit */
  receivingAssetCode: string;
  /** Minimum amount to receive. Below it, the payment fails with `slippage_exceeded` */
  minReceivingAmount?: Decimal;
}

/** The payment is stored and will be settled */
export interface Acknowledgement {
  /** ID of the transaction record, for GET /v1/transactions/{transactionId} */
  transactionRecordId: string;
  /** Always `accepted` */
  status: "accepted";
  /** ID of a downstream execution; reserved */
  intentId?: string;
  /** True if this `transactionId` was accepted earlier with the same content */
  isIdempotent: boolean;
  /** Human-readable message */
  message?: string;
}

/** Result of a validation */
export interface Validation {
  /** All checks passed; nothing was stored */
  valid: true;
}

/** A status that the payment reached */
export interface StatusChange {
  /** The status */
  status: TransactionStatus;
  /** Time of the event */
  at: string;
  /** Failure code from GET /v1/payments/enums */
  code?: FailureCode;
  /** The reason as a sentence */
  message?: string;
}

/** Reason for a failed payment. GET /v1/payments/enums returns labels */
export type FailureCode =
  | "insufficient_funds"
  | "account_closed"
  | "account_not_found"
  | "name_mismatch"
  | "limit_exceeded"
  | "compliance_rejected"
  | "destination_not_found"
  | "trustline_missing"
  | "slippage_exceeded"
  | "no_market_path"
  | "insufficient_liquidity"
  | "provider_timeout"
  | "provider_error"
  | "provider_unavailable"
  | "expired"
  | "operator_failed"
  | "ledger_limit_exceeded"
  | "underpaid"
  | "wrong_currency"
  | "amount_precision"
  | (string & {});

/** One transfer of a multi-transfer */
export interface TransactionLeg {
  /** Wallet to debit */
  sourceWalletId: string;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference on the sender's statement */
  fromRef?: string;
  /** Reference on the recipient's statement */
  toRef?: string;
  /** Description on the statements */
  description?: string;
}

/** The record of a payment */
export interface Transaction {
  /** ID of the record, equal to `transactionRecordId` */
  id: string;
  /** ID of the transaction record, for GET /v1/transactions/{transactionId} */
  transactionRecordId: string;
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Type of the payment */
  type: TransactionType;
  /** Status of the payment */
  status: TransactionStatus;
  /**
   * Detail of the status. `in_review`, `awaiting_payment` and `awaiting_provider` say what a payment in `processing`
   * waits for. `underpaid` and `overpaid` say that the payer of an on-ramp paid an amount other than `sendingAmount`
   */
  substatus?: TransactionSubstatus;
  /** Reason for this status */
  statusReason?: TransactionStatusReason;
  /** All statuses of the payment so far, in order */
  statusHistory: StatusChange[];
  /** Environment: sandbox or production */
  environment: Environment;
  /** Asset to debit */
  sendingAssetCode?: string;
  /** Amount in the sending asset */
  sendingAmount?: Decimal;
  /** Asset to credit */
  receivingAssetCode?: string;
  /** Amount to credit */
  receivingAmount?: Decimal;
  /** Fee, in the sending asset */
  fee?: Decimal;
  /** Amount that the payer of an on-ramp paid, in `sendingAssetCode` */
  collectedAmount?: Decimal;
  /** Amount that the payer of an on-ramp paid beyond `sendingAmount`; the provider returns it */
  excessAmount?: Decimal;
  /** Minimum amount to receive. Below it, the swap fails */
  minReceivingAmount?: Decimal;
  /** Amount debited from the source wallet, including the fee */
  total?: Decimal;
  /** Asset codes along the conversion path, separated by spaces */
  path?: string;
  /** Wallet to debit */
  sourceWalletId?: string;
  /** Wallet to credit */
  destinationWalletId?: string;
  /** The beneficiary */
  beneficiaryId?: string;
  /** Payment destination of the beneficiary */
  destinationId?: string;
  /** Connector that executes the payment */
  connectorId?: string;
  /** Quote that sets the price */
  quoteId?: string;
  /** The transfers of a multi-transfer */
  legs?: TransactionLeg[];
  /** Reference on the sender's statement */
  fromRef?: string;
  /** Reference on the recipient's statement */
  toRef?: string;
  /** Description on the statements */
  description?: string;
  /** Memo on the ledger */
  memo?: string;
  /** The caller's own texts by key; absent if there are none */
  metadata?: { [name: string]: string };
  /** Hash of the entries on the ledger */
  ledgerTransactionHash?: string;
  /** The provider's reference for the payment */
  providerReference?: string;
  /** Payment instructions for the payer of an on-ramp */
  instructions?: { [name: string]: string };
  /** Deadline for the payer */
  instructionsExpireAt?: string;
  /** Refund of the debited amount after a failure, or the total that was given back after success */
  refund?: TransactionRefund;
  /** Version of the record; increases with each change */
  version: number;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Time at which the payment reached its final status */
  completedAt?: string;
}

/**
 * Detail of the status. `in_review`, `awaiting_payment` and `awaiting_provider` say what a payment in `processing`
 * waits for. `underpaid` and `overpaid` say that the payer of an on-ramp paid an amount other than `sendingAmount`
 */
export type TransactionSubstatus =
  | "in_review"
  | "awaiting_payment"
  | "awaiting_provider"
  | "underpaid"
  | "overpaid"
  | (string & {});

/** Reason for this status */
export interface TransactionStatusReason {
  /** Failure code from GET /v1/payments/enums */
  code: FailureCode;
  /** The reason as a sentence */
  message: string;
  /** Whether a new payment with the same content may succeed later */
  retryable: boolean;
}

/** Environment: sandbox or production */
export type Environment = "sandbox" | "production" | (string & {});

/** Refund of the debited amount after a failure, or the total that was given back after success */
export interface TransactionRefund {
  /** Status of the refund */
  status: TransactionRefundStatus;
  /** Amount to return */
  amount: Decimal;
  /** Time of the event */
  at: string;
  /** Reason of the last return or reversal, if the payment had succeeded */
  reason?: string;
}

/** Status of the refund */
export type TransactionRefundStatus = "pending" | "refunded" | "failed" | (string & {});

/** A page of transaction records */
export interface TransactionList {
  /** The rows of this page */
  data: Transaction[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A movement on a wallet */
export interface StatementLine {
  /** Opaque, stable and unique within the wallet's statement; identical in every export */
  rowId: string;
  /** Time of the event */
  at: string;
  /** Description of the movement */
  description: string | null;
  /** `fromRef` on a debit, `toRef` on a credit */
  reference: string | null;
  /** Name of the other party */
  counterparty?: string;
  /** Whether the amount is debited or credited */
  direction: StatementLineDirection;
  /** Amount; negative for a debit */
  amount: Decimal;
  /** Balance after this line */
  runningBalance: Decimal;
  /** Transaction record of the line; null if the movement does not belong to a payment */
  transactionRecordId: string | null;
  /** Metadata of the payment; absent if it has none, and on a payment of another association */
  metadata?: { [name: string]: string };
}

/** Whether the amount is debited or credited */
export type StatementLineDirection = "credit" | "debit" | (string & {});

/** A page of a statement */
export interface Statement {
  /** The wallet */
  walletId: string;
  /** Asset code */
  assetCode: string;
  /** Start of the period, inclusive */
  startDate: string;
  /** End of the period, exclusive */
  endDate: string;
  /** Balance at the start of the period */
  openingBalance: Decimal;
  /** Balance at the end of the period */
  closingBalance: Decimal;
  /** Lines of this page, oldest first */
  data: StatementLine[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
}

/** Whether `amount` is the amount to send or the amount to receive */
export type QuoteDirection = "send" | "receive";

/** Payment method of a destination */
export type DestinationMethod = "BANK" | "MOBILE_MONEY" | "CRYPTO" | (string & {});

/** Payment method of a destination. `MOMO` and `MOBILE_MONEY` are equivalent */
export type DestinationMethodIn = "BANK" | "MOBILE_MONEY" | "MOMO" | "CRYPTO";

/** A person as beneficiary */
export interface NewIndividual {
  /** Given name */
  firstName: string;
  /** Family name */
  lastName: string;
  /** E-mail address */
  email?: string | null;
  /** Phone number in E.164 format */
  phone?: string | null;
  /** Date of birth */
  dateOfBirth?: string | null;
  /** Country of nationality */
  nationality?: string | null;
}

/** A company as beneficiary */
export interface NewCompany {
  /** Registered name of the company */
  companyName: string;
  /** Registration number of the company */
  registrationNumber?: string | null;
  /** E-mail address */
  email?: string | null;
  /** Phone number in E.164 format */
  phone?: string | null;
  /** Country of registration */
  registrationCountry?: string | null;
}

/** A postal address */
export interface NewAddress {
  /** Kind of address, such as `home` or `registered` */
  type?: string | null;
  /** Street and number */
  line1: string;
  /** Second line of the address */
  line2?: string | null;
  /** City or town */
  city: string;
  /** State, province or region */
  state?: string | null;
  /** Postal code */
  postalCode?: string | null;
  /** ISO 3166-1 alpha-2, in any case */
  countryIsoCode2: string;
}

/** Send exactly one of `accountNumber` and `iban`. The length and check digits of an IBAN are verified (ISO 13616) */
export interface NewBankDetails {
  /** Name of the account holder */
  accountName: string;
  /** Account number; mutually exclusive with `iban` */
  accountNumber?: string | null;
  /** IBAN; mutually exclusive with `accountNumber` */
  iban?: string | null;
  /** Name of the bank */
  bankName?: string | null;
  /** National code of the bank */
  bankCode?: string | null;
  /** National code of the branch */
  branchCode?: string | null;
  /** BIC (ISO 9362) */
  swiftBic?: string | null;
}

/** A mobile money account */
export interface NewMobileMoneyDetails {
  /** Provider */
  provider: string;
  /** Phone number in E.164 format */
  phoneNumber: string;
  /** Name of the account holder */
  accountName?: string | null;
}

/**
 * `networkName`, `assetSymbol` and `walletAddress` are required, either here or at the top level of the destination
 */
export interface NewCryptoDetails {
  /** Network of the address */
  networkName?: string | null;
  /** Symbol of the asset on that network */
  assetSymbol?: string | null;
  /** Address on that network */
  walletAddress?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
}

/**
 * Send the details of the method: `bank`, `mobileMoney`, or for CRYPTO `networkName`, `assetSymbol` and
 * `walletAddress`, either at the top level or in `crypto`. `countryIsoCode2` and `currencyIsoCode3` are required
 * unless the method is CRYPTO. On the network of the embedded ledger, `walletAddress` is a public key. `networkId`,
 * `assetId` and `connectorId` are not accepted. A masked number from a list is accepted only with the `id` of its
 * destination, and means the present number
 */
export interface NewDestination {
  /** Payment method */
  method: DestinationMethodIn;
  /** ISO 3166-1 alpha-2, in any case */
  countryIsoCode2?: string | null;
  /** ISO 4217, in any case */
  currencyIsoCode3?: string | null;
  /** Display name of the destination */
  label?: string | null;
  /** Details for the method BANK */
  bank?: NewBankDetails | null;
  /** Details for the method MOBILE_MONEY */
  mobileMoney?: NewMobileMoneyDetails | null;
  /** Details for the method CRYPTO */
  crypto?: NewCryptoDetails | null;
  /** Network of the address */
  networkName?: string | null;
  /** Symbol of the asset on that network */
  assetSymbol?: string | null;
  /** Address on that network */
  walletAddress?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
}

/** Send exactly one of `individual` and `business` */
export interface NewBeneficiary {
  /** The person; mutually exclusive with `business` */
  individual?: NewIndividual | null;
  /** The company; mutually exclusive with `individual` */
  business?: NewCompany | null;
  /** Postal addresses */
  addresses?: readonly NewAddress[] | null;
  /** Labels for filtering */
  tags?: readonly string[] | null;
  /** Your reference for the beneficiary */
  clientReference?: string | null;
  /** Payment destinations of the beneficiary */
  paymentDestinations?: readonly NewDestination[] | null;
}

/**
 * JSON Merge Patch (RFC 7396): objects are merged, null removes a member, and an array replaces the whole array. If
 * `paymentDestinations` is present, all destinations are replaced and get new IDs; otherwise they are unchanged. The
 * result must be a valid beneficiary
 */
export interface BeneficiaryPatch {
  /** The person; mutually exclusive with `business` */
  individual?: BeneficiaryPatchIndividual | null;
  /** The company; mutually exclusive with `individual` */
  business?: BeneficiaryPatchBusiness | null;
  /** Postal addresses */
  addresses?: readonly NewAddress[] | null;
  /** Labels for filtering */
  tags?: readonly string[] | null;
  /** Your reference for the beneficiary */
  clientReference?: string | null;
  /** Payment destinations of the beneficiary */
  paymentDestinations?: readonly NewDestination[] | null;
}

/** The person; mutually exclusive with `business` */
export interface BeneficiaryPatchIndividual {
  /** Given name */
  firstName?: string | null;
  /** Family name */
  lastName?: string | null;
  /** E-mail address */
  email?: string | null;
  /** Phone number in E.164 format */
  phone?: string | null;
  /** Date of birth */
  dateOfBirth?: string | null;
  /** Country of nationality */
  nationality?: string | null;
}

/** The company; mutually exclusive with `individual` */
export interface BeneficiaryPatchBusiness {
  /** Registered name of the company */
  companyName?: string | null;
  /** Registration number of the company */
  registrationNumber?: string | null;
  /** E-mail address */
  email?: string | null;
  /** Phone number in E.164 format */
  phone?: string | null;
  /** Country of registration */
  registrationCountry?: string | null;
}

/** Beneficiaries to create */
export interface NewBeneficiaries {
  /** The beneficiaries. Each one is created or rejected independently of the others */
  beneficiaries: readonly NewBeneficiary[];
}

/** Result of each row */
export interface BulkResult {
  /** Results in the order of the request */
  results: BulkRow[];
  /** Number of created beneficiaries */
  created: number;
  /** Number of failed rows */
  failed: number;
}

/** Result of one row */
export interface BulkRow {
  /** Position in the request, starting at 0 */
  index: number;
  /** Whether the beneficiary was created */
  status: BulkRowStatus;
  /** ID of the new beneficiary */
  beneficiaryId?: string;
  /** Why the row failed */
  problem?: ProblemDetails;
}

/** Whether the beneficiary was created */
export type BulkRowStatus = "created" | "failed" | (string & {});

/** A person as beneficiary */
export interface Individual {
  /** Given name */
  firstName: string;
  /** Family name */
  lastName: string;
  /** E-mail address */
  email?: string;
  /** Phone number in E.164 format */
  phone?: string;
  /** Date of birth */
  dateOfBirth?: string;
  /** Country of nationality */
  nationality?: string;
}

/** A company as beneficiary */
export interface Company {
  /** Registered name of the company */
  companyName: string;
  /** Registration number of the company */
  registrationNumber?: string;
  /** E-mail address */
  email?: string;
  /** Phone number in E.164 format */
  phone?: string;
  /** Country of registration */
  registrationCountry?: string;
}

/** A postal address */
export interface Address {
  /** Kind of address, such as `home` or `registered` */
  type?: string;
  /** Street and number */
  line1: string;
  /** Second line of the address */
  line2?: string;
  /** City or town */
  city: string;
  /** State, province or region */
  state?: string;
  /** Postal code */
  postalCode?: string;
  /** ISO 3166-1 alpha-2 */
  countryIsoCode2: string;
}

/** A bank account */
export interface BankDetails {
  /** Name of the account holder */
  accountName: string;
  /** Account number; mutually exclusive with `iban` */
  accountNumber?: string;
  /** IBAN; mutually exclusive with `accountNumber` */
  iban?: string;
  /** Name of the bank */
  bankName?: string;
  /** National code of the bank */
  bankCode?: string;
  /** National code of the branch */
  branchCode?: string;
  /** BIC (ISO 9362) */
  swiftBic?: string;
}

/** A mobile money account */
export interface MobileMoneyDetails {
  /** Provider */
  provider: string;
  /** Phone number of the mobile money account */
  phoneNumber: string;
  /** Name of the account holder */
  accountName?: string;
}

/** An address on a network */
export interface CryptoDetails {
  /** Network of the address */
  networkName: string;
  /** Symbol of the asset on that network */
  assetSymbol: string;
  /** Address on that network */
  walletAddress: string;
  /** Memo on the ledger */
  memo?: string;
}

/**
 * In lists, account numbers, IBANs, phone numbers and wallet addresses are masked except for the last four
 * characters. A CRYPTO destination may have no country and no currency
 */
export interface Destination {
  /** ID of the destination */
  id: string;
  /** Payment method */
  method: DestinationMethod;
  /** ISO 3166-1 alpha-2 */
  countryIsoCode2?: string;
  /** ISO 4217 */
  currencyIsoCode3?: string;
  /** Display name of the destination */
  label?: string;
  /** Details for the method BANK */
  bank?: BankDetails;
  /** Details for the method MOBILE_MONEY */
  mobileMoney?: MobileMoneyDetails;
  /** Details for the method CRYPTO */
  crypto?: CryptoDetails;
  /** Time of creation */
  createdAt: string;
}

/** Destinations of a beneficiary */
export interface DestinationList {
  /** The rows of this page */
  data: Destination[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A beneficiary with payment destinations */
export interface Beneficiary {
  /** ID of the beneficiary */
  id: string;
  /** Whether the holder is a person or a company */
  type: BeneficiaryType;
  /** The person; mutually exclusive with `business` */
  individual?: Individual;
  /** The company; mutually exclusive with `individual` */
  business?: Company;
  /** Postal addresses */
  addresses: Address[];
  /** Labels for filtering */
  tags: string[];
  /** Your reference for the beneficiary */
  clientReference?: string;
  /** Payment destinations of the beneficiary */
  paymentDestinations: Destination[];
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
}

/** Whether the holder is a person or a company */
export type BeneficiaryType = "individual" | "business" | (string & {});

/** A page of beneficiaries */
export interface BeneficiaryList {
  /** The rows of this page */
  data: Beneficiary[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A SEP-10 challenge */
export interface Challenge {
  /** The TransactionEnvelope to sign, as base64 XDR */
  transaction: string;
  /** Network passphrase to sign with */
  network_passphrase: string;
}

/** A signed SEP-10 challenge */
export interface SignedChallenge {
  /** The challenge with the signature of the account added */
  transaction: string;
}

/** Tokens of a login */
export interface Session {
  /** Bearer token */
  idToken: string;
  /** Token for one refresh, valid for 30 days */
  refreshToken: string;
  /** Seconds until `idToken` expires */
  expiresIn: number;
  /** Same as `idToken`, under its SEP-10 name */
  token: string;
}

/** Credentials for the sign-in */
export interface SignIn {
  /** Public key of the application */
  publicKey: string;
  /** The `signInSecret` issued at registration */
  secret: string;
}

/** A refresh token */
export interface Refresh {
  /** Refresh token from the last login or refresh; can be used once */
  refreshToken: string;
}

/** Credentials of a user */
export interface OtpLogin {
  /** Name of the user */
  username: string;
  /** Password of the user */
  password: string;
  /** Six-digit code from the authenticator app */
  otp: string;
}

/** A quota of the association in the environment of the credentials */
export interface Quota {
  /** Name of the quota, as in `quota-exceeded` errors */
  name: QuotaName;
  /** What the quota counts */
  description: string;
  /** Current usage */
  used: number;
  /** Limit; null if unlimited */
  limit: number | null;
}

/** Name of the quota, as in `quota-exceeded` errors */
export type QuotaName =
  | "wallets"
  | "beneficiaries"
  | "destinations"
  | "open_quotes"
  | "webhooks"
  | "file_bytes"
  | (string & {});

/** All quotas */
export interface QuotaList {
  /** The rows of this page */
  data: Quota[];
  /** Whether more rows follow */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A payment of one asset to a CRYPTO destination */
export interface BeneficiaryTransfer {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Wallet to debit */
  sourceWalletId: string;
  /** The beneficiary */
  beneficiaryId: string;
  /** A CRYPTO destination of the beneficiary; optional if exactly one is suitable */
  destinationId?: string | null;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Optional; must equal `sendingAssetCode`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /**
   * Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
   * `notifyWhatsApp`
   */
  notifyEmail?: boolean | null;
  /**
   * Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
   * `notifyEmail`
   */
  notifyWhatsApp?: boolean | null;
}

/** A swap whose proceeds go to a CRYPTO destination */
export interface BeneficiarySwap {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Wallet to debit */
  sourceWalletId: string;
  /** The beneficiary */
  beneficiaryId: string;
  /** A CRYPTO destination of the beneficiary; optional if exactly one is suitable */
  destinationId?: string | null;
  /** Asset to debit */
  sendingAssetCode: string;
  /** Amount in the sending asset */
  amount: Decimal;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /**
   * Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
   * `notifyWhatsApp`
   */
  notifyEmail?: boolean | null;
  /**
   * Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
   * `notifyEmail`
   */
  notifyWhatsApp?: boolean | null;
  /** Asset to credit */
  receivingAssetCode: string;
  /** Minimum amount to receive. Below it, the payment fails with `slippage_exceeded` */
  minReceivingAmount?: Decimal;
}

/** A payment that has succeeded is given back */
export interface Reversal {
  /** Your ID of the reversal: its idempotency key, which no payment and no other reversal has */
  transactionId: string;
  /**
   * Amount to give back, in units of the sending asset, or of the currency in which the payer of an on-ramp paid; all
   * that is left if absent
   */
  amount?: Decimal;
  /** Why the payment is reversed; shown in its record */
  reason: string;
}

/** A payout against a quote */
export interface Offramp {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Quote that sets the price */
  quoteId: string;
  /** Wallet to debit */
  sourceWalletId: string;
  /** The beneficiary */
  beneficiaryId: string;
  /** The destination of the quote; optional if exactly one is suitable */
  destinationId?: string | null;
  /** Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422 */
  sendingAssetCode?: string | null;
  /** Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** Purpose of the payment */
  purposeOfPayment: PurposeOfPayment;
  /** Source of the funds */
  sourceOfFunds: SourceOfFunds;
  /** Relationship between sender and recipient */
  relationship: Relationship;
  /** The fields that GET /v1/payments/requirements returns */
  additionalFields?: { [name: string]: unknown } | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /**
   * Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
   * `notifyWhatsApp`
   */
  notifyEmail?: boolean | null;
  /**
   * Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
   * `notifyEmail`
   */
  notifyWhatsApp?: boolean | null;
}

/** Purpose of a payout. GET /v1/payments/enums returns labels */
export type PurposeOfPayment =
  | "FAMILY_SUPPORT"
  | "EDUCATION"
  | "MEDICAL"
  | "GIFT"
  | "SAVINGS"
  | "SALARY"
  | "GOODS"
  | "SERVICES"
  | "SUPPLIER_PAYMENT"
  | "RENT"
  | "PROPERTY"
  | "LOAN_REPAYMENT"
  | "TAX"
  | "INVESTMENT"
  | "OTHER";

/** Source of the funds of a payout. GET /v1/payments/enums returns labels */
export type SourceOfFunds =
  | "SALARY"
  | "BUSINESS_INCOME"
  | "SAVINGS"
  | "PENSION"
  | "INVESTMENT_INCOME"
  | "RENTAL_INCOME"
  | "PROPERTY_SALE"
  | "LOAN"
  | "GIFT"
  | "INHERITANCE"
  | "GRANT"
  | "OTHER";

/** Relationship of the recipient to the sender. GET /v1/payments/enums returns labels */
export type Relationship =
  | "SELF"
  | "SPOUSE"
  | "PARENT"
  | "CHILD"
  | "SIBLING"
  | "RELATIVE"
  | "FRIEND"
  | "EMPLOYEE"
  | "EMPLOYER"
  | "CUSTOMER"
  | "SUPPLIER"
  | "BUSINESS_PARTNER"
  | "SUBSIDIARY"
  | "OTHER";

/** The payer of an on-ramp */
export interface Payer {
  /** Name of the payer */
  name: string;
  /** Account number of the payer */
  accountNumber?: string | null;
  /** Phone number in E.164 format */
  phone?: string | null;
}

/** A collection against a quote */
export interface Onramp {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Quote that sets the price */
  quoteId: string;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422 */
  sendingAssetCode?: string | null;
  /** Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** The payer */
  payer: Payer;
  /** The fields that GET /v1/payments/requirements returns */
  additionalFields?: { [name: string]: unknown } | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /** Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify */
  notifyEmail?: boolean | null;
  /** Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify */
  notifyWhatsApp?: boolean | null;
}

/** An on-ramp: a quote and its execution in one request */
export interface CashIn {
  /** Your ID of the payment: both its idempotency key and its reference */
  transactionId: string;
  /** Connector that executes the payment */
  connectorId: string;
  /** Amount that the payer pays, in the currency of the connector */
  amount: Decimal;
  /** Wallet to credit */
  destinationWalletId: string;
  /** Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422 */
  sendingAssetCode?: string | null;
  /** Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422 */
  receivingAssetCode?: string | null;
  /** Whether the sender and the recipient are consumers or businesses */
  transactionType?: string | null;
  /** The payer */
  payer: Payer;
  /** The fields that GET /v1/payments/requirements returns */
  additionalFields?: { [name: string]: unknown } | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  fromRef?: string | null;
  /** Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's */
  toRef?: string | null;
  /** Description on the statements */
  description?: string | null;
  /** Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters) */
  memo?: string | null;
  /** Your own texts by key: part of the record, events and exports, and a filter of the list of transactions */
  metadata?: { [name: string]: string } | null;
  /** Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify */
  notifyEmail?: boolean | null;
  /** Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify */
  notifyWhatsApp?: boolean | null;
}

/** The stored on-ramp and its quote */
export interface CashInResult {
  /** ID of the transaction record, for GET /v1/transactions/{transactionId} */
  transactionRecordId: string;
  /** Always `accepted` */
  status: "accepted";
  /** ID of a downstream execution; reserved */
  intentId?: string;
  /** True if this `transactionId` was accepted earlier with the same content */
  isIdempotent: boolean;
  /** Human-readable message */
  message?: string;
  /** The new quote; absent if the response repeats an earlier one */
  quote?: Quote;
}

/** A fixed price for one payment, valid until it expires */
export interface Quote {
  /** ID of the quote */
  quoteId: string;
  /** Whether the quote is for an off-ramp or an on-ramp */
  type: QuoteType;
  /** Connector that executes the payment */
  connectorId: string;
  /** The beneficiary */
  beneficiaryId?: string;
  /** Payment destination of the beneficiary */
  destinationId?: string;
  /** Whether the sender and the recipient are consumers or businesses */
  transactionType?: PartyPair;
  /** Asset (off-ramp) or currency (on-ramp) */
  sendAssetCode: string;
  /** Amount to send */
  sendAmount: Decimal;
  /** Currency (off-ramp) or asset (on-ramp) */
  receiveCurrency: string;
  /** Amount to receive */
  receiveAmount: Decimal;
  /** Amount received per unit sent, before the fee */
  rate: Decimal;
  /** Total fee, in the sending currency */
  fee: Decimal;
  /** Off-ramp: `sendAmount` + `fee`; on-ramp: `sendAmount` */
  total: Decimal;
  /** Time at which the quote expires */
  expiresAt: string;
  /** Time of creation */
  createdAt: string;
  /** An `OPEN` quote can be used for one payment */
  status: QuoteStatus;
}

/** Whether the quote is for an off-ramp or an on-ramp */
export type QuoteType = "offramp" | "onramp" | (string & {});

/** Whether the sender and the recipient are consumers or businesses */
export type PartyPair = "C2C" | "C2B" | "B2C" | "B2B" | (string & {});

/** An `OPEN` quote can be used for one payment */
export type QuoteStatus = "OPEN" | "USED" | "EXPIRED" | (string & {});

/** A customer for whom references are registered */
export interface NewReference {
  /** Connector that issues the references */
  connectorId: string;
  /** Public key of one of your wallets */
  settlementAccount: string;
  /** Your ID of the customer */
  customerId: string;
}

/** An additional reference */
export interface RelatedReference {
  /** Another reference of the same customer */
  reference: string;
  /** Payment instructions from the provider; null if an existing reference is bound to another wallet */
  metadata: { [name: string]: string } | null;
}

/** A reference whose incoming payments credit a wallet */
export interface RegisteredReference {
  /** The reference that the customer pays to */
  reference: string;
  /** ID of the connector */
  routeId: string;
  /** Payment instructions from the provider; null if an existing reference is bound to another wallet */
  metadata: { [name: string]: string } | null;
  /** Additional references of the same customer, for example for other payment methods */
  relatedReferences: RelatedReference[] | null;
  /** Your ID of the customer */
  customerId?: string;
  /** Public key of the wallet to credit */
  settlementAccount?: string;
  /** Wallet to credit */
  walletId?: string;
  /** Time of creation */
  createdAt?: string;
}

/** A page of references */
export interface ReferenceList {
  /** The rows of this page */
  data: RegisteredReference[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A simulated customer payment */
export interface ReferencePayment {
  /** Amount that the customer pays */
  amount: Decimal;
  /** Currency that the customer pays in, if it is not the connector's */
  currencyIsoCode3?: string | null;
  /** Name of the customer */
  payerName?: string | null;
  /** The provider's payment ID. A payment with the same ID is credited once; a new ID is generated if absent */
  providerPaymentId?: string | null;
}

/** `QUOTED`: payments need a quote. `BESPOKE`: the provider initiates payments, on references */
export type ConnectorFlow = "QUOTED" | "BESPOKE" | (string & {});

/** Off-ramp (payout) or on-ramp (collection) */
export type ConnectorDirection = "OFF_RAMP" | "ON_RAMP" | (string & {});

/** Payment method of a connector */
export type PayMethod = "BANK" | "MOMO" | "CRYPTO" | "CARD" | "CASH" | "QR" | "VOUCHER" | "WALLET" | (string & {});

/** Payment method; `MOBILE_MONEY` is accepted for `MOMO` */
export type PayMethodFilter =
  | "BANK"
  | "MOMO"
  | "CRYPTO"
  | "CARD"
  | "CASH"
  | "QR"
  | "VOUCHER"
  | "WALLET"
  | "MOBILE_MONEY";

/** A route to a provider for one country, method and direction */
export interface Connector {
  /** ID of the connector */
  id: string;
  /** Name of the connector */
  name: string;
  /** Provider behind the connector */
  provider: string;
  /** Whether you or the provider initiates payments */
  flow: ConnectorFlow;
  /** Off-ramp or on-ramp */
  direction: ConnectorDirection;
  /** Payment method */
  method: PayMethod;
  /** ISO 3166-1 alpha-2 */
  countryIsoCode2: string;
  /** ISO 4217 */
  currencyIsoCode3: string;
  /** Asset that the connector debits or credits */
  assetCode: string;
  /** Minimum amount of a quote, in the sending currency */
  minAmount: Decimal;
  /** Maximum amount of a quote, in the sending currency */
  maxAmount: Decimal;
  /** Supported transaction types */
  transactionTypes: PartyPair[];
  /** A paused connector issues no quotes */
  status: ConnectorStatus;
  /** Environment: sandbox or production */
  environment: Environment;
}

/** A paused connector issues no quotes */
export type ConnectorStatus = "ACTIVE" | "PAUSED" | (string & {});

/** A page of connectors */
export interface ConnectorList {
  /** The rows of this page */
  data: Connector[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** A step of a payment through the connector */
export interface ExecutionStep {
  /** Position of the step, starting at 1 */
  order: number;
  /** Type of step */
  type: ExecutionStepType;
  /** Title of the step */
  title: string;
  /** What happens in this step */
  description: string;
  /** Paths of the fields that this step requires in a request */
  requiredFields: string[];
}

/** Type of step */
export type ExecutionStepType = "QUOTE" | "SUBMIT" | "PAYOUT" | "REFERENCE" | "PAY" | "CREDIT" | (string & {});

/** A connector with its execution steps */
export interface ConnectorDetail {
  /** ID of the connector */
  id: string;
  /** Name of the connector */
  name: string;
  /** Provider behind the connector */
  provider: string;
  /** Whether you or the provider initiates payments */
  flow: ConnectorFlow;
  /** Off-ramp or on-ramp */
  direction: ConnectorDirection;
  /** Payment method */
  method: PayMethod;
  /** ISO 3166-1 alpha-2 */
  countryIsoCode2: string;
  /** ISO 4217 */
  currencyIsoCode3: string;
  /** Asset that the connector debits or credits */
  assetCode: string;
  /** Minimum amount of a quote, in the sending currency */
  minAmount: Decimal;
  /** Maximum amount of a quote, in the sending currency */
  maxAmount: Decimal;
  /** Supported transaction types */
  transactionTypes: PartyPair[];
  /** A paused connector issues no quotes */
  status: ConnectorStatus;
  /** Environment: sandbox or production */
  environment: Environment;
  /** Steps in order; empty for a transaction type that the connector does not support */
  executionSteps: ExecutionStep[];
}

/** A request for a quote */
export interface NewQuote {
  /** Amount to send */
  amount: Decimal;
  /** Connector that executes the payment */
  connectorId: string;
  /** One of your beneficiaries. An off-ramp requires either this or `transactionType`. Not used for an on-ramp */
  beneficiaryId?: string | null;
  /** Prices an off-ramp without a beneficiary. Optional for an on-ramp */
  transactionType?: string;
  /**
   * Destination whose limits are checked; requires `beneficiaryId`. The submission must use the same destination. By
   * default the only suitable destination
   */
  destinationId?: string;
}

/** A request for a quote by the amount to send or to receive */
export interface NewConnectQuote {
  /** Amount to send (direction `send`) or to receive (direction `receive`) */
  amount: Decimal;
  /** Connector that executes the payment */
  connectorId: string;
  /** For an off-ramp, the type by which the association pays consumers by default */
  transactionType?: string;
}

/** A code and its display name */
export interface CodeLabel {
  /** Value to send in requests */
  code: string;
  /** Display name of the code */
  label: string;
}

/** All vocabularies of the API */
export interface PaymentEnums {
  /** Purpose of the payment */
  purposeOfPayment: CodeLabel[];
  /** Source of the funds */
  sourceOfFunds: CodeLabel[];
  /** Relationship between sender and recipient */
  relationship: CodeLabel[];
  /** Suggested types of identity documents */
  idType: CodeLabel[];
  /** Types of wallet holders */
  entityType: CodeLabel[];
  /** Transaction types, by consumer or business on each side */
  transactionType: CodeLabel[];
  /** Payment methods of connectors */
  method: CodeLabel[];
  /** Reasons for failed payments */
  failureCode: CodeLabel[];
  /** Statuses of a transaction */
  status: CodeLabel[];
  /** Possible changes of status */
  transitions: PaymentEnumsTransition[];
  /** Event types */
  eventType: CodeLabel[];
}

/**  */
export interface PaymentEnumsTransition {
  /** Earlier status */
  from: TransactionStatus;
  /** Later status */
  to: TransactionStatus;
}

/** A field that the connector requires or accepts */
export interface RequirementField {
  /** Name of the member in `additionalFields` */
  name: string;
  /** Path of the value in the submission */
  path: string;
  /** JSON type of the value */
  type: RequirementFieldType;
  /** Whether the submission must contain the field */
  required: boolean;
  /** Display name of the field */
  label: string;
  /** Meaning of the value */
  description: string;
  /** Regular expression that the whole value must match */
  pattern?: string;
  /** Minimum number of characters */
  minLength?: number;
  /** Maximum number of characters */
  maxLength?: number;
  /** Accepted values */
  choices?: CodeLabel[];
}

/** JSON type of the value */
export type RequirementFieldType = "string" | "number" | "boolean" | (string & {});

/** Fields that a connector requires in addition to the standard fields */
export interface PaymentRequirements {
  /** Connector that executes the payment */
  connectorId: string;
  /** null for all types; `required` is then true only for fields that every type requires */
  transactionType: PartyPair | null;
  /** Fields of the connector, in order */
  fields: RequirementField[];
  /** JSON Schema 2020-12 of `additionalFields` in a submission */
  jsonSchema: unknown;
}

/** Health of the platform */
export interface ConnectHealth {
  /** `ok`, or `degraded` if a check fails */
  status: ConnectHealthStatus;
  /** Environment: sandbox or production */
  environment: Environment;
  /** Current time of the server */
  time: string;
  /** The checks */
  checks: ConnectHealthCheck[];
}

/** `ok`, or `degraded` if a check fails */
export type ConnectHealthStatus = "ok" | "degraded" | (string & {});

/**  */
export interface ConnectHealthCheck {
  /** Name of the check */
  name: string;
  /** Whether the check passed */
  ok: boolean;
}

/** A country with active connectors */
export interface ConnectCountry {
  /** ISO 3166-1 alpha-2 */
  countryIsoCode2: string;
  /** ISO 3166-1 alpha-3 */
  countryIsoCode3: string;
  /** Name of the country */
  name: string;
  /** Currencies, ISO 4217 */
  currencies: string[];
  /** Methods of the country's connectors */
  methods: PayMethod[];
  /** Directions of the country's connectors */
  directions: ConnectorDirection[];
}

/** Countries with active connectors */
export interface ConnectCountryList {
  /** The rows of this page */
  data: ConnectCountry[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** Event type that a webhook can subscribe to */
export type EventType =
  | "payment.initiated"
  | "payment.processing"
  | "payment.succeeded"
  | "payment.failed"
  | "payment.refund_pending"
  | "payment.refunded"
  | "payment.refund_failed"
  | "wallet.status_changed"
  | "onramp_reference.payment_received"
  | "webhook.disabled"
  | "application.credentials_rotated"
  | (string & {});

/** Event type; `*` means all payment events */
export type EventTypeOrAll =
  | "*"
  | "payment.initiated"
  | "payment.processing"
  | "payment.succeeded"
  | "payment.failed"
  | "payment.refund_pending"
  | "payment.refunded"
  | "payment.refund_failed"
  | "wallet.status_changed"
  | "onramp_reference.payment_received"
  | "webhook.disabled"
  | "application.credentials_rotated";

/** Status of a webhook */
export type WebhookStatus = "active" | "disabled" | (string & {});

/** Status of a delivery. `dead`: all attempts failed. `oversize`: the body exceeds the limit and is not sent */
export type DeliveryStatus = "pending" | "delivered" | "dead" | "oversize" | (string & {});

/** An endpoint to register */
export interface NewWebhook {
  /** HTTPS URL with a public address; HTTP is accepted in the sandbox only */
  url: string;
  /** `*` means all payment events; other types must be listed explicitly */
  eventTypes: readonly EventTypeOrAll[];
  /** Description for your own use */
  description?: string | null;
  /** Always POST */
  method?: "POST";
}

/** An endpoint to register, for all payment events by default */
export interface NewApplicationWebhook {
  /** HTTPS URL with a public address; HTTP is accepted in the sandbox only */
  url: string;
  /** Always POST */
  method?: "POST";
  /** `*` means all payment events; other types must be listed explicitly */
  eventTypes?: readonly EventTypeOrAll[];
  /** Description for your own use */
  description?: string | null;
}

/** Fields to change */
export interface WebhookUpdate {
  /** HTTPS URL with a public address; HTTP is accepted in the sandbox only */
  url?: string;
  /** `*` means all payment events; other types must be listed explicitly */
  eventTypes?: readonly EventTypeOrAll[];
  /** Description for your own use */
  description?: string | null;
  /** Always POST */
  method?: "POST";
}

/** Options for the rotation */
export interface SecretRotation {
  /** How many seconds the previous secret continues to sign; 24 hours by default */
  gracePeriodSeconds?: number;
}

/** A webhook */
export interface Webhook {
  /** ID of the webhook */
  id: string;
  /** Application that registered the webhook */
  applicationId: string;
  /** URL to which events are delivered */
  url: string;
  /** Always POST */
  method: "POST";
  /** Event types to deliver */
  eventTypes: EventType[];
  /** Description for your own use */
  description: string | null;
  /** Environment: sandbox or production */
  environment: Environment;
  /** Status of the webhook. Disabling is permanent */
  status: WebhookStatus;
  /** `endpoint_gone`: the endpoint responded with 410 */
  disabledReason?: WebhookDisabledReason;
  /** Time at which the webhook was disabled */
  disabledAt?: string;
  /** Time until which the previous secret also signs */
  previousSecretValidUntil?: string;
  /** Number of consecutive failed attempts */
  consecutiveFailures: number;
  /** Time of the last attempt */
  lastAttemptAt?: string;
  /** HTTP status of the last attempt; null if there was no response */
  lastResponseStatus?: number | null;
  /** Time until which nothing is sent, because the endpoint responded with 429 or 503. A new `url` ends the pause */
  pausedUntil?: string;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
}

/** `endpoint_gone`: the endpoint responded with 410 */
export type WebhookDisabledReason = "by_owner" | "endpoint_gone" | (string & {});

/** A webhook with its signing secret */
export interface WebhookWithSecret {
  /** ID of the webhook */
  id: string;
  /** Application that registered the webhook */
  applicationId: string;
  /** URL to which events are delivered */
  url: string;
  /** Always POST */
  method: "POST";
  /** Event types to deliver */
  eventTypes: EventType[];
  /** Description for your own use */
  description: string | null;
  /** Environment: sandbox or production */
  environment: Environment;
  /** Status of the webhook. Disabling is permanent */
  status: WebhookStatus;
  /** `endpoint_gone`: the endpoint responded with 410 */
  disabledReason?: WebhookDisabledReason;
  /** Time at which the webhook was disabled */
  disabledAt?: string;
  /** Time until which the previous secret also signs */
  previousSecretValidUntil?: string;
  /** Number of consecutive failed attempts */
  consecutiveFailures: number;
  /** Time of the last attempt */
  lastAttemptAt?: string;
  /** HTTP status of the last attempt; null if there was no response */
  lastResponseStatus?: number | null;
  /** Time until which nothing is sent, because the endpoint responded with 429 or 503. A new `url` ends the pause */
  pausedUntil?: string;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
  /** Signing secret; shown only in this response */
  secret: string;
}

/** A page of webhooks */
export interface WebhookList {
  /** The rows of this page */
  data: Webhook[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** The delivery of one event to one webhook */
export interface Delivery {
  /** ID of the delivery, equal to the event ID */
  id: string;
  /** The webhook */
  webhookId: string;
  /** ID of the event */
  eventId: string;
  /** Type of the event */
  eventType: DeliveryEventType;
  /** Sequence number of the event */
  sequence: number;
  /** Status of the delivery */
  status: DeliveryStatus;
  /** Number of attempts so far */
  attempts: number;
  /** Time of the next attempt */
  nextAttemptAt?: string;
  /** Time of creation */
  createdAt: string;
  /** Time at which the delivery succeeded or failed for the last time */
  closedAt?: string;
}

/**  */
export type DeliveryEventType =
  | "payment.initiated"
  | "payment.processing"
  | "payment.succeeded"
  | "payment.failed"
  | "payment.refund_pending"
  | "payment.refunded"
  | "payment.refund_failed"
  | "wallet.status_changed"
  | "onramp_reference.payment_received"
  | "webhook.disabled"
  | "application.credentials_rotated"
  | "webhook.test"
  | (string & {});

/** A page of deliveries */
export interface DeliveryList {
  /** The rows of this page */
  data: Delivery[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}

/** An attempt to deliver an event */
export interface DeliveryAttempt {
  /** Number of the attempt, starting at 1 */
  attempt: number;
  /** Time of the event */
  at: string;
  /** Duration in milliseconds */
  durationMs: number;
  /** HTTP status of the response; null if there was no response */
  responseStatus: number | null;
  /** Why the attempt failed, if the status does not show it */
  error?: string;
  /** First 4 KiB of the response body */
  responseBody: string;
}

/** A delivery with its body and attempts */
export interface DeliveryDetail {
  /** ID of the delivery, equal to the event ID */
  id: string;
  /** The webhook */
  webhookId: string;
  /** ID of the event */
  eventId: string;
  /** Type of the event */
  eventType: DeliveryEventType;
  /** Sequence number of the event */
  sequence: number;
  /** Status of the delivery */
  status: DeliveryStatus;
  /** Number of attempts so far */
  attempts: number;
  /** Time of the next attempt */
  nextAttemptAt?: string;
  /** Time of creation */
  createdAt: string;
  /** Time at which the delivery succeeded or failed for the last time */
  closedAt?: string;
  /** The bytes that are signed and sent; null if they were deleted after the retention period or exceed the limit */
  body: string | null;
  /** All attempts, in order */
  log: DeliveryAttempt[];
}

/** A period */
export interface NewRecovery {
  /** Start of the period, inclusive */
  from: string | Date;
  /** End of the period, exclusive; the current time by default */
  to?: string | Date | null;
}

/** The period whose events are delivered again */
export interface Recovery {
  /** The webhook */
  webhookId: string;
  /** Start of the period, inclusive */
  from: string;
  /** End of the period, exclusive */
  to: string;
  /** Always `accepted` */
  status: "accepted";
}

/** The test event that will be sent */
export interface TestEvent {
  /** ID of the event */
  eventId: string;
  /** Type of the event */
  type: DeliveryEventType;
  /** Sequence number of the event */
  sequence: number;
}

/** A wallet without balances and metadata */
export interface EventWallet {
  /** ID of the wallet */
  id: string;
  /** Display name of the wallet */
  walletName: string;
  /** Account number of the wallet */
  accountNumber: string;
  /** Public key of the wallet on the ledger */
  publicKey: string;
  /** Network of the wallet or asset */
  networkName: string;
  /** First asset of the wallet */
  assetCode: string;
  /** Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review */
  ownAccount: boolean;
  /** Review status. Only a `Verified` wallet can transact */
  status: WalletStatus;
  /** Reason for this status */
  statusReason?: WalletStatusReason;
  /** Time of creation */
  createdAt: string;
  /** Time of the last change */
  updatedAt: string;
}

/** A text */
export interface EventMessage {
  /** Text of the test event */
  message: string;
}

/** A payment event */
export interface PaymentEvent {
  /** ID of the event, equal to `X-Webhook-Id` */
  id: string;
  /** Event type */
  type: PaymentEventType;
  /** Time of the event */
  timestamp: string;
  /** Version of the body */
  apiVersion: "v1";
  /** Environment: sandbox or production */
  environment: Environment;
  /** Association of the event */
  associationId: string;
  /** Sequence number; increases by one per association and environment */
  sequence: number;
  /** True for a sample event that was triggered for a test */
  test?: true;
  /** The transaction record as of this event */
  data: Transaction;
}

/** Event type */
export type PaymentEventType =
  | "payment.initiated"
  | "payment.processing"
  | "payment.succeeded"
  | "payment.failed"
  | "payment.refund_pending"
  | "payment.refunded"
  | "payment.refund_failed"
  | "onramp_reference.payment_received"
  | (string & {});

/** The review status of a wallet changed */
export interface WalletEvent {
  /** ID of the event, equal to `X-Webhook-Id` */
  id: string;
  /** Event type */
  type: "wallet.status_changed";
  /** Time of the event */
  timestamp: string;
  /** Version of the body */
  apiVersion: "v1";
  /** Environment: sandbox or production */
  environment: Environment;
  /** Association of the event */
  associationId: string;
  /** Sequence number; increases by one per association and environment */
  sequence: number;
  /** True for a sample event that was triggered for a test */
  test?: true;
  /** The wallet as of this event */
  data: EventWallet;
}

/** A webhook was disabled */
export interface WebhookEvent {
  /** ID of the event, equal to `X-Webhook-Id` */
  id: string;
  /** Event type */
  type: "webhook.disabled";
  /** Time of the event */
  timestamp: string;
  /** Version of the body */
  apiVersion: "v1";
  /** Environment: sandbox or production */
  environment: Environment;
  /** Association of the event */
  associationId: string;
  /** Sequence number; increases by one per association and environment */
  sequence: number;
  /** True for a sample event that was triggered for a test */
  test?: true;
  /** The webhook */
  data: Webhook;
}

/** The application whose credentials were rotated */
export interface RotatedApplication {
  /** ID of the application */
  applicationId: string;
  /** Client ID, which a rotation keeps */
  clientId: string;
  /** Time of the rotation */
  rotatedAt: string;
}

/** An application got new credentials */
export interface ApplicationEvent {
  /** ID of the event, equal to `X-Webhook-Id` */
  id: string;
  /** Event type */
  type: "application.credentials_rotated";
  /** Time of the event */
  timestamp: string;
  /** Version of the body */
  apiVersion: "v1";
  /** Environment: sandbox or production */
  environment: Environment;
  /** Association of the event */
  associationId: string;
  /** Sequence number; increases by one per association and environment */
  sequence: number;
  /** True for a sample event that was triggered for a test */
  test?: true;
  /** The application */
  data: RotatedApplication;
}

/** A test event for one webhook */
export interface WebhookTestEvent {
  /** ID of the event, equal to `X-Webhook-Id` */
  id: string;
  /** Event type */
  type: "webhook.test";
  /** Time of the event */
  timestamp: string;
  /** Version of the body */
  apiVersion: "v1";
  /** Environment: sandbox or production */
  environment: Environment;
  /** Association of the event */
  associationId: string;
  /** Sequence number; increases by one per association and environment */
  sequence: number;
  /** True for a sample event that was triggered for a test */
  test?: true;
  /** A text */
  data: EventMessage;
}

/** An event, which is the body of a webhook delivery. `type` determines the schema */
export type Event = PaymentEvent | WalletEvent | WebhookEvent | ApplicationEvent | WebhookTestEvent;

/** A page of events */
export interface EventList {
  /** The rows of this page */
  data: Event[];
  /** Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none */
  hasMore: boolean;
  /** Cursor of the next page; null on the last page */
  nextCursor: string | null;
  /** Cursor of the previous page; null on the first page */
  prevCursor: string | null;
}
