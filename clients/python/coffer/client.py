# Generated from the OpenAPI document by clients/generate. Do not edit.
"""The client: one method per operation of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coffer import types
from coffer.runtime import Pages, Runtime, escape


class Client(Runtime):
    """A client of the API. Threads can share it.

    A method that creates a payment is repeated with the same transaction ID until there is a response, at most
    until the deadline. A list is an iterator over the rows of all pages.
    """

    def create_token(self, body: types.TokenRequest) -> types.Token:
        """Exchange client credentials for a bearer token."""
        result: types.Token = self.request("POST", "/v1/auth/token", types.Token, body=body, auth="public")
        return result

    def create_oauth_token(self, body: types.OAuthTokenRequest) -> types.OAuthToken:
        """Exchange client credentials for a bearer token (OAuth 2, RFC 6749)."""
        result: types.OAuthToken = self.request(
            "POST",
            "/v1/oauth/token",
            types.OAuthToken,
            body=body,
            auth="public",
            form=True,
        )
        return result

    def get_challenge(
        self,
        *,
        account: str,
        home_domain: str | None = None,
        client_domain: str | None = None,
        memo: str | None = None,
    ) -> types.Challenge:
        """Request a challenge to sign (SEP-10)."""
        result: types.Challenge = self.request(
            "GET",
            "/v1/public/auth-connect",
            types.Challenge,
            query={"account": account, "home_domain": home_domain, "client_domain": client_domain, "memo": memo},
            auth="public",
        )
        return result

    def submit_challenge(self, body: types.SignedChallenge) -> types.Session:
        """Log in with a signed challenge."""
        result: types.Session = self.request(
            "POST",
            "/v1/public/auth-connect",
            types.Session,
            body=body,
            auth="public",
            repeat="never",
        )
        return result

    def sign_in(self, body: types.SignIn) -> types.Session:
        """Sign in with public key and secret."""
        result: types.Session = self.request(
            "POST",
            "/v1/public/auth-connect/sign-in",
            types.Session,
            body=body,
            auth="public",
        )
        return result

    def refresh_session(self, body: types.Refresh) -> types.Session:
        """Exchange a refresh token for a new idToken."""
        result: types.Session = self.request(
            "POST",
            "/v1/public/auth/refresh",
            types.Session,
            body=body,
            auth="public",
            repeat="never",
        )
        return result

    def verify_otp(self, body: types.OtpLogin) -> types.Token:
        """Log in a user with password and one-time code, for the business routes."""
        result: types.Token = self.request(
            "POST",
            "/v1/public/auth/verify-otp",
            types.Token,
            body=body,
            auth="public",
            repeat="never",
        )
        return result

    def list_associations(self, *, limit: int | None = None, cursor: str | None = None) -> list[types.Association]:
        """List the application's association. Requires the scope `associations:read`."""
        result: list[types.Association] = self.request(
            "GET",
            "/v1/business/association/all",
            list[types.Association],
            query={"limit": limit, "cursor": cursor},
            envelope=True,
        )
        return result

    def get_association(self, id: str) -> types.Association:
        """Read the application's association. Requires the scope `associations:read`."""
        result: types.Association = self.request(
            "GET",
            f"/v1/business/association/{escape(id)}",
            types.Association,
            envelope=True,
        )
        return result

    def list_quotas(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.QuotaList, types.Quota]:
        """List the association's quotas and their usage. Requires the scope `associations:read`."""
        return Pages[types.QuotaList, types.Quota](
            self,
            types.QuotaList,
            "/v1/quotas",
            {"limit": limit, "cursor": cursor},
            "token",
        )

    def list_assets(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.AssetList, types.Asset]:
        """List the registered assets. Requires the scope `wallets:read`."""
        return Pages[types.AssetList, types.Asset](
            self,
            types.AssetList,
            "/v1/assets",
            {"limit": limit, "cursor": cursor},
            "token",
        )

    def get_asset(self, asset_code: str) -> types.Asset:
        """Read an asset. Requires the scope `wallets:read`."""
        result: types.Asset = self.request("GET", f"/v1/assets/{escape(asset_code)}", types.Asset)
        return result

    def list_wallets(
        self,
        *,
        asset_code: str | None = None,
        network_name: str | None = None,
        status: types.WalletStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.WalletList, types.Wallet]:
        """List wallets with balances. Requires the scope `wallets:read`."""
        return Pages[types.WalletList, types.Wallet](
            self,
            types.WalletList,
            "/v1/wallets",
            {"assetCode": asset_code, "networkName": network_name, "status": status, "limit": limit, "cursor": cursor},
            "token",
        )

    def create_wallet(self, body: types.NewWallet) -> types.Wallet:
        """Create a wallet. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request("POST", "/v1/wallets", types.Wallet, body=body, repeat="never")
        return result

    def get_wallet(self, wallet_id: str) -> types.Wallet:
        """Read a wallet with its balances. Requires the scope `wallets:read`."""
        result: types.Wallet = self.request("GET", f"/v1/wallets/{escape(wallet_id)}", types.Wallet)
        return result

    def update_wallet(self, wallet_id: str, body: types.WalletUpdate) -> types.Wallet:
        """Change a wallet's name or metadata. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request("PUT", f"/v1/wallets/{escape(wallet_id)}", types.Wallet, body=body)
        return result

    def create_trustline(self, wallet_id: str, body: types.NewTrustline) -> types.Wallet:
        """Add an asset to a wallet. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request(
            "POST",
            f"/v1/wallets/{escape(wallet_id)}/trustlines",
            types.Wallet,
            body=body,
            repeat="never",
        )
        return result

    def list_beneficiaries(
        self,
        *,
        tag: str | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.BeneficiaryList, types.Beneficiary]:
        """List beneficiaries, with masked destinations. Requires the scope `beneficiaries:read`."""
        return Pages[types.BeneficiaryList, types.Beneficiary](
            self,
            types.BeneficiaryList,
            "/v1/beneficiaries",
            {"tag": tag, "q": q, "limit": limit, "cursor": cursor},
            "token",
        )

    def create_beneficiary(self, body: types.NewBeneficiary) -> types.Beneficiary:
        """Create a beneficiary. Requires the scope `beneficiaries:write`."""
        result: types.Beneficiary = self.request(
            "POST",
            "/v1/beneficiaries",
            types.Beneficiary,
            body=body,
            repeat="never",
        )
        return result

    def create_beneficiaries(self, body: types.NewBeneficiaries) -> types.BulkResult:
        """Create up to 500 beneficiaries independently of each other. Requires the scope `beneficiaries:write`."""
        result: types.BulkResult = self.request(
            "POST",
            "/v1/beneficiaries/bulk",
            types.BulkResult,
            body=body,
            repeat="never",
        )
        return result

    def get_beneficiary(self, beneficiary_id: str) -> types.Beneficiary:
        """Read a beneficiary. Requires the scope `beneficiaries:read`."""
        result: types.Beneficiary = self.request(
            "GET",
            f"/v1/beneficiaries/{escape(beneficiary_id)}",
            types.Beneficiary,
        )
        return result

    def update_beneficiary(self, beneficiary_id: str, body: types.BeneficiaryPatch) -> types.Beneficiary:
        """Change a beneficiary (JSON Merge Patch). Requires the scope `beneficiaries:write`."""
        result: types.Beneficiary = self.request(
            "PATCH",
            f"/v1/beneficiaries/{escape(beneficiary_id)}",
            types.Beneficiary,
            body=body,
            repeat="never",
        )
        return result

    def replace_beneficiary(self, beneficiary_id: str, body: types.NewBeneficiary) -> types.Beneficiary:
        """Replace a beneficiary: details, destinations, addresses and tags. Requires the scope
        `beneficiaries:write`.
        """
        result: types.Beneficiary = self.request(
            "PUT",
            f"/v1/beneficiaries/{escape(beneficiary_id)}",
            types.Beneficiary,
            body=body,
        )
        return result

    def delete_beneficiary(self, beneficiary_id: str) -> None:
        """Archive a beneficiary. Requires the scope `beneficiaries:write`."""
        self.request("DELETE", f"/v1/beneficiaries/{escape(beneficiary_id)}", None)

    def list_destinations(
        self,
        beneficiary_id: str,
        *,
        method: types.DestinationMethodIn | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.DestinationList, types.Destination]:
        """List a beneficiary's payment destinations, masked. Requires the scope `beneficiaries:read`."""
        return Pages[types.DestinationList, types.Destination](
            self,
            types.DestinationList,
            f"/v1/beneficiaries/{escape(beneficiary_id)}/payment-destinations",
            {"method": method, "limit": limit, "cursor": cursor},
            "token",
        )

    def create_destination(self, beneficiary_id: str, body: types.NewDestination) -> types.Destination:
        """Add a payment destination. Requires the scope `beneficiaries:write`."""
        result: types.Destination = self.request(
            "POST",
            f"/v1/beneficiaries/{escape(beneficiary_id)}/payment-destinations",
            types.Destination,
            body=body,
            repeat="never",
        )
        return result

    def get_destination(self, beneficiary_id: str, destination_id: str) -> types.Destination:
        """Read a payment destination. Requires the scope `beneficiaries:read`."""
        result: types.Destination = self.request(
            "GET",
            f"/v1/beneficiaries/{escape(beneficiary_id)}/payment-destinations/{escape(destination_id)}",
            types.Destination,
        )
        return result

    def delete_destination(self, beneficiary_id: str, destination_id: str) -> None:
        """Archive a payment destination. Requires the scope `beneficiaries:write`."""
        self.request(
            "DELETE",
            f"/v1/beneficiaries/{escape(beneficiary_id)}/payment-destinations/{escape(destination_id)}",
            None,
        )

    def replace_destination(
        self,
        association_id: str,
        id: str,
        dest_id: str,
        body: types.NewDestination,
    ) -> types.Destination:
        """Replace a payment destination. Requires the scope `beneficiaries:write`."""
        result: types.Destination = self.request(
            "PUT",
            f"/v1/business/beneficiaries/{escape(association_id)}/{escape(id)}/payment-destinations/{escape(dest_id)}",
            types.Destination,
            body=body,
            envelope=True,
        )
        return result

    def list_connectors(
        self,
        *,
        country_iso_code2: str | None = None,
        direction: types.ConnectorDirection | None = None,
        method: types.PayMethodFilter | None = None,
        asset_code: str | None = None,
        flow: types.ConnectorFlow | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.ConnectorList, types.Connector]:
        """List connectors. Requires the scope `connectors:read`."""
        return Pages[types.ConnectorList, types.Connector](
            self,
            types.ConnectorList,
            "/v1/connectors",
            {"countryIsoCode2": country_iso_code2, "direction": direction, "method": method, "assetCode": asset_code, "flow": flow, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_connector(self, connector_id: str, *, transaction_type: str | None = None) -> types.ConnectorDetail:
        """Read a connector with its execution steps. Requires the scope `connectors:read`."""
        result: types.ConnectorDetail = self.request(
            "GET",
            f"/v1/connectors/{escape(connector_id)}",
            types.ConnectorDetail,
            query={"transactionType": transaction_type},
        )
        return result

    def list_connectors_for_beneficiary(
        self,
        beneficiary_id: str,
        method: types.PayMethodFilter,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.ConnectorList, types.Connector]:
        """List connectors that can pay a beneficiary by this method. Requires the scope `connectors:read`."""
        return Pages[types.ConnectorList, types.Connector](
            self,
            types.ConnectorList,
            f"/v1/connectors/beneficiary/{escape(beneficiary_id)}/{escape(method)}",
            {"limit": limit, "cursor": cursor},
            "token",
        )

    def create_quote(self, body: types.NewQuote, *, type: str | None = None) -> types.Quote:
        """Request a quote for an off-ramp or, with type=onramp, an on-ramp. Requires the scope `quotes:write`."""
        result: types.Quote = self.request(
            "POST",
            "/v1/quotes",
            types.Quote,
            query={"type": type},
            body=body,
            repeat="never",
        )
        return result

    def get_quote(self, quote_id: str) -> types.Quote:
        """Read a quote, including an expired one. Requires the scope `quotes:read`."""
        result: types.Quote = self.request("GET", f"/v1/quotes/{escape(quote_id)}", types.Quote)
        return result

    def sandbox_expire_quote(self, quote_id: str) -> types.Quote:
        """Expire an open quote. Requires the scope `quotes:write`."""
        result: types.Quote = self.request(
            "POST",
            f"/v1/sandbox/quotes/{escape(quote_id)}/expire",
            types.Quote,
            repeat="never",
        )
        return result

    def create_connect_quote(self, direction: types.QuoteDirection, body: types.NewConnectQuote) -> types.Quote:
        """Request a quote by the amount to send or to receive; responds with 402 on success. Requires the scope
        `connect:write`.
        """
        result: types.Quote = self.request(
            "POST",
            f"/v1/connect-quotes/{escape(direction)}",
            types.Quote,
            body=body,
            auth="connect",
            repeat="never",
            success=(402,),
        )
        return result

    def get_payment_enums(self, *, limit: int | None = None, cursor: str | None = None) -> types.PaymentEnums:
        """List the vocabularies. Requires the scope `payments:read`."""
        result: types.PaymentEnums = self.request(
            "GET",
            "/v1/payments/enums",
            types.PaymentEnums,
            query={"limit": limit, "cursor": cursor},
        )
        return result

    def get_payment_requirements(
        self,
        *,
        connector_id: str,
        transaction_type: str | None = None,
    ) -> types.PaymentRequirements:
        """List the fields that a connector requires. Requires the scope `payments:read`."""
        result: types.PaymentRequirements = self.request(
            "GET",
            "/v1/payments/requirements",
            types.PaymentRequirements,
            query={"connectorId": connector_id, "transactionType": transaction_type},
        )
        return result

    def get_connect_health(self) -> types.ConnectHealth:
        """Read the health of the platform. Requires the scope `connect:read`."""
        result: types.ConnectHealth = self.request(
            "GET",
            "/v1/connect-platform/health",
            types.ConnectHealth,
            auth="connect",
        )
        return result

    def list_connect_countries(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.ConnectCountryList, types.ConnectCountry]:
        """List countries with active connectors. Requires the scope `connect:read`."""
        return Pages[types.ConnectCountryList, types.ConnectCountry](
            self,
            types.ConnectCountryList,
            "/v1/connect-countries",
            {"limit": limit, "cursor": cursor},
            "connect",
        )

    def list_connect_assets(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.AssetList, types.Asset]:
        """List the registered assets. Requires the scope `connect:read`."""
        return Pages[types.AssetList, types.Asset](
            self,
            types.AssetList,
            "/v1/connect-assets",
            {"limit": limit, "cursor": cursor},
            "connect",
        )

    def pay_beneficiary(self, body: types.BeneficiaryTransfer) -> types.Acknowledgement:
        """Pay a beneficiary's CRYPTO destination in one asset. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/p2p/beneficiary",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_beneficiary_payment(self, body: types.BeneficiaryTransfer) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request(
            "POST",
            "/v1/payments/p2p/beneficiary/validate",
            types.Validation,
            body=body,
        )
        return result

    def swap_to_beneficiary(self, body: types.BeneficiarySwap) -> types.Acknowledgement:
        """Swap to a beneficiary (strict-send path payment). Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/swap/beneficiary",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_beneficiary_swap(self, body: types.BeneficiarySwap) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request(
            "POST",
            "/v1/payments/swap/beneficiary/validate",
            types.Validation,
            body=body,
        )
        return result

    def execute_offramp(self, body: types.Offramp) -> types.Acknowledgement:
        """Execute an off-ramp (payout) against a quote. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/offramp",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_offramp(self, body: types.Offramp) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request("POST", "/v1/payments/offramp/validate", types.Validation, body=body)
        return result

    def execute_onramp(self, body: types.Onramp) -> types.Acknowledgement:
        """Execute an on-ramp (collection) against a quote. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/onramp",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_onramp(self, body: types.Onramp) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request("POST", "/v1/payments/onramp/validate", types.Validation, body=body)
        return result

    def transfer_between_own_wallets(self, body: types.OwnTransfer) -> types.Acknowledgement:
        """Transfer one asset between own wallets. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/p2p/own",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_own_transfer(self, body: types.OwnTransfer) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request("POST", "/v1/payments/p2p/own/validate", types.Validation, body=body)
        return result

    def transfer_between_own_wallets_atomically(self, body: types.MultiTransfer) -> types.Acknowledgement:
        """Transfer between own wallets atomically: all transfers settle or none. Requires the scope
        `payments:write`.
        """
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/p2p/own/multi",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_own_multi_transfer(self, body: types.MultiTransfer) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request(
            "POST",
            "/v1/payments/p2p/own/multi/validate",
            types.Validation,
            body=body,
        )
        return result

    def swap_between_own_wallets(self, body: types.OwnSwap) -> types.Acknowledgement:
        """Swap between own wallets (strict send on the best market path). Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/payments/swap/own",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_own_swap(self, body: types.OwnSwap) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request("POST", "/v1/payments/swap/own/validate", types.Validation, body=body)
        return result

    def register_reference(self, body: types.NewReference) -> types.RegisteredReference:
        """Register a reference for a customer's payments. Requires the scope `references:write`."""
        result: types.RegisteredReference = self.request(
            "POST",
            "/v1/onramp/references",
            types.RegisteredReference,
            body=body,
            repeat="never",
        )
        return result

    def list_references(
        self,
        *,
        connector_id: str | None = None,
        customer_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.ReferenceList, types.RegisteredReference]:
        """List registered references, newest first. Requires the scope `references:read`."""
        return Pages[types.ReferenceList, types.RegisteredReference](
            self,
            types.ReferenceList,
            "/v1/onramp/references",
            {"connectorId": connector_id, "customerId": customer_id, "limit": limit, "cursor": cursor},
            "token",
        )

    def execute_connect_onramp(self, body: types.Onramp) -> types.Acknowledgement:
        """Execute an on-ramp against a quote, like POST /v1/payments/onramp. Requires the scope `connect:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            "/v1/connect-onramp",
            types.Acknowledgement,
            body=body,
            auth="connect",
            repeat="transaction",
        )
        return result

    def validate_connect_onramp(self, body: types.Onramp) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `connect:write`."""
        result: types.Validation = self.request(
            "POST",
            "/v1/connect-onramp/validate",
            types.Validation,
            body=body,
            auth="connect",
        )
        return result

    def execute_connect_cash_in(self, body: types.CashIn) -> types.CashInResult:
        """Request an on-ramp quote and execute it in one request. Requires the scope `connect:write`."""
        result: types.CashInResult = self.request(
            "POST",
            "/v1/connect-cashin",
            types.CashInResult,
            body=body,
            auth="connect",
            repeat="transaction",
        )
        return result

    def list_transactions(
        self,
        *,
        status: types.TransactionStatus | None = None,
        type: types.TransactionType | None = None,
        wallet_id: str | None = None,
        asset_code: str | None = None,
        beneficiary_id: str | None = None,
        connector_id: str | None = None,
        transaction_id: str | None = None,
        reference: str | None = None,
        metadata: Mapping[str, str] | None = None,
        created_from: types.DateOrTime | None = None,
        created_to: types.DateOrTime | None = None,
        updated_from: types.DateOrTime | None = None,
        sort: types.TransactionSort | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.TransactionList, types.Transaction]:
        """List transaction records, newest first. Requires the scope `transactions:read`."""
        return Pages[types.TransactionList, types.Transaction](
            self,
            types.TransactionList,
            "/v1/transactions",
            {"status": status, "type": type, "walletId": wallet_id, "assetCode": asset_code, "beneficiaryId": beneficiary_id, "connectorId": connector_id, "transactionId": transaction_id, "reference": reference, "metadata": metadata, "createdFrom": created_from, "createdTo": created_to, "updatedFrom": updated_from, "sort": sort, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_transaction(self, transaction_id: str) -> types.Transaction:
        """Read a transaction record by its record ID. Requires the scope `transactions:read`."""
        result: types.Transaction = self.request(
            "GET",
            f"/v1/transactions/{escape(transaction_id)}",
            types.Transaction,
        )
        return result

    def get_statement(
        self,
        *,
        wallet_id: str,
        asset_code: str,
        start_date: types.DateOrTime,
        end_date: types.DateOrTime,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.Statement, types.StatementLine]:
        """List the statement lines of a wallet in one asset, oldest first. Requires the scope `statements:read`."""
        return Pages[types.Statement, types.StatementLine](
            self,
            types.Statement,
            "/v1/statements/transactions",
            {"walletId": wallet_id, "assetCode": asset_code, "startDate": start_date, "endDate": end_date, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_statement_csv(
        self,
        *,
        wallet_id: str,
        asset_code: str,
        start_date: types.DateOrTime,
        end_date: types.DateOrTime,
    ) -> str:
        """Export the whole range of a statement as CSV. Requires the scope `statements:read`."""
        result: str = self.request(
            "GET",
            "/v1/statements/transactions/csv",
            str,
            query={"walletId": wallet_id, "assetCode": asset_code, "startDate": start_date, "endDate": end_date},
            text=True,
        )
        return result

    def get_statement_ndjson(
        self,
        *,
        wallet_id: str,
        asset_code: str,
        start_date: types.DateOrTime,
        end_date: types.DateOrTime,
    ) -> str:
        """Export the whole range of a statement as one JSON object per line. Requires the scope `statements:read`."""
        result: str = self.request(
            "GET",
            "/v1/statements/transactions/ndjson",
            str,
            query={"walletId": wallet_id, "assetCode": asset_code, "startDate": start_date, "endDate": end_date},
            text=True,
        )
        return result

    def get_statement_camt053(
        self,
        *,
        wallet_id: str,
        asset_code: str,
        start_date: types.DateOrTime,
        end_date: types.DateOrTime,
    ) -> str:
        """Export the whole range of a statement as ISO 20022 camt.053.001.08. Requires the scope
        `statements:read`.
        """
        result: str = self.request(
            "GET",
            "/v1/statements/transactions/camt.053",
            str,
            query={"walletId": wallet_id, "assetCode": asset_code, "startDate": start_date, "endDate": end_date},
            text=True,
        )
        return result

    def create_webhook(self, body: types.NewWebhook) -> types.WebhookWithSecret:
        """Register a webhook. Requires the scope `webhooks:write`."""
        result: types.WebhookWithSecret = self.request(
            "POST",
            "/v1/webhooks",
            types.WebhookWithSecret,
            body=body,
            repeat="never",
        )
        return result

    def list_webhooks(
        self,
        *,
        status: types.WebhookStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.WebhookList, types.Webhook]:
        """List webhooks, newest first. Requires the scope `webhooks:read`."""
        return Pages[types.WebhookList, types.Webhook](
            self,
            types.WebhookList,
            "/v1/webhooks",
            {"status": status, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_webhook(self, webhook_id: str) -> types.Webhook:
        """Read a webhook. Requires the scope `webhooks:read`."""
        result: types.Webhook = self.request("GET", f"/v1/webhooks/{escape(webhook_id)}", types.Webhook)
        return result

    def update_webhook(self, webhook_id: str, body: types.WebhookUpdate) -> types.Webhook:
        """Change a webhook's URL, description or event types. Requires the scope `webhooks:write`."""
        result: types.Webhook = self.request(
            "PATCH",
            f"/v1/webhooks/{escape(webhook_id)}",
            types.Webhook,
            body=body,
            repeat="never",
        )
        return result

    def deactivate_webhook(self, webhook_id: str) -> types.Webhook:
        """Disable a webhook permanently. Requires the scope `webhooks:write`."""
        result: types.Webhook = self.request("DELETE", f"/v1/webhooks/{escape(webhook_id)}", types.Webhook)
        return result

    def rotate_webhook_secret(
        self,
        webhook_id: str,
        body: types.SecretRotation | None = None,
    ) -> types.WebhookWithSecret:
        """Rotate the signing secret of a webhook. Requires the scope `webhooks:write`."""
        result: types.WebhookWithSecret = self.request(
            "POST",
            f"/v1/webhooks/{escape(webhook_id)}/rotate-secret",
            types.WebhookWithSecret,
            body=body,
            repeat="never",
        )
        return result

    def test_webhook(self, webhook_id: str) -> types.TestEvent:
        """Send a test event to a webhook. Requires the scope `webhooks:write`."""
        result: types.TestEvent = self.request(
            "POST",
            f"/v1/webhooks/{escape(webhook_id)}/test",
            types.TestEvent,
            repeat="never",
        )
        return result

    def list_application_webhooks(
        self,
        id: str,
        *,
        status: types.WebhookStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.WebhookList, types.Webhook]:
        """List an application's webhooks. Requires the scope `webhooks:read`."""
        return Pages[types.WebhookList, types.Webhook](
            self,
            types.WebhookList,
            f"/v1/application/{escape(id)}/webhook",
            {"status": status, "limit": limit, "cursor": cursor},
            "token",
        )

    def add_application_webhook(self, id: str, body: types.NewApplicationWebhook) -> types.WebhookWithSecret:
        """Add a webhook, by default for all payment events. Requires the scope `webhooks:write`."""
        result: types.WebhookWithSecret = self.request(
            "POST",
            f"/v1/application/{escape(id)}/webhook",
            types.WebhookWithSecret,
            body=body,
            repeat="never",
        )
        return result

    def update_application_webhook(self, id: str, webhook_id: str, body: types.WebhookUpdate) -> types.Webhook:
        """Change a webhook. Requires the scope `webhooks:write`."""
        result: types.Webhook = self.request(
            "PATCH",
            f"/v1/application/{escape(id)}/webhook/{escape(webhook_id)}",
            types.Webhook,
            body=body,
            repeat="never",
        )
        return result

    def remove_application_webhook(self, id: str, webhook_id: str) -> None:
        """Remove a webhook permanently. Requires the scope `webhooks:write`."""
        self.request("DELETE", f"/v1/application/{escape(id)}/webhook/{escape(webhook_id)}", None)

    def rotate_application_webhook_secret(
        self,
        id: str,
        webhook_id: str,
        body: types.SecretRotation | None = None,
    ) -> types.WebhookWithSecret:
        """Rotate the signing secret of a webhook. Requires the scope `webhooks:write`."""
        result: types.WebhookWithSecret = self.request(
            "POST",
            f"/v1/application/{escape(id)}/webhook/{escape(webhook_id)}/rotate-secret",
            types.WebhookWithSecret,
            body=body,
            repeat="never",
        )
        return result

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        status: types.DeliveryStatus | None = None,
        event_type: types.EventType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.DeliveryList, types.Delivery]:
        """List the deliveries of a webhook, newest event first. Requires the scope `webhooks:read`."""
        return Pages[types.DeliveryList, types.Delivery](
            self,
            types.DeliveryList,
            f"/v1/webhooks/{escape(webhook_id)}/deliveries",
            {"status": status, "eventType": event_type, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_delivery(self, webhook_id: str, delivery_id: str) -> types.DeliveryDetail:
        """Read a delivery with its body and attempts. Requires the scope `webhooks:read`."""
        result: types.DeliveryDetail = self.request(
            "GET",
            f"/v1/webhooks/{escape(webhook_id)}/deliveries/{escape(delivery_id)}",
            types.DeliveryDetail,
        )
        return result

    def resend_delivery(self, webhook_id: str, delivery_id: str) -> types.Delivery:
        """Redeliver an event, with the same ID and bytes. Requires the scope `webhooks:write`."""
        result: types.Delivery = self.request(
            "POST",
            f"/v1/webhooks/{escape(webhook_id)}/deliveries/{escape(delivery_id)}/resend",
            types.Delivery,
            repeat="never",
        )
        return result

    def recover_deliveries(self, webhook_id: str, body: types.NewRecovery) -> types.Recovery:
        """Deliver all events of a period that the endpoint did not receive. Requires the scope `webhooks:write`."""
        result: types.Recovery = self.request(
            "POST",
            f"/v1/webhooks/{escape(webhook_id)}/recover",
            types.Recovery,
            body=body,
            repeat="never",
        )
        return result

    def list_events(
        self,
        *,
        after_sequence: int | None = None,
        type: types.EventType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[types.EventList, types.Event]:
        """List events, oldest first, as delivered to webhooks. Requires the scope `webhooks:read`."""
        return Pages[types.EventList, types.Event](
            self,
            types.EventList,
            "/v1/events",
            {"afterSequence": after_sequence, "type": type, "limit": limit, "cursor": cursor},
            "token",
        )

    def get_event(self, event_id: str) -> types.Event:
        """Read an event. Requires the scope `webhooks:read`."""
        result: types.Event = self.request("GET", f"/v1/events/{escape(event_id)}", types.Event)
        return result

    def sandbox_trigger_event(self, type: types.EventType) -> types.TestEvent:
        """Send a sample event to the webhook registered for its type. Requires the scope `webhooks:write`."""
        result: types.TestEvent = self.request(
            "POST",
            f"/v1/sandbox/events/{escape(type)}/trigger",
            types.TestEvent,
            repeat="never",
        )
        return result

    def sandbox_verify_wallet(self, wallet_id: str) -> types.Wallet:
        """Approve a pending wallet. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request(
            "POST",
            f"/v1/sandbox/wallets/{escape(wallet_id)}/verify",
            types.Wallet,
            repeat="never",
        )
        return result

    def sandbox_reject_wallet(self, wallet_id: str, body: types.WalletRejection | None = None) -> types.Wallet:
        """Reject a pending wallet. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request(
            "POST",
            f"/v1/sandbox/wallets/{escape(wallet_id)}/reject",
            types.Wallet,
            body=body,
            repeat="never",
        )
        return result

    def sandbox_succeed_transaction(self, transaction_id: str) -> types.Transaction:
        """Simulate a successful result from the provider. Requires the scope `payments:write`."""
        result: types.Transaction = self.request(
            "POST",
            f"/v1/sandbox/transactions/{escape(transaction_id)}/succeed",
            types.Transaction,
            repeat="never",
        )
        return result

    def sandbox_fail_transaction(
        self,
        transaction_id: str,
        *,
        code: types.FailureCode | None = None,
    ) -> types.Transaction:
        """Simulate a failed result from the provider. Requires the scope `payments:write`."""
        result: types.Transaction = self.request(
            "POST",
            f"/v1/sandbox/transactions/{escape(transaction_id)}/fail",
            types.Transaction,
            query={"code": code},
            repeat="never",
        )
        return result

    def sandbox_pay_reference(self, reference: str, body: types.ReferencePayment) -> types.Acknowledgement:
        """Simulate a customer payment on a reference. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            f"/v1/sandbox/references/{escape(reference)}/pay",
            types.Acknowledgement,
            body=body,
            repeat="never",
        )
        return result

    def sandbox_fund_wallet(self, wallet_id: str, body: types.WalletFunding) -> types.Wallet:
        """Credit a wallet. Requires the scope `wallets:write`."""
        result: types.Wallet = self.request(
            "POST",
            f"/v1/sandbox/wallets/{escape(wallet_id)}/fund",
            types.Wallet,
            body=body,
            repeat="never",
        )
        return result

    def get_open_api(self) -> Any:
        """OpenAPI document."""
        result: Any = self.request("GET", "/v1/openapi.json", Any, auth="public")
        return result

    def reverse_payment(self, transaction_record_id: str, body: types.Reversal) -> types.Acknowledgement:
        """Give back a payment that has succeeded, in whole or in part. Requires the scope `payments:write`."""
        result: types.Acknowledgement = self.request(
            "POST",
            f"/v1/payments/{escape(transaction_record_id)}/reversals",
            types.Acknowledgement,
            body=body,
            repeat="transaction",
        )
        return result

    def validate_reversal(self, transaction_record_id: str, body: types.Reversal) -> types.Validation:
        """Validate this payment without storing it. Requires the scope `payments:write`."""
        result: types.Validation = self.request(
            "POST",
            f"/v1/payments/{escape(transaction_record_id)}/reversals/validate",
            types.Validation,
            body=body,
        )
        return result
