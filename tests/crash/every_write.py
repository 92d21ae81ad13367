"""One valid request for every route of a running demo that writes. The routes come from the server's OpenAPI
document; a route that is missing here fails the test."""

import base64
import hashlib
import hmac
import struct
import time
import urllib.parse

from harness.calls import Connection
from harness.report import fail

WRITES = ("post", "put", "patch", "delete")
# Operations that are not tested, and why.
NOT_TRIED = {
    "createToken": "stores nothing",
    "createOAuthToken": "stores nothing",
    "submitChallenge": "needs a signature of the client's ledger key",
    "takeProviderCallback": "needs a provider, whose signature is verified first",
    "sandboxSucceedTransaction": "needs a payment that waits at a provider",
    "sandboxFailTransaction": "needs a payment that waits at a provider",
}
# Operations that remove objects which others need.
LAST = ("deleteDestination", "deleteBeneficiary", "sandboxExpireQuote", "deactivateWebhook",
        "removeApplicationWebhook")
PHONE = {"method": "MOMO", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
         "mobileMoney": {"provider": "M-Pesa", "phoneNumber": "+254712345678"}}
PERSON = {"individual": {"firstName": "Amina", "lastName": "Otieno"}, "paymentDestinations": [PHONE]}
REVIEWED = {"entityType": "Person", "firstName": "Ada", "lastName": "Obi", "dateOfBirth": "1990-01-31",
            "nationality": "NG"}
PAYER = {"name": "Wanjiku Kamau", "accountNumber": "0123456789", "phone": "+254712345678"}
RESTED = {"url": "http://127.0.0.1:9/moved"}


def one_time_code(secret, at):
    """RFC 6238: SHA-1, six digits, 30 s."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(at) // 30), hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start:start + 4])[0] & 0x7fffffff) % 10**6:06}"


class EveryWrite:
    """Creates everything that the requests refer to, so that only the store can reject them."""

    def __init__(self, gateway):
        self.gateway, self.facts = gateway, gateway.facts
        self.connection = gateway.login()
        self.routes = {operation["operationId"]: (method.upper(), path)
                       for path, methods in self.ask("GET", "/v1/openapi.json")["paths"].items()
                       for method, operation in methods.items()
                       if method in WRITES and not path.endswith("/validate")}  # those store nothing
        self.logins()
        self.names = self.make_names()
        self.bodies = self.make_bodies()
        unknown = set(self.routes) - set(self.bodies) - set(NOT_TRIED)
        if unknown:
            fail(f"no request for {', '.join(sorted(unknown))}")

    def ask(self, method, path, body=None):
        status, answer = self.connection.call(method, path, body)
        if status // 100 != 2:
            fail(f"{method} {path}: {status} {answer}")
        return answer

    def with_headers(self, key, token):
        connection = Connection(self.gateway.host, self.gateway.port)
        connection.headers["x-svc-auth"] = key
        connection.headers["Authorization"] = "Bearer " + token
        return connection

    def logins(self):
        """Signs in with the ledger key and as a user, for routes that need their tokens."""
        session = self.ask("POST", "/v1/public/auth-connect/sign-in", {
            "publicKey": self.facts["publicKey"], "secret": self.facts["signInSecret"]})
        self.refresh_token = session["refreshToken"]
        self.connect = self.with_headers(self.facts["connectSecret"], session["idToken"])
        self.user = self.gateway.command("user", "add", "operator", "--association", self.facts["associationId"])
        login = self.ask("POST", "/v1/public/auth/verify-otp", self.otp_login(time.time()))
        token = login.get("accessToken") or login.get("idToken") or login["token"]
        self.person = self.with_headers(self.facts["apiKey"], token)

    def otp_login(self, at):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.user["otpauthUri"]).query)
        return {"username": self.user["username"], "password": self.user["password"],
                "otp": one_time_code(query["secret"][0], at)}

    def connector(self, direction, method, flow="QUOTED"):
        return next(row["id"] for row in self.facts["connectors"] if row["direction"] == direction
                    and row["method"] == method and row["flow"] == flow and row["assetCode"] == "USDC")

    def webhook(self, event_type):
        body = {"url": "http://127.0.0.1:9/hooks", "eventTypes": [event_type]}
        return self.ask("POST", "/v1/webhooks", body)["id"]

    def make_names(self):
        names = {"walletId": self.gateway.wallet("Treasury"), "associationId": self.facts["associationId"],
                 "direction": "send", "type": "payment.succeeded", "id": self.facts["applicationId"]}
        self.recipient, self.spare = (self.ask("POST", "/v1/beneficiaries", PERSON)["id"] for _ in range(2))
        made = self.ask("POST", "/v1/beneficiaries", PERSON)
        names["beneficiaryId"], names["destinationId"] = made["id"], made["paymentDestinations"][0]["id"]
        names["destId"] = names["destinationId"]
        names["webhookId"] = self.webhook("payment.refunded")
        names["deliveryId"] = self.ask("POST", f"/v1/webhooks/{names['webhookId']}/test")["eventId"]
        # At most a second, until the webhook's delivery is queued.
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and not self.ask(
                "GET", f"/v1/webhooks/{names['webhookId']}/deliveries?limit=1")["data"]:
            time.sleep(0.02)
        self.application_webhook = self.ask("POST", f"/v1/application/{names['id']}/webhook", {
            "url": "http://127.0.0.1:9/hooks", "method": "POST",
            "eventTypes": ["payment.refund_failed"]})
        self.payout = self.connector("OFF_RAMP", "MOMO")
        self.collection = self.connector("ON_RAMP", "MOMO")
        names["quoteId"] = self.quote(self.payout, beneficiaryId=names["beneficiaryId"])
        self.new_wallet = self.ask("POST", "/v1/wallets", {
            "walletName": "Bare", "assetCode": "EURC", "ownAccount": True})["id"]
        self.waiting = [self.ask("POST", "/v1/wallets", {
            "walletName": "Waits", "assetCode": "USDC", "ownAccount": False, "metadata": REVIEWED})["id"]
            for _ in range(2)]
        registered = self.ask("POST", "/v1/onramp/references", self.registration("first"))
        names["reference"] = registered["reference"]
        names["transactionRecordId"] = self.settled_transfer()
        return names

    def settled_transfer(self):
        body = {"transactionId": "reversible", "sourceWalletId": self.gateway.wallet("Treasury"),
                "destinationWalletId": self.gateway.wallet("Operations"), "sendingAssetCode": "USDC",
                "amount": "100"}
        self.sent = {"reversible": body}
        record = self.ask("POST", "/v1/payments/p2p/own", body)["transactionRecordId"]
        self.acked = {"reversible": record}
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and self.ask(
                "GET", f"/v1/transactions/{record}")["status"] != "succeeded":
            time.sleep(0.02)
        return record

    def quote(self, connector, **more):
        return self.ask("POST", "/v1/quotes", {"amount": "10", "connectorId": connector, **more})["quoteId"]

    def collection_quote(self):
        body = {"amount": "1000", "connectorId": self.collection}
        return self.ask("POST", "/v1/quotes?type=onramp", body)["quoteId"]

    def registration(self, customer):
        account = next(row["publicKey"] for row in self.facts["wallets"] if row["name"] == "Treasury")
        return {"connectorId": self.connector("ON_RAMP", "BANK", "BESPOKE"), "settlementAccount": account,
                "customerId": customer}

    def make_bodies(self):
        first, second = self.gateway.wallet("Treasury"), self.gateway.wallet("Operations")
        partner = next(row for row in self.facts["beneficiaries"] if row["name"] == "Ledger Partner Ltd")
        details = self.ask("GET", "/v1/beneficiaries/" + partner["id"])["paymentDestinations"]
        address = {row["crypto"]["assetSymbol"]: row["id"] for row in details}
        enums = self.ask("GET", "/v1/payments/enums")
        enums = enums.get("data", enums)

        def code(name):
            value = enums[name][0]
            return value["code"] if isinstance(value, dict) else value
        value = {"sourceWalletId": first, "sendingAssetCode": "USDC", "amount": "1"}
        leg, away = {**value, "destinationWalletId": second}, {**value, "beneficiaryId": partner["id"]}
        onramp = {"destinationWalletId": first, "payer": PAYER}
        webhook = {"url": "http://127.0.0.1:9/hooks"}
        return {
            "signIn": {"publicKey": self.facts["publicKey"], "secret": self.facts["signInSecret"]},
            "refreshSession": {"refreshToken": self.refresh_token},
            "verifyOtp": lambda: self.otp_login(time.time() + 30),
            "createWallet": {"walletName": "More", "assetCode": "USDC", "ownAccount": True},
            "updateWallet": {"walletName": "Renamed"},
            "createTrustline": {"assetCode": "USDC"},
            "createBeneficiary": PERSON,
            "createBeneficiaries": {"beneficiaries": [PERSON, PERSON]},
            "updateBeneficiary": {"tags": ["more"]},
            "replaceBeneficiary": PERSON,
            "deleteBeneficiary": None,
            "createDestination": PHONE,
            "deleteDestination": None,
            "replaceDestination": PHONE,
            "createQuote": {"amount": "10", "connectorId": self.payout, "transactionType": "B2C"},
            "sandboxExpireQuote": None,
            "createConnectQuote": {"amount": "10", "connectorId": self.payout, "transactionType": "B2C"},
            "payBeneficiary": {**away, "destinationId": address["USDC"]},
            "swapToBeneficiary": {**away, "destinationId": address["EURC"], "receivingAssetCode": "EURC"},
            "executeOfframp": {"sourceWalletId": first,
                               "beneficiaryId": self.recipient,
                               "purposeOfPayment": code("purposeOfPayment"),
                               "sourceOfFunds": code("sourceOfFunds"), "relationship": code("relationship")},
            "executeOnramp": onramp,
            "executeConnectOnramp": onramp,
            "executeConnectCashIn": {"connectorId": self.collection, "amount": "1000",
                                     "destinationWalletId": first, "payer": PAYER},
            "transferBetweenOwnWallets": leg,
            "transferBetweenOwnWalletsAtomically": {"transfers": [leg, leg]},
            "reversePayment": {"amount": "0.01", "reason": "Test"},
            "swapBetweenOwnWallets": {**leg, "receivingAssetCode": "EURC"},
            "registerReference": self.registration("second"),
            "createWebhook": {**webhook, "eventTypes": ["wallet.status_changed"]},
            "updateWebhook": RESTED,
            "deactivateWebhook": None,
            "rotateWebhookSecret": {},
            "testWebhook": None,
            "addApplicationWebhook": {**webhook, "method": "POST", "eventTypes": ["webhook.disabled"]},
            "updateApplicationWebhook": RESTED,
            "removeApplicationWebhook": None,
            "rotateApplicationWebhookSecret": {},
            "resendDelivery": None,
            "recoverDeliveries": {"from": "2025-12-31T00:00:00Z"},
            "sandboxTriggerEvent": None,
            "sandboxVerifyWallet": None,
            "sandboxRejectWallet": {"code": "sample", "message": "Sample."},
            "sandboxPayReference": {"amount": "1000", "providerPaymentId": "arrival"},
            "sandboxFundWallet": {"assetCode": "USDC", "amount": "1"},
        }

    def names_for(self, operation, path):
        names = dict(self.names)
        if operation in ("sandboxVerifyWallet", "sandboxRejectWallet"):
            names["walletId"] = self.waiting[operation == "sandboxRejectWallet"]
        if operation in ("replaceBeneficiary", "deleteBeneficiary"):
            names["beneficiaryId"] = self.spare
        if operation == "createTrustline":
            names["walletId"] = self.new_wallet
        if path.startswith("/v1/application/"):
            names["webhookId"] = self.application_webhook["id"]
        if operation == "replaceDestination":
            names["id"] = self.names["beneficiaryId"]
        return names

    def renew(self):
        """Creates new quotes, which last two minutes and pay for one payment. Call it while the disk has space."""
        self.quotes = {"executeOfframp": self.quote(self.payout, beneficiaryId=self.recipient),
                       "executeOnramp": self.collection_quote(),
                       "executeConnectOnramp": self.collection_quote()}

    def requests(self, prefix):
        """(operation, connection, method, path, body), a new transactionId in each payment. After renew()."""
        for operation in sorted(self.bodies, key=LAST.__contains__):
            method, path = self.routes[operation]
            body = self.bodies[operation]
            body = body() if callable(body) else body
            for name, value in self.names_for(operation, path).items():
                path = path.replace("{" + name + "}", value)
            if path.startswith(("/v1/payments", "/v1/connect-onramp", "/v1/connect-cashin")):
                body = {**body, "transactionId": f"{prefix}-{operation}"}
            if operation == "replaceDestination":  # the same content stores nothing
                body = {**body, "label": prefix}
            if operation in self.quotes:
                body["quoteId"] = self.quotes[operation]
            connection = (self.connect if path.startswith("/v1/connect-")
                          else self.person if operation == "replaceDestination" else self.connection)
            yield operation, connection, method, path, body
