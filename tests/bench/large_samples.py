"""One payment of every kind and final status, created by coffer itself for one application. large_replicas.py
multiplies them."""

import itertools
import sys
import time

PAYER = {"name": "Wanjiku Kamau", "phone": "+254712345678"}
# The last digits of an account number determine the result of a sandbox payout (docs/contract.md#sandbox).
OFFRAMP_ENDS = {"succeeded": "0123456789", "failed": "0123451101", "refunded": "0123451301",
                "refund_failed": "0123451303", "processing": "0123451201"}
ONRAMP_ENDS = {"succeeded": "0123456789", "failed": "0123451101", "processing": "0123451201"}


class Samples:
    """`made`: (transaction ID, status). The wallets `source` and `target` hold USDC, `euro` holds EURC."""

    def __init__(self, caller, facts, enums, elsewhere):
        self.caller, self.facts, self.elsewhere = caller, facts, elsewhere
        self.enums = {name: enums[name][0]["code"] for name in
                      ("purposeOfPayment", "sourceOfFunds", "relationship")}
        self.made = []
        self.source, self.target = (self.wallet(name, "USDC") for name in ("Sales", "Purchasing"))
        self.euro = self.wallet("Euro sales", "EURC")
        self.fund(self.source["id"], "1000000")

    def ask(self, method, path, body=None):
        status, answer = self.caller.call(method, path, body)
        if status // 100 != 2:
            sys.exit(f"large_file: {method} {path}: {status} {answer}")
        return answer

    def wallet(self, name, asset):
        return self.ask("POST", "/v1/wallets", {"walletName": name, "assetCode": asset, "ownAccount": True})

    def fund(self, wallet, amount):
        self.ask("POST", f"/v1/sandbox/wallets/{wallet}/fund", {"assetCode": "USDC", "amount": amount})

    def connector(self, direction, method, flow="QUOTED"):
        return next(row["id"] for row in self.facts["connectors"] if row["direction"] == direction
                    and row["method"] == method and row["flow"] == flow and row["assetCode"] == "USDC")

    def pay(self, route, status, body):
        transaction_id = f"sample-{len(self.made)}"
        self.ask("POST", "/v1/payments/" + route, {**body, "transactionId": transaction_id})
        self.made.append((transaction_id, status))

    def beneficiary(self, *destinations):
        made = self.ask("POST", "/v1/beneficiaries", {
            "individual": {"firstName": "Sample", "lastName": "Recipient"},
            "paymentDestinations": list(destinations)})
        return made["id"], [row["id"] for row in made["paymentDestinations"]]

    def address(self, asset, public_key):
        return {"method": "CRYPTO", "countryIsoCode2": "US", "currencyIsoCode3": "USD",
                "crypto": {"networkName": "stellar", "assetSymbol": asset, "walletAddress": public_key}}

    def transfers(self):
        value = {"sourceWalletId": self.source["id"], "sendingAssetCode": "USDC", "amount": "1.25"}
        leg = {**value, "destinationWalletId": self.target["id"]}
        back = {**leg, "sourceWalletId": self.target["id"], "destinationWalletId": self.source["id"]}
        for text in ({}, {"fromRef": "N-1", "toRef": "N-2"}, {"description": "Invoice 2026-17"}):
            self.pay("p2p/own", "succeeded", {**leg, **text})
        self.pay("p2p/own/multi", "succeeded", {"transfers": [leg, {**back, "toRef": "back"}, leg]})
        self.pay("swap/own", "succeeded", {
            **leg, "destinationWalletId": self.euro["id"], "receivingAssetCode": "EURC"})
        self.pay("swap/own", "failed", {
            **leg, "destinationWalletId": self.euro["id"], "receivingAssetCode": "EURC",
            "minReceivingAmount": "1000"})
        person, addresses = self.beneficiary(*(self.address(asset, self.elsewhere) for asset in ("USDC", "EURC")))
        away = {**value, "beneficiaryId": person}
        self.pay("p2p/beneficiary", "succeeded", {**away, "destinationId": addresses[0]})
        self.pay("swap/beneficiary", "succeeded", {
            **away, "destinationId": addresses[1], "receivingAssetCode": "EURC"})
        nowhere, [unknown] = self.beneficiary(self.address("USDC", self.facts["publicKey"]))
        self.pay("p2p/beneficiary", "failed", {**value, "beneficiaryId": nowhere, "destinationId": unknown})

    def payouts(self):
        connector = self.connector("OFF_RAMP", "BANK")
        for status, number in OFFRAMP_ENDS.items():
            person, _ = self.beneficiary({
                "method": "BANK", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                "bank": {"accountName": "Sample Recipient", "accountNumber": number, "bankName": "Sandbox Bank"}})
            quote = self.ask("POST", "/v1/quotes", {
                "amount": "1", "connectorId": connector, "beneficiaryId": person})["quoteId"]
            self.pay("offramp", status, {"quoteId": quote, "sourceWalletId": self.source["id"],
                                         "beneficiaryId": person, **self.enums})

    def collections(self):
        connector = self.connector("ON_RAMP", "MOMO")
        for status, number in ONRAMP_ENDS.items():
            quote = self.ask("POST", "/v1/quotes?type=onramp", {"amount": "1000", "connectorId": connector})
            self.pay("onramp", status, {"quoteId": quote["quoteId"], "destinationWalletId": self.source["id"],
                                        "payer": {**PAYER, "accountNumber": number}})
        reference = self.ask("POST", "/v1/onramp/references", {
            "connectorId": self.connector("ON_RAMP", "BANK", "BESPOKE"),
            "settlementAccount": self.source["publicKey"], "customerId": "customer-1"})["reference"]
        self.ask("POST", f"/v1/sandbox/references/{reference}/pay",
                 {"amount": "1000", "providerPaymentId": f"arrival-{reference}"})

    def make(self):
        for part in (self.transfers, self.payouts, self.collections):
            part()
        self.wait()
        return self

    def wait(self):
        deadline = time.monotonic() + 60
        wanted = itertools.chain(
            ((f"/v1/transactions?limit=1&transactionId={name}", status) for name, status in self.made),
            [("/v1/transactions?limit=1&status=succeeded&type=onramp_reference", "succeeded")])
        for path, status in wanted:
            while True:
                rows = self.ask("GET", path)["data"]
                if rows and rows[0]["status"] == status:
                    break
                if time.monotonic() > deadline:
                    sys.exit(f"large_file: {path} returns {rows}, expected {status}")
                time.sleep(0.05)
