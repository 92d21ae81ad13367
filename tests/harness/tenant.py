"""Tenants: an association with an application, its keys and its wallets."""

import sys
import time

from harness.clients import OWN


class Tenant:
    """One application at a server (harness/server.py), with its credentials and wallets."""

    def __init__(self, server, keys, wallets=(), name="tenant", environment="sandbox"):
        self.server, self.keys, self.wallets, self.name = server, keys, list(wallets), name
        self.environment = environment
        self.association = keys["associationId"]
        self.headers = {}  # of the last login; the token stays valid after a restart

    @classmethod
    def create(cls, server, name, environment="sandbox", wallets=("Treasury", "Operations")):
        """Creates an association with one application and wallets that hold USDC."""
        association = server.command("association", "create", name)["id"]
        keys = server.command("application", "register", "--name", name, "--association", association,
                              "--environment", environment)
        self = cls(server, {**keys, "associationId": association}, name=name, environment=environment)
        for wallet in wallets:
            self.wallets.append(self.make_wallet(wallet))
            self.fund(self.wallets[-1])
        return self

    @classmethod
    def of_demo(cls, demo):
        return cls(demo, demo.facts, [demo.wallet("Treasury"), demo.wallet("Operations")], "demo")

    def make_wallet(self, name):
        return self.ask("POST", "/v1/wallets", {"walletName": name, "assetCode": "USDC", "ownAccount": True})["id"]

    def fund(self, wallet, amount="900000"):
        """Credits a wallet: by the sandbox route, or in production by an operator's command."""
        if self.environment == "sandbox":
            self.ask("POST", f"/v1/sandbox/wallets/{wallet}/fund", {"assetCode": "USDC", "amount": amount})
            return
        # Without a separate transaction ID, the same reason would be a replay.
        self.server.command("wallet", "fund", wallet, "--asset", "USDC", "--amount", amount, "--transaction-id",
                            "fund-" + wallet, "--reason", "a test")

    def login(self, timeout_s=10.0):
        """A new connection with a new token; ConnectionError while no server responds."""
        connection = self.server.connect(timeout_s).log_in(self.keys)
        self.headers = connection.headers
        return connection

    def connect(self, timeout_s=10.0):
        """A new connection with the last token."""
        if not self.headers:
            return self.login(timeout_s)
        connection = self.server.connect(timeout_s)
        connection.headers = dict(self.headers)
        return connection

    def call(self, method, path, body=None):
        return self.connect(30.0).call(method, path, body)

    def ask(self, method, path, body=None):
        """The body of a 2xx response. Any other status ends the test."""
        status, answer = self.call(method, path, body)
        if status // 100 != 2:
            sys.exit(f"{self.name}: {method} {path}: {status} {answer}")
        return answer

    def pages(self, path):
        return self.login().pages(path)

    def payment(self, transaction_id, amount="1.25"):
        """(route, body) of a payment from the first to the second wallet."""
        return "/v1/payments/" + OWN, {
            "transactionId": transaction_id, "sourceWalletId": self.wallets[0],
            "destinationWalletId": self.wallets[1], "sendingAssetCode": "USDC", "amount": amount}

    def when_allowed(self, connection, *request):
        """(status, body) of a request. Waits while the application is rate limited."""
        connection = connection or self.connect()
        while (response := connection.call(*request))[0] == 429:
            time.sleep(0.1)
        return response

    def pay(self, transaction_id, amount="1.25", connection=None):
        """Pays and returns the record ID. Waits while the application is rate limited. Raises AssertionError if
        the status is then not 202."""
        status, answer = self.when_allowed(connection, "POST", *self.payment(transaction_id, amount))
        assert status == 202, (status, answer)
        return answer["transactionRecordId"]

    def status_of(self, transaction_id, connection=None):
        """The payment's status, or None if it does not exist. Waits while the application is rate limited."""
        status, page = self.when_allowed(connection, "GET", f"/v1/transactions?transactionId={transaction_id}")
        assert status == 200, (status, page)
        return page["data"][0]["status"] if page["data"] else None

    def wait_settled(self, transaction_id, within_s=20.0, connection=None):
        """Waits until the payment has succeeded. Ends the test if it takes too long."""
        connection, end = connection or self.connect(), time.monotonic() + within_s
        while (status := self.status_of(transaction_id, connection)) != "succeeded":
            if time.monotonic() > end:
                sys.exit(f"{transaction_id} is {status} after {within_s:.0f} s")
            time.sleep(0.05)

    def balance(self, wallet):
        return self.ask("GET", "/v1/wallets/" + wallet)["balances"][0]["balance"]
