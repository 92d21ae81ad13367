# Generated from the OpenAPI document by clients/generate. Do not edit.
"""The types of the API. Responses can contain values that a later version adds to an enum."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeAlias

# An amount in a request: never a float.
Amount: TypeAlias = Decimal | str

# A date, a time with a time zone, or the text of either.
DateOrTime: TypeAlias = datetime.date | datetime.datetime | str


class Unset:
    """The type of UNSET."""

    def __repr__(self) -> str:
        return "UNSET"


# The default in a patch: the member stays as it is, while None removes it.
UNSET = Unset()

# Status of a payment. GET /v1/payments/enums returns labels and transitions
TransactionStatus: TypeAlias = Literal[
    "initiated", "processing", "succeeded", "failed", "refund_pending", "refunded", "refund_failed", "expired",
]

# Type of the payment
TransactionType: TypeAlias = Literal[
    "p2p_own", "p2p_beneficiary", "p2p_own_multi", "swap_own", "swap_beneficiary", "offramp", "onramp",
    "onramp_reference",
]

# Sort order, newest first
TransactionSort: TypeAlias = Literal["createdAt", "updatedAt"]

# Review status of a wallet
WalletStatus: TypeAlias = Literal["Pending", "Verified", "Rejected"]

# Slug of a problem, with underscores
ProblemCode: TypeAlias = Literal[
    "malformed_request", "invalid_reference", "invalid_cursor", "invalid_challenge", "unauthorized", "token_expired",
    "forbidden", "no_association", "insufficient_scope", "association_suspended", "not_found", "method_not_allowed",
    "transaction_id_conflict", "wallet_not_verified", "conflict", "quote_expired", "quote_already_used",
    "references_exist", "webhook_event_type_taken", "payload_too_large", "headers_too_large",
    "unsupported_media_type", "validation_failed", "insufficient_funds", "trustline_missing", "amount_precision",
    "amount_out_of_range", "requirement_missing", "webhook_target_refused", "quota_exceeded", "limit_exceeded",
    "reversal_exceeds_payment", "rate_limited", "unexpected_error", "provider_error", "provider_unavailable",
    "overloaded", "storage_full", "not_leader", "provider_timeout", "token_verification_timeout",
]

# Status of the association
AssociationStatus: TypeAlias = Literal["pending", "active", "suspended"]

# Reason for a failed payment. GET /v1/payments/enums returns labels
FailureCode: TypeAlias = Literal[
    "insufficient_funds", "account_closed", "account_not_found", "name_mismatch", "limit_exceeded",
    "compliance_rejected", "destination_not_found", "trustline_missing", "slippage_exceeded", "no_market_path",
    "insufficient_liquidity", "provider_timeout", "provider_error", "provider_unavailable", "expired",
    "operator_failed", "ledger_limit_exceeded", "underpaid", "wrong_currency", "amount_precision",
]

# Detail of the status. `in_review`, `awaiting_payment` and `awaiting_provider` say what a payment in `processing`
# waits for. `underpaid` and `overpaid` say that the payer of an on-ramp paid an amount other than `sendingAmount`
TransactionSubstatus: TypeAlias = Literal["in_review", "awaiting_payment", "awaiting_provider", "underpaid", "overpaid"]

# Environment: sandbox or production
Environment: TypeAlias = Literal["sandbox", "production"]

# Status of the refund
TransactionRefundStatus: TypeAlias = Literal["pending", "refunded", "failed"]

# Whether the amount is debited or credited
StatementLineDirection: TypeAlias = Literal["credit", "debit"]

# Whether `amount` is the amount to send or the amount to receive
QuoteDirection: TypeAlias = Literal["send", "receive"]

# Payment method of a destination
DestinationMethod: TypeAlias = Literal["BANK", "MOBILE_MONEY", "CRYPTO"]

# Payment method of a destination. `MOMO` and `MOBILE_MONEY` are equivalent
DestinationMethodIn: TypeAlias = Literal["BANK", "MOBILE_MONEY", "MOMO", "CRYPTO"]

# Whether the beneficiary was created
BulkRowStatus: TypeAlias = Literal["created", "failed"]

# Whether the holder is a person or a company
BeneficiaryType: TypeAlias = Literal["individual", "business"]

# Name of the quota, as in `quota-exceeded` errors
QuotaName: TypeAlias = Literal[
    "wallets", "beneficiaries", "destinations", "open_quotes", "webhooks", "file_bytes",
]

# Purpose of a payout. GET /v1/payments/enums returns labels
PurposeOfPayment: TypeAlias = Literal[
    "FAMILY_SUPPORT", "EDUCATION", "MEDICAL", "GIFT", "SAVINGS", "SALARY", "GOODS", "SERVICES", "SUPPLIER_PAYMENT",
    "RENT", "PROPERTY", "LOAN_REPAYMENT", "TAX", "INVESTMENT", "OTHER",
]

# Source of the funds of a payout. GET /v1/payments/enums returns labels
SourceOfFunds: TypeAlias = Literal[
    "SALARY", "BUSINESS_INCOME", "SAVINGS", "PENSION", "INVESTMENT_INCOME", "RENTAL_INCOME", "PROPERTY_SALE", "LOAN",
    "GIFT", "INHERITANCE", "GRANT", "OTHER",
]

# Relationship of the recipient to the sender. GET /v1/payments/enums returns labels
Relationship: TypeAlias = Literal[
    "SELF", "SPOUSE", "PARENT", "CHILD", "SIBLING", "RELATIVE", "FRIEND", "EMPLOYEE", "EMPLOYER", "CUSTOMER",
    "SUPPLIER", "BUSINESS_PARTNER", "SUBSIDIARY", "OTHER",
]

# Whether the quote is for an off-ramp or an on-ramp
QuoteType: TypeAlias = Literal["offramp", "onramp"]

# Whether the sender and the recipient are consumers or businesses
PartyPair: TypeAlias = Literal["C2C", "C2B", "B2C", "B2B"]

# An `OPEN` quote can be used for one payment
QuoteStatus: TypeAlias = Literal["OPEN", "USED", "EXPIRED"]

# `QUOTED`: payments need a quote. `BESPOKE`: the provider initiates payments, on references
ConnectorFlow: TypeAlias = Literal["QUOTED", "BESPOKE"]

# Off-ramp (payout) or on-ramp (collection)
ConnectorDirection: TypeAlias = Literal["OFF_RAMP", "ON_RAMP"]

# Payment method of a connector
PayMethod: TypeAlias = Literal["BANK", "MOMO", "CRYPTO", "CARD", "CASH", "QR", "VOUCHER", "WALLET"]

# Payment method; `MOBILE_MONEY` is accepted for `MOMO`
PayMethodFilter: TypeAlias = Literal[
    "BANK", "MOMO", "CRYPTO", "CARD", "CASH", "QR", "VOUCHER", "WALLET", "MOBILE_MONEY",
]

# A paused connector issues no quotes
ConnectorStatus: TypeAlias = Literal["ACTIVE", "PAUSED"]

# Type of step
ExecutionStepType: TypeAlias = Literal["QUOTE", "SUBMIT", "PAYOUT", "REFERENCE", "PAY", "CREDIT"]

# JSON type of the value
RequirementFieldType: TypeAlias = Literal["string", "number", "boolean"]

# `ok`, or `degraded` if a check fails
ConnectHealthStatus: TypeAlias = Literal["ok", "degraded"]

# Event type that a webhook can subscribe to
EventType: TypeAlias = Literal[
    "payment.initiated", "payment.processing", "payment.succeeded", "payment.failed", "payment.refund_pending",
    "payment.refunded", "payment.refund_failed", "wallet.status_changed", "onramp_reference.payment_received",
    "webhook.disabled", "application.credentials_rotated",
]

# Event type; `*` means all payment events
EventTypeOrAll: TypeAlias = Literal[
    "*", "payment.initiated", "payment.processing", "payment.succeeded", "payment.failed", "payment.refund_pending",
    "payment.refunded", "payment.refund_failed", "wallet.status_changed", "onramp_reference.payment_received",
    "webhook.disabled", "application.credentials_rotated",
]

# Status of a webhook
WebhookStatus: TypeAlias = Literal["active", "disabled"]

# Status of a delivery. `dead`: all attempts failed. `oversize`: the body exceeds the limit and is not sent
DeliveryStatus: TypeAlias = Literal["pending", "delivered", "dead", "oversize"]

# `endpoint_gone`: the endpoint responded with 410
WebhookDisabledReason: TypeAlias = Literal["by_owner", "endpoint_gone"]

DeliveryEventType: TypeAlias = Literal[
    "payment.initiated", "payment.processing", "payment.succeeded", "payment.failed", "payment.refund_pending",
    "payment.refunded", "payment.refund_failed", "wallet.status_changed", "onramp_reference.payment_received",
    "webhook.disabled", "application.credentials_rotated", "webhook.test",
]

# Event type
PaymentEventType: TypeAlias = Literal[
    "payment.initiated", "payment.processing", "payment.succeeded", "payment.failed", "payment.refund_pending",
    "payment.refunded", "payment.refund_failed", "onramp_reference.payment_received",
]


@dataclass(frozen=True, kw_only=True)
class ProblemDetails:
    """A problem (RFC 9457)"""

    WIRE: ClassVar[dict[str, str]] = {"error_description": "error_description"}

    type: str
    """URN of the problem: `urn:coffer:problem:` followed by the slug."""
    title: str
    """Title of the problem, identical for every occurrence."""
    status: int
    """HTTP status code."""
    detail: str | None = None
    """Explanation of this occurrence."""
    instance: str | None = None
    """Path of the request."""
    request_id: str
    """ID of the request, as in `X-Request-Id`"""
    code: ProblemCode
    """Slug of the problem, with underscores."""
    doc_url: str
    """URL of the page that explains this problem."""
    leader: str | None = None
    """Address of the machine that leads the ledger; only with `not_leader`"""
    errors: list[FieldError] | None = None
    """The invalid fields."""
    error: str | None = None
    """OAuth error code of POST /v1/oauth/token, or the text that SEP-10 clients read from /v1/public/auth-connect;
    only there.
    """
    error_description: str | None = None
    """Description of the OAuth error; only on POST /v1/oauth/token."""


@dataclass(frozen=True, kw_only=True)
class FieldError:
    """An error in one field."""

    field: str
    """Path of the field in the request."""
    message: str
    """A sentence about the error in the field."""


@dataclass(frozen=True, kw_only=True)
class TokenRequest:
    """Credentials of an application."""

    client_id: str
    """Client ID issued at registration."""
    client_secret: str = field(repr=False)
    """Client secret issued at registration."""
    scope: str | None = None
    """Scopes to request, separated by spaces; all scopes of the application by default."""


@dataclass(frozen=True, kw_only=True)
class OAuthTokenRequest:
    """Credentials of an application as an OAuth 2 form. `client_id` and `client_secret` can also be sent with HTTP
    Basic authentication.
    """

    WIRE: ClassVar[dict[str, str]] = {"grant_type": "grant_type", "client_id": "client_id", "client_secret": "client_secret"}

    grant_type: Literal["client_credentials"] = "client_credentials"
    """OAuth grant."""
    client_id: str | None = None
    """Client ID issued at registration."""
    client_secret: str | None = field(repr=False, default=None)
    """Client secret issued at registration."""
    scope: str | None = None
    """Scopes to request, separated by spaces; all scopes of the application by default."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """An access token."""

    access_token: str = field(repr=False)
    """Bearer token for the API."""
    token_type: Literal["Bearer"]
    """Token type."""
    expires_in: int
    """Seconds until the token expires."""
    association_id: str | None
    """Association of the application; null if it has none."""


@dataclass(frozen=True, kw_only=True)
class OAuthToken:
    """An access token in the form of OAuth 2."""

    WIRE: ClassVar[dict[str, str]] = {"access_token": "access_token", "token_type": "token_type", "expires_in": "expires_in"}

    access_token: str = field(repr=False)
    """Bearer token for the API."""
    token_type: Literal["Bearer"]
    """Token type."""
    expires_in: int
    """Seconds until the token expires."""
    scope: str
    """Granted scopes, separated by spaces."""


@dataclass(frozen=True, kw_only=True)
class Association:
    """The tenant: a customer of the operator."""

    id: str
    """ID of the association."""
    name: str
    """Name of the association."""
    status: AssociationStatus
    """Status of the association."""


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A registered asset."""

    code: str
    """Asset code."""
    issuer: str
    """Public key of the asset's issuer."""
    name: str
    """Name of the asset."""
    decimals: int
    """Number of decimal places."""
    network_name: str
    """Network of the wallet or asset."""


@dataclass(frozen=True, kw_only=True)
class AssetList:
    """All registered assets."""

    data: list[Asset]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class PersonMetadata:
    """A person that holds a wallet."""

    entity_type: Literal["Person"] = "Person"
    """Whether the holder is a person or a company."""
    first_name: str = field(repr=False)
    """Given name."""
    last_name: str = field(repr=False)
    """Family name."""
    date_of_birth: datetime.date = field(repr=False)
    """Date of birth."""
    nationality: str
    """Country of nationality."""
    id_type: str | None = field(repr=False, default=None)
    """Type of identity document. GET /v1/payments/enums suggests codes."""
    id_number: str | None = field(repr=False, default=None)
    """Number of the identity document."""
    address: str | None = field(repr=False, default=None)
    """Postal address on one line."""
    email: str | None = field(repr=False, default=None)
    """E-mail address."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""


@dataclass(frozen=True, kw_only=True)
class BusinessMetadata:
    """A company that holds a wallet."""

    entity_type: Literal["Business"] = "Business"
    """Whether the holder is a person or a company."""
    company_name: str = field(repr=False)
    """Registered name of the company."""
    registration_number: str = field(repr=False)
    """Registration number of the company."""
    registration_country: str
    """Country of registration."""
    tax_id: str | None = field(repr=False, default=None)
    """Tax number."""
    address: str | None = field(repr=False, default=None)
    """Postal address on one line."""
    contact_email: str | None = field(repr=False, default=None)
    """E-mail address."""


@dataclass(frozen=True, kw_only=True)
class NewWallet:
    """A wallet to create."""

    wallet_name: str = field(repr=False)
    """Display name of the wallet."""
    asset_code: str
    """First asset of the wallet."""
    own_account: bool | None = None
    """Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review."""
    metadata: Metadata | None = None
    """Required unless `ownAccount` is true."""


@dataclass(frozen=True, kw_only=True)
class WalletUpdate:
    """Fields to change. Changing the metadata of a third-party wallet starts a new review."""

    wallet_name: str | None = field(repr=False, default=None)
    """Display name of the wallet."""
    metadata: Metadata | None = None
    """The holder of the wallet."""


@dataclass(frozen=True, kw_only=True)
class NewTrustline:
    """An asset to add to a wallet."""

    asset_code: str
    """Asset code."""


@dataclass(frozen=True, kw_only=True)
class WalletRejection:
    """Reason for rejecting the wallet."""

    code: str | None = None
    """Code of the reason."""
    message: str | None = None
    """The reason as a sentence."""


@dataclass(frozen=True, kw_only=True)
class WalletFunding:
    """Amount and asset to credit."""

    asset_code: str
    """Asset code."""
    amount: Amount
    """Amount to credit."""


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Balance of a wallet in one asset."""

    asset_code: str
    """Asset code."""
    issuer: str
    """Public key of the asset's issuer."""
    decimals: int
    """Number of decimal places."""
    balance: Decimal
    """Total balance, including held amounts."""
    available: Decimal
    """Amount that can be spent: the balance without held amounts."""
    held: Decimal
    """Amount reserved for payments in progress."""


@dataclass(frozen=True, kw_only=True)
class Wallet:
    """A wallet with its balances."""

    id: str
    """ID of the wallet."""
    wallet_name: str = field(repr=False)
    """Display name of the wallet."""
    account_number: str
    """Account number of the wallet."""
    public_key: str
    """Public key of the wallet on the ledger."""
    network_name: str
    """Network of the wallet or asset."""
    asset_code: str
    """First asset of the wallet."""
    own_account: bool
    """Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review."""
    status: WalletStatus
    """Review status. Only a `Verified` wallet can transact."""
    status_reason: WalletStatusReason | None = None
    """Reason for this status."""
    metadata: Metadata | None = None
    """The holder of the wallet."""
    balances: list[Balance]
    """One balance per asset."""
    balances_unavailable: bool | None = None
    """True if the balances could not be read; `balances` is then empty."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""


@dataclass(frozen=True, kw_only=True)
class WalletStatusReason:
    """Reason for this status."""

    code: str
    """Code of the reason."""
    message: str
    """The reason as a sentence."""


@dataclass(frozen=True, kw_only=True)
class WalletList:
    """A page of wallets."""

    data: list[Wallet]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class OwnTransfer:
    """A transfer of one asset between own wallets."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
    `notifyWhatsApp`
    """
    notify_whats_app: bool | None = None
    """Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
    `notifyEmail`
    """
    source_wallet_id: str
    """Wallet to debit."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str
    """Asset to debit."""
    receiving_asset_code: str | None = None
    """Optional; must equal `sendingAssetCode`, otherwise the response is 422."""
    amount: Amount
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""


@dataclass(frozen=True, kw_only=True)
class MultiTransfer:
    """Up to 100 transfers that either all settle or all fail."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    transfers: Sequence[Transfer]
    """The transfers, in the order in which they are applied."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """One transfer of a multi-transfer."""

    source_wallet_id: str
    """Wallet to debit."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str
    """Asset to debit."""
    receiving_asset_code: str | None = None
    """Optional; must equal `sendingAssetCode`, otherwise the response is 422."""
    amount: Amount
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""


@dataclass(frozen=True, kw_only=True)
class OwnSwap:
    """A swap between own wallets."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
    `notifyWhatsApp`
    """
    notify_whats_app: bool | None = None
    """Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
    `notifyEmail`
    """
    source_wallet_id: str
    """Wallet to debit."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str
    """Asset to debit."""
    amount: Amount
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    receiving_asset_code: str
    """Asset to credit."""
    min_receiving_amount: Amount | None = None
    """Minimum amount to receive. Below it, the payment fails with `slippage_exceeded`"""


@dataclass(frozen=True, kw_only=True)
class Acknowledgement:
    """The payment is stored and will be settled."""

    transaction_record_id: str
    """ID of the transaction record, for GET /v1/transactions/{transactionId}."""
    status: Literal["accepted"]
    """Always `accepted`"""
    intent_id: str | None = None
    """ID of a downstream execution; reserved."""
    is_idempotent: bool
    """True if this `transactionId` was accepted earlier with the same content."""
    message: str | None = None
    """Human-readable message."""


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Result of a validation."""

    valid: Literal[True]
    """All checks passed; nothing was stored."""


@dataclass(frozen=True, kw_only=True)
class StatusChange:
    """A status that the payment reached."""

    status: TransactionStatus
    """The status."""
    at: datetime.datetime
    """Time of the event."""
    code: FailureCode | None = None
    """Failure code from GET /v1/payments/enums."""
    message: str | None = None
    """The reason as a sentence."""


@dataclass(frozen=True, kw_only=True)
class TransactionLeg:
    """One transfer of a multi-transfer."""

    source_wallet_id: str
    """Wallet to debit."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str
    """Asset to debit."""
    amount: Decimal
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference on the sender's statement."""
    to_ref: str | None = None
    """Reference on the recipient's statement."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """The record of a payment."""

    id: str
    """ID of the record, equal to `transactionRecordId`"""
    transaction_record_id: str
    """ID of the transaction record, for GET /v1/transactions/{transactionId}."""
    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    type: TransactionType
    """Type of the payment."""
    status: TransactionStatus
    """Status of the payment."""
    substatus: TransactionSubstatus | None = None
    """Detail of the status. `in_review`, `awaiting_payment` and `awaiting_provider` say what a payment in
    `processing` waits for. `underpaid` and `overpaid` say that the payer of an on-ramp paid an amount other
    than `sendingAmount`
    """
    status_reason: TransactionStatusReason | None = None
    """Reason for this status."""
    status_history: list[StatusChange]
    """All statuses of the payment so far, in order."""
    environment: Environment
    """Environment: sandbox or production."""
    sending_asset_code: str | None = None
    """Asset to debit."""
    sending_amount: Decimal | None = None
    """Amount in the sending asset."""
    receiving_asset_code: str | None = None
    """Asset to credit."""
    receiving_amount: Decimal | None = None
    """Amount to credit."""
    fee: Decimal | None = None
    """Fee, in the sending asset."""
    collected_amount: Decimal | None = None
    """Amount that the payer of an on-ramp paid, in `sendingAssetCode`"""
    excess_amount: Decimal | None = None
    """Amount that the payer of an on-ramp paid beyond `sendingAmount`; the provider returns it."""
    min_receiving_amount: Decimal | None = None
    """Minimum amount to receive. Below it, the swap fails."""
    total: Decimal | None = None
    """Amount debited from the source wallet, including the fee."""
    path: str | None = None
    """Asset codes along the conversion path, separated by spaces."""
    source_wallet_id: str | None = None
    """Wallet to debit."""
    destination_wallet_id: str | None = None
    """Wallet to credit."""
    beneficiary_id: str | None = None
    """The beneficiary."""
    destination_id: str | None = None
    """Payment destination of the beneficiary."""
    connector_id: str | None = None
    """Connector that executes the payment."""
    quote_id: str | None = None
    """Quote that sets the price."""
    legs: list[TransactionLeg] | None = None
    """The transfers of a multi-transfer."""
    from_ref: str | None = None
    """Reference on the sender's statement."""
    to_ref: str | None = None
    """Reference on the recipient's statement."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger."""
    metadata: dict[str, str] | None = field(repr=False, default=None)
    """The caller's own texts by key; absent if there are none."""
    ledger_transaction_hash: str | None = None
    """Hash of the entries on the ledger."""
    provider_reference: str | None = None
    """The provider's reference for the payment."""
    instructions: dict[str, str] | None = None
    """Payment instructions for the payer of an on-ramp."""
    instructions_expire_at: datetime.datetime | None = None
    """Deadline for the payer."""
    refund: TransactionRefund | None = None
    """Refund of the debited amount after a failure, or the total that was given back after success."""
    version: int
    """Version of the record; increases with each change."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""
    completed_at: datetime.datetime | None = None
    """Time at which the payment reached its final status."""


@dataclass(frozen=True, kw_only=True)
class TransactionStatusReason:
    """Reason for this status."""

    code: FailureCode
    """Failure code from GET /v1/payments/enums."""
    message: str
    """The reason as a sentence."""
    retryable: bool
    """Whether a new payment with the same content may succeed later."""


@dataclass(frozen=True, kw_only=True)
class TransactionRefund:
    """Refund of the debited amount after a failure, or the total that was given back after success."""

    status: TransactionRefundStatus
    """Status of the refund."""
    amount: Decimal
    """Amount to return."""
    at: datetime.datetime
    """Time of the event."""
    reason: str | None = field(repr=False, default=None)
    """Reason of the last return or reversal, if the payment had succeeded."""


@dataclass(frozen=True, kw_only=True)
class TransactionList:
    """A page of transaction records."""

    data: list[Transaction]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class StatementLine:
    """A movement on a wallet."""

    row_id: str
    """Opaque, stable and unique within the wallet's statement; identical in every export."""
    at: datetime.datetime
    """Time of the event."""
    description: str | None = field(repr=False)
    """Description of the movement."""
    reference: str | None
    """`fromRef` on a debit, `toRef` on a credit."""
    counterparty: str | None = field(repr=False, default=None)
    """Name of the other party."""
    direction: StatementLineDirection
    """Whether the amount is debited or credited."""
    amount: Decimal
    """Amount; negative for a debit."""
    running_balance: Decimal
    """Balance after this line."""
    transaction_record_id: str | None
    """Transaction record of the line; null if the movement does not belong to a payment."""
    metadata: dict[str, str] | None = field(repr=False, default=None)
    """Metadata of the payment; absent if it has none, and on a payment of another association."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A page of a statement."""

    wallet_id: str
    """The wallet."""
    asset_code: str
    """Asset code."""
    start_date: datetime.datetime
    """Start of the period, inclusive."""
    end_date: datetime.datetime
    """End of the period, exclusive."""
    opening_balance: Decimal
    """Balance at the start of the period."""
    closing_balance: Decimal
    """Balance at the end of the period."""
    data: list[StatementLine]
    """Lines of this page, oldest first."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""


@dataclass(frozen=True, kw_only=True)
class NewIndividual:
    """A person as beneficiary."""

    first_name: str = field(repr=False)
    """Given name."""
    last_name: str = field(repr=False)
    """Family name."""
    email: str | None = field(repr=False, default=None)
    """E-mail address."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""
    date_of_birth: datetime.date | None = field(repr=False, default=None)
    """Date of birth."""
    nationality: str | None = None
    """Country of nationality."""


@dataclass(frozen=True, kw_only=True)
class NewCompany:
    """A company as beneficiary."""

    company_name: str = field(repr=False)
    """Registered name of the company."""
    registration_number: str | None = field(repr=False, default=None)
    """Registration number of the company."""
    email: str | None = field(repr=False, default=None)
    """E-mail address."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""
    registration_country: str | None = None
    """Country of registration."""


@dataclass(frozen=True, kw_only=True)
class NewAddress:
    """A postal address."""

    type: str | None = field(repr=False, default=None)
    """Kind of address, such as `home` or `registered`"""
    line1: str = field(repr=False)
    """Street and number."""
    line2: str | None = field(repr=False, default=None)
    """Second line of the address."""
    city: str = field(repr=False)
    """City or town."""
    state: str | None = field(repr=False, default=None)
    """State, province or region."""
    postal_code: str | None = field(repr=False, default=None)
    """Postal code."""
    country_iso_code2: str
    """ISO 3166-1 alpha-2, in any case."""


@dataclass(frozen=True, kw_only=True)
class NewBankDetails:
    """Send exactly one of `accountNumber` and `iban`. The length and check digits of an IBAN are verified (ISO
    13616)
    """

    account_name: str = field(repr=False)
    """Name of the account holder."""
    account_number: str | None = field(repr=False, default=None)
    """Account number; mutually exclusive with `iban`"""
    iban: str | None = field(repr=False, default=None)
    """IBAN; mutually exclusive with `accountNumber`"""
    bank_name: str | None = field(repr=False, default=None)
    """Name of the bank."""
    bank_code: str | None = field(repr=False, default=None)
    """National code of the bank."""
    branch_code: str | None = field(repr=False, default=None)
    """National code of the branch."""
    swift_bic: str | None = None
    """BIC (ISO 9362)"""


@dataclass(frozen=True, kw_only=True)
class NewMobileMoneyDetails:
    """A mobile money account."""

    provider: str = field(repr=False)
    """Provider."""
    phone_number: str = field(repr=False)
    """Phone number in E.164 format."""
    account_name: str | None = field(repr=False, default=None)
    """Name of the account holder."""


@dataclass(frozen=True, kw_only=True)
class NewCryptoDetails:
    """`networkName`, `assetSymbol` and `walletAddress` are required, either here or at the top level of the
    destination.
    """

    network_name: str | None = field(repr=False, default=None)
    """Network of the address."""
    asset_symbol: str | None = field(repr=False, default=None)
    """Symbol of the asset on that network."""
    wallet_address: str | None = field(repr=False, default=None)
    """Address on that network."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""


@dataclass(frozen=True, kw_only=True)
class NewDestination:
    """Send the details of the method: `bank`, `mobileMoney`, or for CRYPTO `networkName`, `assetSymbol` and
    `walletAddress`, either at the top level or in `crypto`. `countryIsoCode2` and `currencyIsoCode3` are
    required unless the method is CRYPTO. On the network of the embedded ledger, `walletAddress` is a public
    key. `networkId`, `assetId` and `connectorId` are not accepted. A masked number from a list is accepted only
    with the `id` of its destination, and means the present number.
    """

    method: DestinationMethodIn
    """Payment method."""
    country_iso_code2: str | None = None
    """ISO 3166-1 alpha-2, in any case."""
    currency_iso_code3: str | None = None
    """ISO 4217, in any case."""
    label: str | None = field(repr=False, default=None)
    """Display name of the destination."""
    bank: NewBankDetails | None = None
    """Details for the method BANK."""
    mobile_money: NewMobileMoneyDetails | None = None
    """Details for the method MOBILE_MONEY."""
    crypto: NewCryptoDetails | None = None
    """Details for the method CRYPTO."""
    network_name: str | None = field(repr=False, default=None)
    """Network of the address."""
    asset_symbol: str | None = field(repr=False, default=None)
    """Symbol of the asset on that network."""
    wallet_address: str | None = field(repr=False, default=None)
    """Address on that network."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""


@dataclass(frozen=True, kw_only=True)
class NewBeneficiary:
    """Send exactly one of `individual` and `business`"""

    individual: NewIndividual | None = None
    """The person; mutually exclusive with `business`"""
    business: NewCompany | None = None
    """The company; mutually exclusive with `individual`"""
    addresses: Sequence[NewAddress] | None = None
    """Postal addresses."""
    tags: Sequence[str] | None = None
    """Labels for filtering."""
    client_reference: str | None = None
    """Your reference for the beneficiary."""
    payment_destinations: Sequence[NewDestination] | None = None
    """Payment destinations of the beneficiary."""


@dataclass(frozen=True, kw_only=True)
class BeneficiaryPatch:
    """JSON Merge Patch (RFC 7396): objects are merged, null removes a member, and an array replaces the whole
    array. If `paymentDestinations` is present, all destinations are replaced and get new IDs; otherwise they
    are unchanged. The result must be a valid beneficiary.
    """

    individual: BeneficiaryPatchIndividual | None | Unset = UNSET
    """The person; mutually exclusive with `business`"""
    business: BeneficiaryPatchBusiness | None | Unset = UNSET
    """The company; mutually exclusive with `individual`"""
    addresses: Sequence[NewAddress] | None | Unset = UNSET
    """Postal addresses."""
    tags: Sequence[str] | None | Unset = UNSET
    """Labels for filtering."""
    client_reference: str | None | Unset = UNSET
    """Your reference for the beneficiary."""
    payment_destinations: Sequence[NewDestination] | None | Unset = UNSET
    """Payment destinations of the beneficiary."""


@dataclass(frozen=True, kw_only=True)
class BeneficiaryPatchIndividual:
    """The person; mutually exclusive with `business`"""

    first_name: str | None | Unset = field(repr=False, default=UNSET)
    """Given name."""
    last_name: str | None | Unset = field(repr=False, default=UNSET)
    """Family name."""
    email: str | None | Unset = field(repr=False, default=UNSET)
    """E-mail address."""
    phone: str | None | Unset = field(repr=False, default=UNSET)
    """Phone number in E.164 format."""
    date_of_birth: datetime.date | None | Unset = field(repr=False, default=UNSET)
    """Date of birth."""
    nationality: str | None | Unset = UNSET
    """Country of nationality."""


@dataclass(frozen=True, kw_only=True)
class BeneficiaryPatchBusiness:
    """The company; mutually exclusive with `individual`"""

    company_name: str | None | Unset = field(repr=False, default=UNSET)
    """Registered name of the company."""
    registration_number: str | None | Unset = field(repr=False, default=UNSET)
    """Registration number of the company."""
    email: str | None | Unset = field(repr=False, default=UNSET)
    """E-mail address."""
    phone: str | None | Unset = field(repr=False, default=UNSET)
    """Phone number in E.164 format."""
    registration_country: str | None | Unset = UNSET
    """Country of registration."""


@dataclass(frozen=True, kw_only=True)
class NewBeneficiaries:
    """Beneficiaries to create."""

    beneficiaries: Sequence[NewBeneficiary]
    """The beneficiaries. Each one is created or rejected independently of the others."""


@dataclass(frozen=True, kw_only=True)
class BulkResult:
    """Result of each row."""

    results: list[BulkRow]
    """Results in the order of the request."""
    created: int
    """Number of created beneficiaries."""
    failed: int
    """Number of failed rows."""


@dataclass(frozen=True, kw_only=True)
class BulkRow:
    """Result of one row."""

    index: int
    """Position in the request, starting at 0."""
    status: BulkRowStatus
    """Whether the beneficiary was created."""
    beneficiary_id: str | None = None
    """ID of the new beneficiary."""
    problem: ProblemDetails | None = None
    """Why the row failed."""


@dataclass(frozen=True, kw_only=True)
class Individual:
    """A person as beneficiary."""

    first_name: str = field(repr=False)
    """Given name."""
    last_name: str = field(repr=False)
    """Family name."""
    email: str | None = field(repr=False, default=None)
    """E-mail address."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""
    date_of_birth: datetime.date | None = field(repr=False, default=None)
    """Date of birth."""
    nationality: str | None = None
    """Country of nationality."""


@dataclass(frozen=True, kw_only=True)
class Company:
    """A company as beneficiary."""

    company_name: str = field(repr=False)
    """Registered name of the company."""
    registration_number: str | None = field(repr=False, default=None)
    """Registration number of the company."""
    email: str | None = field(repr=False, default=None)
    """E-mail address."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""
    registration_country: str | None = None
    """Country of registration."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A postal address."""

    type: str | None = field(repr=False, default=None)
    """Kind of address, such as `home` or `registered`"""
    line1: str = field(repr=False)
    """Street and number."""
    line2: str | None = field(repr=False, default=None)
    """Second line of the address."""
    city: str = field(repr=False)
    """City or town."""
    state: str | None = field(repr=False, default=None)
    """State, province or region."""
    postal_code: str | None = field(repr=False, default=None)
    """Postal code."""
    country_iso_code2: str
    """ISO 3166-1 alpha-2."""


@dataclass(frozen=True, kw_only=True)
class BankDetails:
    """A bank account."""

    account_name: str = field(repr=False)
    """Name of the account holder."""
    account_number: str | None = field(repr=False, default=None)
    """Account number; mutually exclusive with `iban`"""
    iban: str | None = field(repr=False, default=None)
    """IBAN; mutually exclusive with `accountNumber`"""
    bank_name: str | None = field(repr=False, default=None)
    """Name of the bank."""
    bank_code: str | None = field(repr=False, default=None)
    """National code of the bank."""
    branch_code: str | None = field(repr=False, default=None)
    """National code of the branch."""
    swift_bic: str | None = None
    """BIC (ISO 9362)"""


@dataclass(frozen=True, kw_only=True)
class MobileMoneyDetails:
    """A mobile money account."""

    provider: str = field(repr=False)
    """Provider."""
    phone_number: str = field(repr=False)
    """Phone number of the mobile money account."""
    account_name: str | None = field(repr=False, default=None)
    """Name of the account holder."""


@dataclass(frozen=True, kw_only=True)
class CryptoDetails:
    """An address on a network."""

    network_name: str = field(repr=False)
    """Network of the address."""
    asset_symbol: str = field(repr=False)
    """Symbol of the asset on that network."""
    wallet_address: str = field(repr=False)
    """Address on that network."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger."""


@dataclass(frozen=True, kw_only=True)
class Destination:
    """In lists, account numbers, IBANs, phone numbers and wallet addresses are masked except for the last four
    characters. A CRYPTO destination may have no country and no currency.
    """

    id: str
    """ID of the destination."""
    method: DestinationMethod
    """Payment method."""
    country_iso_code2: str | None = None
    """ISO 3166-1 alpha-2."""
    currency_iso_code3: str | None = None
    """ISO 4217."""
    label: str | None = field(repr=False, default=None)
    """Display name of the destination."""
    bank: BankDetails | None = None
    """Details for the method BANK."""
    mobile_money: MobileMoneyDetails | None = None
    """Details for the method MOBILE_MONEY."""
    crypto: CryptoDetails | None = None
    """Details for the method CRYPTO."""
    created_at: datetime.datetime
    """Time of creation."""


@dataclass(frozen=True, kw_only=True)
class DestinationList:
    """Destinations of a beneficiary."""

    data: list[Destination]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class Beneficiary:
    """A beneficiary with payment destinations."""

    id: str
    """ID of the beneficiary."""
    type: BeneficiaryType
    """Whether the holder is a person or a company."""
    individual: Individual | None = None
    """The person; mutually exclusive with `business`"""
    business: Company | None = None
    """The company; mutually exclusive with `individual`"""
    addresses: list[Address]
    """Postal addresses."""
    tags: list[str]
    """Labels for filtering."""
    client_reference: str | None = None
    """Your reference for the beneficiary."""
    payment_destinations: list[Destination]
    """Payment destinations of the beneficiary."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""


@dataclass(frozen=True, kw_only=True)
class BeneficiaryList:
    """A page of beneficiaries."""

    data: list[Beneficiary]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class Challenge:
    """A SEP-10 challenge."""

    WIRE: ClassVar[dict[str, str]] = {"network_passphrase": "network_passphrase"}

    transaction: str = field(repr=False)
    """The TransactionEnvelope to sign, as base64 XDR."""
    network_passphrase: str
    """Network passphrase to sign with."""


@dataclass(frozen=True, kw_only=True)
class SignedChallenge:
    """A signed SEP-10 challenge."""

    transaction: str = field(repr=False)
    """The challenge with the signature of the account added."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """Tokens of a login."""

    id_token: str = field(repr=False)
    """Bearer token."""
    refresh_token: str = field(repr=False)
    """Token for one refresh, valid for 30 days."""
    expires_in: int
    """Seconds until `idToken` expires."""
    token: str = field(repr=False)
    """Same as `idToken`, under its SEP-10 name."""


@dataclass(frozen=True, kw_only=True)
class SignIn:
    """Credentials for the sign-in."""

    public_key: str
    """Public key of the application."""
    secret: str = field(repr=False)
    """The `signInSecret` issued at registration."""


@dataclass(frozen=True, kw_only=True)
class Refresh:
    """A refresh token."""

    refresh_token: str = field(repr=False)
    """Refresh token from the last login or refresh; can be used once."""


@dataclass(frozen=True, kw_only=True)
class OtpLogin:
    """Credentials of a user."""

    username: str = field(repr=False)
    """Name of the user."""
    password: str = field(repr=False)
    """Password of the user."""
    otp: str = field(repr=False)
    """Six-digit code from the authenticator app."""


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota of the association in the environment of the credentials."""

    name: QuotaName
    """Name of the quota, as in `quota-exceeded` errors."""
    description: str
    """What the quota counts."""
    used: int
    """Current usage."""
    limit: int | None
    """Limit; null if unlimited."""


@dataclass(frozen=True, kw_only=True)
class QuotaList:
    """All quotas."""

    data: list[Quota]
    """The rows of this page."""
    has_more: bool
    """Whether more rows follow."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class BeneficiaryTransfer:
    """A payment of one asset to a CRYPTO destination."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    source_wallet_id: str
    """Wallet to debit."""
    beneficiary_id: str
    """The beneficiary."""
    destination_id: str | None = None
    """A CRYPTO destination of the beneficiary; optional if exactly one is suitable."""
    sending_asset_code: str
    """Asset to debit."""
    receiving_asset_code: str | None = None
    """Optional; must equal `sendingAssetCode`, otherwise the response is 422."""
    amount: Amount
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
    `notifyWhatsApp`
    """
    notify_whats_app: bool | None = None
    """Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
    `notifyEmail`
    """


@dataclass(frozen=True, kw_only=True)
class BeneficiarySwap:
    """A swap whose proceeds go to a CRYPTO destination."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    source_wallet_id: str
    """Wallet to debit."""
    beneficiary_id: str
    """The beneficiary."""
    destination_id: str | None = None
    """A CRYPTO destination of the beneficiary; optional if exactly one is suitable."""
    sending_asset_code: str
    """Asset to debit."""
    amount: Amount
    """Amount in the sending asset."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
    `notifyWhatsApp`
    """
    notify_whats_app: bool | None = None
    """Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
    `notifyEmail`
    """
    receiving_asset_code: str
    """Asset to credit."""
    min_receiving_amount: Amount | None = None
    """Minimum amount to receive. Below it, the payment fails with `slippage_exceeded`"""


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """A payment that has succeeded is given back."""

    transaction_id: str
    """Your ID of the reversal: its idempotency key, which no payment and no other reversal has."""
    amount: Amount | None = None
    """Amount to give back, in units of the sending asset, or of the currency in which the payer of an on-ramp
    paid; all that is left if absent.
    """
    reason: str = field(repr=False)
    """Why the payment is reversed; shown in its record."""


@dataclass(frozen=True, kw_only=True)
class Offramp:
    """A payout against a quote."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    quote_id: str
    """Quote that sets the price."""
    source_wallet_id: str
    """Wallet to debit."""
    beneficiary_id: str
    """The beneficiary."""
    destination_id: str | None = None
    """The destination of the quote; optional if exactly one is suitable."""
    sending_asset_code: str | None = None
    """Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422."""
    receiving_asset_code: str | None = None
    """Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422."""
    purpose_of_payment: PurposeOfPayment
    """Purpose of the payment."""
    source_of_funds: SourceOfFunds
    """Source of the funds."""
    relationship: Relationship
    """Relationship between sender and recipient."""
    additional_fields: Mapping[str, Any] | None = field(repr=False, default=None)
    """The fields that GET /v1/payments/requirements returns."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Notify the recipient by e-mail. Requires a beneficiary with an e-mail address. Cannot be combined with
    `notifyWhatsApp`
    """
    notify_whats_app: bool | None = None
    """Notify the recipient by message. Requires a beneficiary with a phone number. Cannot be combined with
    `notifyEmail`
    """


@dataclass(frozen=True, kw_only=True)
class Payer:
    """The payer of an on-ramp."""

    name: str = field(repr=False)
    """Name of the payer."""
    account_number: str | None = field(repr=False, default=None)
    """Account number of the payer."""
    phone: str | None = field(repr=False, default=None)
    """Phone number in E.164 format."""


@dataclass(frozen=True, kw_only=True)
class Onramp:
    """A collection against a quote."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    quote_id: str
    """Quote that sets the price."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str | None = None
    """Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422."""
    receiving_asset_code: str | None = None
    """Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422."""
    payer: Payer
    """The payer."""
    additional_fields: Mapping[str, Any] | None = field(repr=False, default=None)
    """The fields that GET /v1/payments/requirements returns."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify."""
    notify_whats_app: bool | None = None
    """Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify."""


@dataclass(frozen=True, kw_only=True)
class CashIn:
    """An on-ramp: a quote and its execution in one request."""

    transaction_id: str
    """Your ID of the payment: both its idempotency key and its reference."""
    connector_id: str
    """Connector that executes the payment."""
    amount: Amount
    """Amount that the payer pays, in the currency of the connector."""
    destination_wallet_id: str
    """Wallet to credit."""
    sending_asset_code: str | None = None
    """Optional; must equal the quote's `sendAssetCode`, otherwise the response is 422."""
    receiving_asset_code: str | None = None
    """Optional; must equal the quote's `receiveCurrency`, otherwise the response is 422."""
    transaction_type: str | None = None
    """Whether the sender and the recipient are consumers or businesses."""
    payer: Payer
    """The payer."""
    additional_fields: Mapping[str, Any] | None = field(repr=False, default=None)
    """The fields that GET /v1/payments/requirements returns."""
    from_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    to_ref: str | None = None
    """Reference: `fromRef` appears on the sender's statement, `toRef` on the recipient's."""
    description: str | None = field(repr=False, default=None)
    """Description on the statements."""
    memo: str | None = field(repr=False, default=None)
    """Memo on the ledger: at most 28 bytes of UTF-8 (bytes, not characters)"""
    metadata: Mapping[str, str] | None = field(repr=False, default=None)
    """Your own texts by key: part of the record, events and exports, and a filter of the list of transactions."""
    notify_email: bool | None = None
    """Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify."""
    notify_whats_app: bool | None = None
    """Must be false or absent, otherwise the response is 422: an on-ramp has no beneficiary to notify."""


@dataclass(frozen=True, kw_only=True)
class CashInResult:
    """The stored on-ramp and its quote."""

    transaction_record_id: str
    """ID of the transaction record, for GET /v1/transactions/{transactionId}."""
    status: Literal["accepted"]
    """Always `accepted`"""
    intent_id: str | None = None
    """ID of a downstream execution; reserved."""
    is_idempotent: bool
    """True if this `transactionId` was accepted earlier with the same content."""
    message: str | None = None
    """Human-readable message."""
    quote: Quote | None = None
    """The new quote; absent if the response repeats an earlier one."""


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A fixed price for one payment, valid until it expires."""

    quote_id: str
    """ID of the quote."""
    type: QuoteType
    """Whether the quote is for an off-ramp or an on-ramp."""
    connector_id: str
    """Connector that executes the payment."""
    beneficiary_id: str | None = None
    """The beneficiary."""
    destination_id: str | None = None
    """Payment destination of the beneficiary."""
    transaction_type: PartyPair | None = None
    """Whether the sender and the recipient are consumers or businesses."""
    send_asset_code: str
    """Asset (off-ramp) or currency (on-ramp)"""
    send_amount: Decimal
    """Amount to send."""
    receive_currency: str
    """Currency (off-ramp) or asset (on-ramp)"""
    receive_amount: Decimal
    """Amount to receive."""
    rate: Decimal
    """Amount received per unit sent, before the fee."""
    fee: Decimal
    """Total fee, in the sending currency."""
    total: Decimal
    """Off-ramp: `sendAmount` + `fee`; on-ramp: `sendAmount`"""
    expires_at: datetime.datetime
    """Time at which the quote expires."""
    created_at: datetime.datetime
    """Time of creation."""
    status: QuoteStatus
    """An `OPEN` quote can be used for one payment."""


@dataclass(frozen=True, kw_only=True)
class NewReference:
    """A customer for whom references are registered."""

    connector_id: str
    """Connector that issues the references."""
    settlement_account: str
    """Public key of one of your wallets."""
    customer_id: str = field(repr=False)
    """Your ID of the customer."""


@dataclass(frozen=True, kw_only=True)
class RelatedReference:
    """An additional reference."""

    reference: str
    """Another reference of the same customer."""
    metadata: dict[str, str] | None
    """Payment instructions from the provider; null if an existing reference is bound to another wallet."""


@dataclass(frozen=True, kw_only=True)
class RegisteredReference:
    """A reference whose incoming payments credit a wallet."""

    reference: str
    """The reference that the customer pays to."""
    route_id: str
    """ID of the connector."""
    metadata: dict[str, str] | None
    """Payment instructions from the provider; null if an existing reference is bound to another wallet."""
    related_references: list[RelatedReference] | None
    """Additional references of the same customer, for example for other payment methods."""
    customer_id: str | None = field(repr=False, default=None)
    """Your ID of the customer."""
    settlement_account: str | None = None
    """Public key of the wallet to credit."""
    wallet_id: str | None = None
    """Wallet to credit."""
    created_at: datetime.datetime | None = None
    """Time of creation."""


@dataclass(frozen=True, kw_only=True)
class ReferenceList:
    """A page of references."""

    data: list[RegisteredReference]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class ReferencePayment:
    """A simulated customer payment."""

    amount: Amount
    """Amount that the customer pays."""
    currency_iso_code3: str | None = None
    """Currency that the customer pays in, if it is not the connector's."""
    payer_name: str | None = field(repr=False, default=None)
    """Name of the customer."""
    provider_payment_id: str | None = None
    """The provider's payment ID. A payment with the same ID is credited once; a new ID is generated if absent."""


@dataclass(frozen=True, kw_only=True)
class Connector:
    """A route to a provider for one country, method and direction."""

    id: str
    """ID of the connector."""
    name: str
    """Name of the connector."""
    provider: str
    """Provider behind the connector."""
    flow: ConnectorFlow
    """Whether you or the provider initiates payments."""
    direction: ConnectorDirection
    """Off-ramp or on-ramp."""
    method: PayMethod
    """Payment method."""
    country_iso_code2: str
    """ISO 3166-1 alpha-2."""
    currency_iso_code3: str
    """ISO 4217."""
    asset_code: str
    """Asset that the connector debits or credits."""
    min_amount: Decimal
    """Minimum amount of a quote, in the sending currency."""
    max_amount: Decimal
    """Maximum amount of a quote, in the sending currency."""
    transaction_types: list[PartyPair]
    """Supported transaction types."""
    status: ConnectorStatus
    """A paused connector issues no quotes."""
    environment: Environment
    """Environment: sandbox or production."""


@dataclass(frozen=True, kw_only=True)
class ConnectorList:
    """A page of connectors."""

    data: list[Connector]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class ExecutionStep:
    """A step of a payment through the connector."""

    order: int
    """Position of the step, starting at 1."""
    type: ExecutionStepType
    """Type of step."""
    title: str
    """Title of the step."""
    description: str
    """What happens in this step."""
    required_fields: list[str]
    """Paths of the fields that this step requires in a request."""


@dataclass(frozen=True, kw_only=True)
class ConnectorDetail:
    """A connector with its execution steps."""

    id: str
    """ID of the connector."""
    name: str
    """Name of the connector."""
    provider: str
    """Provider behind the connector."""
    flow: ConnectorFlow
    """Whether you or the provider initiates payments."""
    direction: ConnectorDirection
    """Off-ramp or on-ramp."""
    method: PayMethod
    """Payment method."""
    country_iso_code2: str
    """ISO 3166-1 alpha-2."""
    currency_iso_code3: str
    """ISO 4217."""
    asset_code: str
    """Asset that the connector debits or credits."""
    min_amount: Decimal
    """Minimum amount of a quote, in the sending currency."""
    max_amount: Decimal
    """Maximum amount of a quote, in the sending currency."""
    transaction_types: list[PartyPair]
    """Supported transaction types."""
    status: ConnectorStatus
    """A paused connector issues no quotes."""
    environment: Environment
    """Environment: sandbox or production."""
    execution_steps: list[ExecutionStep]
    """Steps in order; empty for a transaction type that the connector does not support."""


@dataclass(frozen=True, kw_only=True)
class NewQuote:
    """A request for a quote."""

    amount: Amount
    """Amount to send."""
    connector_id: str
    """Connector that executes the payment."""
    beneficiary_id: str | None = None
    """One of your beneficiaries. An off-ramp requires either this or `transactionType`. Not used for an on-ramp."""
    transaction_type: str | None = None
    """Prices an off-ramp without a beneficiary. Optional for an on-ramp."""
    destination_id: str | None = None
    """Destination whose limits are checked; requires `beneficiaryId`. The submission must use the same
    destination. By default the only suitable destination.
    """


@dataclass(frozen=True, kw_only=True)
class NewConnectQuote:
    """A request for a quote by the amount to send or to receive."""

    amount: Amount
    """Amount to send (direction `send`) or to receive (direction `receive`)"""
    connector_id: str
    """Connector that executes the payment."""
    transaction_type: str | None = None
    """For an off-ramp, the type by which the association pays consumers by default."""


@dataclass(frozen=True, kw_only=True)
class CodeLabel:
    """A code and its display name."""

    code: str
    """Value to send in requests."""
    label: str
    """Display name of the code."""


@dataclass(frozen=True, kw_only=True)
class PaymentEnums:
    """All vocabularies of the API."""

    purpose_of_payment: list[CodeLabel]
    """Purpose of the payment."""
    source_of_funds: list[CodeLabel]
    """Source of the funds."""
    relationship: list[CodeLabel]
    """Relationship between sender and recipient."""
    id_type: list[CodeLabel]
    """Suggested types of identity documents."""
    entity_type: list[CodeLabel]
    """Types of wallet holders."""
    transaction_type: list[CodeLabel]
    """Transaction types, by consumer or business on each side."""
    method: list[CodeLabel]
    """Payment methods of connectors."""
    failure_code: list[CodeLabel]
    """Reasons for failed payments."""
    status: list[CodeLabel]
    """Statuses of a transaction."""
    transitions: list[PaymentEnumsTransition]
    """Possible changes of status."""
    event_type: list[CodeLabel]
    """Event types."""


@dataclass(frozen=True, kw_only=True)
class PaymentEnumsTransition:
    """Undocumented."""

    from_: TransactionStatus
    """Earlier status."""
    to: TransactionStatus
    """Later status."""


@dataclass(frozen=True, kw_only=True)
class RequirementField:
    """A field that the connector requires or accepts."""

    name: str
    """Name of the member in `additionalFields`"""
    path: str
    """Path of the value in the submission."""
    type: RequirementFieldType
    """JSON type of the value."""
    required: bool
    """Whether the submission must contain the field."""
    label: str
    """Display name of the field."""
    description: str
    """Meaning of the value."""
    pattern: str | None = None
    """Regular expression that the whole value must match."""
    min_length: int | None = None
    """Minimum number of characters."""
    max_length: int | None = None
    """Maximum number of characters."""
    choices: list[CodeLabel] | None = None
    """Accepted values."""


@dataclass(frozen=True, kw_only=True)
class PaymentRequirements:
    """Fields that a connector requires in addition to the standard fields."""

    connector_id: str
    """Connector that executes the payment."""
    transaction_type: PartyPair | None
    """null for all types; `required` is then true only for fields that every type requires."""
    fields: list[RequirementField]
    """Fields of the connector, in order."""
    json_schema: Any
    """JSON Schema 2020-12 of `additionalFields` in a submission."""


@dataclass(frozen=True, kw_only=True)
class ConnectHealth:
    """Health of the platform."""

    status: ConnectHealthStatus
    """`ok`, or `degraded` if a check fails."""
    environment: Environment
    """Environment: sandbox or production."""
    time: datetime.datetime
    """Current time of the server."""
    checks: list[ConnectHealthCheck]
    """The checks."""


@dataclass(frozen=True, kw_only=True)
class ConnectHealthCheck:
    """Undocumented."""

    name: str
    """Name of the check."""
    ok: bool
    """Whether the check passed."""


@dataclass(frozen=True, kw_only=True)
class ConnectCountry:
    """A country with active connectors."""

    country_iso_code2: str
    """ISO 3166-1 alpha-2."""
    country_iso_code3: str
    """ISO 3166-1 alpha-3."""
    name: str
    """Name of the country."""
    currencies: list[str]
    """Currencies, ISO 4217."""
    methods: list[PayMethod]
    """Methods of the country's connectors."""
    directions: list[ConnectorDirection]
    """Directions of the country's connectors."""


@dataclass(frozen=True, kw_only=True)
class ConnectCountryList:
    """Countries with active connectors."""

    data: list[ConnectCountry]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class NewWebhook:
    """An endpoint to register."""

    url: str
    """HTTPS URL with a public address; HTTP is accepted in the sandbox only."""
    event_types: Sequence[EventTypeOrAll]
    """`*` means all payment events; other types must be listed explicitly."""
    description: str | None = None
    """Description for your own use."""
    method: Literal["POST"] | None = None
    """Always POST."""


@dataclass(frozen=True, kw_only=True)
class NewApplicationWebhook:
    """An endpoint to register, for all payment events by default."""

    url: str
    """HTTPS URL with a public address; HTTP is accepted in the sandbox only."""
    method: Literal["POST"] | None = None
    """Always POST."""
    event_types: Sequence[EventTypeOrAll] | None = None
    """`*` means all payment events; other types must be listed explicitly."""
    description: str | None = None
    """Description for your own use."""


@dataclass(frozen=True, kw_only=True)
class WebhookUpdate:
    """Fields to change."""

    url: str | Unset = UNSET
    """HTTPS URL with a public address; HTTP is accepted in the sandbox only."""
    event_types: Sequence[EventTypeOrAll] | Unset = UNSET
    """`*` means all payment events; other types must be listed explicitly."""
    description: str | None | Unset = UNSET
    """Description for your own use."""
    method: Literal["POST"] | Unset = UNSET
    """Always POST."""


@dataclass(frozen=True, kw_only=True)
class SecretRotation:
    """Options for the rotation."""

    grace_period_seconds: int | None = None
    """How many seconds the previous secret continues to sign; 24 hours by default."""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A webhook."""

    id: str
    """ID of the webhook."""
    application_id: str
    """Application that registered the webhook."""
    url: str
    """URL to which events are delivered."""
    method: Literal["POST"]
    """Always POST."""
    event_types: list[EventType]
    """Event types to deliver."""
    description: str | None
    """Description for your own use."""
    environment: Environment
    """Environment: sandbox or production."""
    status: WebhookStatus
    """Status of the webhook. Disabling is permanent."""
    disabled_reason: WebhookDisabledReason | None = None
    """`endpoint_gone`: the endpoint responded with 410."""
    disabled_at: datetime.datetime | None = None
    """Time at which the webhook was disabled."""
    previous_secret_valid_until: datetime.datetime | None = None
    """Time until which the previous secret also signs."""
    consecutive_failures: int
    """Number of consecutive failed attempts."""
    last_attempt_at: datetime.datetime | None = None
    """Time of the last attempt."""
    last_response_status: int | None = None
    """HTTP status of the last attempt; null if there was no response."""
    paused_until: datetime.datetime | None = None
    """Time until which nothing is sent, because the endpoint responded with 429 or 503. A new `url` ends the pause."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""


@dataclass(frozen=True, kw_only=True)
class WebhookWithSecret:
    """A webhook with its signing secret."""

    id: str
    """ID of the webhook."""
    application_id: str
    """Application that registered the webhook."""
    url: str
    """URL to which events are delivered."""
    method: Literal["POST"]
    """Always POST."""
    event_types: list[EventType]
    """Event types to deliver."""
    description: str | None
    """Description for your own use."""
    environment: Environment
    """Environment: sandbox or production."""
    status: WebhookStatus
    """Status of the webhook. Disabling is permanent."""
    disabled_reason: WebhookDisabledReason | None = None
    """`endpoint_gone`: the endpoint responded with 410."""
    disabled_at: datetime.datetime | None = None
    """Time at which the webhook was disabled."""
    previous_secret_valid_until: datetime.datetime | None = None
    """Time until which the previous secret also signs."""
    consecutive_failures: int
    """Number of consecutive failed attempts."""
    last_attempt_at: datetime.datetime | None = None
    """Time of the last attempt."""
    last_response_status: int | None = None
    """HTTP status of the last attempt; null if there was no response."""
    paused_until: datetime.datetime | None = None
    """Time until which nothing is sent, because the endpoint responded with 429 or 503. A new `url` ends the pause."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""
    secret: str = field(repr=False)
    """Signing secret; shown only in this response."""


@dataclass(frozen=True, kw_only=True)
class WebhookList:
    """A page of webhooks."""

    data: list[Webhook]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The delivery of one event to one webhook."""

    id: str
    """ID of the delivery, equal to the event ID."""
    webhook_id: str
    """The webhook."""
    event_id: str
    """ID of the event."""
    event_type: DeliveryEventType
    """Type of the event."""
    sequence: int
    """Sequence number of the event."""
    status: DeliveryStatus
    """Status of the delivery."""
    attempts: int
    """Number of attempts so far."""
    next_attempt_at: datetime.datetime | None = None
    """Time of the next attempt."""
    created_at: datetime.datetime
    """Time of creation."""
    closed_at: datetime.datetime | None = None
    """Time at which the delivery succeeded or failed for the last time."""


@dataclass(frozen=True, kw_only=True)
class DeliveryList:
    """A page of deliveries."""

    data: list[Delivery]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


@dataclass(frozen=True, kw_only=True)
class DeliveryAttempt:
    """An attempt to deliver an event."""

    attempt: int
    """Number of the attempt, starting at 1."""
    at: datetime.datetime
    """Time of the event."""
    duration_ms: int
    """Duration in milliseconds."""
    response_status: int | None
    """HTTP status of the response; null if there was no response."""
    error: str | None = None
    """Why the attempt failed, if the status does not show it."""
    response_body: str = field(repr=False)
    """First 4 KiB of the response body."""


@dataclass(frozen=True, kw_only=True)
class DeliveryDetail:
    """A delivery with its body and attempts."""

    id: str
    """ID of the delivery, equal to the event ID."""
    webhook_id: str
    """The webhook."""
    event_id: str
    """ID of the event."""
    event_type: DeliveryEventType
    """Type of the event."""
    sequence: int
    """Sequence number of the event."""
    status: DeliveryStatus
    """Status of the delivery."""
    attempts: int
    """Number of attempts so far."""
    next_attempt_at: datetime.datetime | None = None
    """Time of the next attempt."""
    created_at: datetime.datetime
    """Time of creation."""
    closed_at: datetime.datetime | None = None
    """Time at which the delivery succeeded or failed for the last time."""
    body: str | None = field(repr=False)
    """The bytes that are signed and sent; null if they were deleted after the retention period or exceed the limit."""
    log: list[DeliveryAttempt]
    """All attempts, in order."""


@dataclass(frozen=True, kw_only=True)
class NewRecovery:
    """A period."""

    from_: DateOrTime
    """Start of the period, inclusive."""
    to: DateOrTime | None = None
    """End of the period, exclusive; the current time by default."""


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """The period whose events are delivered again."""

    webhook_id: str
    """The webhook."""
    from_: datetime.datetime
    """Start of the period, inclusive."""
    to: datetime.datetime
    """End of the period, exclusive."""
    status: Literal["accepted"]
    """Always `accepted`"""


@dataclass(frozen=True, kw_only=True)
class TestEvent:
    """The test event that will be sent."""

    event_id: str
    """ID of the event."""
    type: DeliveryEventType
    """Type of the event."""
    sequence: int
    """Sequence number of the event."""


@dataclass(frozen=True, kw_only=True)
class EventWallet:
    """A wallet without balances and metadata."""

    id: str
    """ID of the wallet."""
    wallet_name: str = field(repr=False)
    """Display name of the wallet."""
    account_number: str
    """Account number of the wallet."""
    public_key: str
    """Public key of the wallet on the ledger."""
    network_name: str
    """Network of the wallet or asset."""
    asset_code: str
    """First asset of the wallet."""
    own_account: bool
    """Whether the wallet belongs to the association. A wallet of a third party requires metadata and a review."""
    status: WalletStatus
    """Review status. Only a `Verified` wallet can transact."""
    status_reason: WalletStatusReason | None = None
    """Reason for this status."""
    created_at: datetime.datetime
    """Time of creation."""
    updated_at: datetime.datetime
    """Time of the last change."""


@dataclass(frozen=True, kw_only=True)
class EventMessage:
    """A text."""

    message: str
    """Text of the test event."""


@dataclass(frozen=True, kw_only=True)
class PaymentEvent:
    """A payment event."""

    id: str
    """ID of the event, equal to `X-Webhook-Id`"""
    type: PaymentEventType
    """Event type."""
    timestamp: datetime.datetime
    """Time of the event."""
    api_version: Literal["v1"]
    """Version of the body."""
    environment: Environment
    """Environment: sandbox or production."""
    association_id: str
    """Association of the event."""
    sequence: int
    """Sequence number; increases by one per association and environment."""
    test: Literal[True] | None = None
    """True for a sample event that was triggered for a test."""
    data: Transaction
    """The transaction record as of this event."""


@dataclass(frozen=True, kw_only=True)
class WalletEvent:
    """The review status of a wallet changed."""

    id: str
    """ID of the event, equal to `X-Webhook-Id`"""
    type: Literal["wallet.status_changed"]
    """Event type."""
    timestamp: datetime.datetime
    """Time of the event."""
    api_version: Literal["v1"]
    """Version of the body."""
    environment: Environment
    """Environment: sandbox or production."""
    association_id: str
    """Association of the event."""
    sequence: int
    """Sequence number; increases by one per association and environment."""
    test: Literal[True] | None = None
    """True for a sample event that was triggered for a test."""
    data: EventWallet
    """The wallet as of this event."""


@dataclass(frozen=True, kw_only=True)
class WebhookEvent:
    """A webhook was disabled."""

    id: str
    """ID of the event, equal to `X-Webhook-Id`"""
    type: Literal["webhook.disabled"]
    """Event type."""
    timestamp: datetime.datetime
    """Time of the event."""
    api_version: Literal["v1"]
    """Version of the body."""
    environment: Environment
    """Environment: sandbox or production."""
    association_id: str
    """Association of the event."""
    sequence: int
    """Sequence number; increases by one per association and environment."""
    test: Literal[True] | None = None
    """True for a sample event that was triggered for a test."""
    data: Webhook
    """The webhook."""


@dataclass(frozen=True, kw_only=True)
class RotatedApplication:
    """The application whose credentials were rotated."""

    application_id: str
    """ID of the application."""
    client_id: str
    """Client ID, which a rotation keeps."""
    rotated_at: datetime.datetime
    """Time of the rotation."""


@dataclass(frozen=True, kw_only=True)
class ApplicationEvent:
    """An application got new credentials."""

    id: str
    """ID of the event, equal to `X-Webhook-Id`"""
    type: Literal["application.credentials_rotated"]
    """Event type."""
    timestamp: datetime.datetime
    """Time of the event."""
    api_version: Literal["v1"]
    """Version of the body."""
    environment: Environment
    """Environment: sandbox or production."""
    association_id: str
    """Association of the event."""
    sequence: int
    """Sequence number; increases by one per association and environment."""
    test: Literal[True] | None = None
    """True for a sample event that was triggered for a test."""
    data: RotatedApplication
    """The application."""


@dataclass(frozen=True, kw_only=True)
class WebhookTestEvent:
    """A test event for one webhook."""

    id: str
    """ID of the event, equal to `X-Webhook-Id`"""
    type: Literal["webhook.test"]
    """Event type."""
    timestamp: datetime.datetime
    """Time of the event."""
    api_version: Literal["v1"]
    """Version of the body."""
    environment: Environment
    """Environment: sandbox or production."""
    association_id: str
    """Association of the event."""
    sequence: int
    """Sequence number; increases by one per association and environment."""
    test: Literal[True] | None = None
    """True for a sample event that was triggered for a test."""
    data: EventMessage
    """A text."""


@dataclass(frozen=True, kw_only=True)
class EventList:
    """A page of events."""

    data: list[Event]
    """The rows of this page."""
    has_more: bool
    """Whether more rows may follow. Until it is false, a page can contain fewer rows than `limit`, or none."""
    next_cursor: str | None
    """Cursor of the next page; null on the last page."""
    prev_cursor: str | None
    """Cursor of the previous page; null on the first page."""


# The holder of a wallet
Metadata: TypeAlias = PersonMetadata | BusinessMetadata

# An event, which is the body of a webhook delivery. `type` determines the schema
Event: TypeAlias = PaymentEvent | WalletEvent | WebhookEvent | ApplicationEvent | WebhookTestEvent

# The members of each union by the value of its discriminator.
UNIONS: tuple[tuple[str, dict[str, type[Any]]], ...] = (
    (
        "entityType",
        {
            "Person": PersonMetadata,
            "Business": BusinessMetadata,
        },
    ),
    (
        "type",
        {
            "payment.initiated": PaymentEvent,
            "payment.processing": PaymentEvent,
            "payment.succeeded": PaymentEvent,
            "payment.failed": PaymentEvent,
            "payment.refund_pending": PaymentEvent,
            "payment.refunded": PaymentEvent,
            "payment.refund_failed": PaymentEvent,
            "onramp_reference.payment_received": PaymentEvent,
            "wallet.status_changed": WalletEvent,
            "webhook.disabled": WebhookEvent,
            "application.credentials_rotated": ApplicationEvent,
            "webhook.test": WebhookTestEvent,
        },
    ),
)
