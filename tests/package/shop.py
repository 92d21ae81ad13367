"""A tenant of the installed service: made with the documented commands, paying over HTTP."""

import json
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
import gateway as crash_gateway  # noqa: E402


class Shop:
    """Two funded wallets, and clients that pay from one to the other."""

    def __init__(self, coffer, host="127.0.0.1", port=8080):
        """`coffer` runs a command inside and returns its JSON."""
        self.host, self.port = host, port
        association = coffer("association", "create", "Acme Ltd")["id"]
        self.keys = coffer("application", "register", "--name", "shop", "--association", association)
        coffer("asset", "add", "USDC", "--name", "US dollar")
        connection = self.login()
        self.wallets = []
        for name in ("Treasury", "Operations"):
            status, wallet = connection.call("POST", "/v1/wallets", {
                "walletName": name, "assetCode": "USDC", "ownAccount": True})
            assert status == 201, (status, wallet)
            self.wallets.append(wallet["id"])
            coffer("wallet", "fund", wallet["id"], "--asset", "USDC", "--amount", "100000")

    def login(self, keys=None):
        keys = keys or self.keys
        connection = crash_gateway.Connection(self.host, self.port)
        status, token = connection.call("POST", "/v1/auth/token", {
            "clientId": keys["clientId"], "clientSecret": keys["clientSecret"]})
        assert status == 200, (status, token)
        connection.headers["x-svc-auth"] = keys["apiKey"]
        connection.headers["Authorization"] = "Bearer " + token["accessToken"]
        return connection

    def pay(self, connection, transaction_id, amount="1.25"):
        """The record's id; every trouble raises."""
        status, answer = connection.call("POST", "/v1/payments/p2p/own", {
            "transactionId": transaction_id, "sendingAssetCode": "USDC", "amount": amount,
            "sourceWalletId": self.wallets[0], "destinationWalletId": self.wallets[1]})
        assert status == 202, (status, answer)
        return answer["transactionRecordId"]

    def status_of(self, connection, transaction_id):
        """None: there is no such payment. Waits where the limits of the application say so."""
        status = 429
        while status == 429:
            status, page = connection.call("GET", f"/v1/transactions?transactionId={transaction_id}")
            time.sleep(0.1 if status == 429 else 0)
        assert status == 200, (status, page)
        return page["data"][0]["status"] if page["data"] else None

    def balance(self, connection):
        status, wallet = connection.call("GET", "/v1/wallets/" + self.wallets[1])
        assert status == 200, (status, wallet)
        return wallet["balances"][0]["balance"]


class Crowd:
    """Clients that connect anew for every payment, and notice every connection that is not served. Slow
    enough for the limits of a sandbox application."""

    PAUSE_S = 0.2

    def __init__(self, shop, count=4):
        self.shop = shop
        self.paid, self.trouble, self.cut = [], [], 0
        self.stopping = threading.Event()
        # One login for all: a token outlives the server that gave it.
        self.headers = shop.login().headers
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        turn = 0
        while not self.stopping.is_set():
            turn += 1
            time.sleep(self.PAUSE_S)
            name = f"crowd-{number}-{turn}"
            for _ in range(3):
                connection = crash_gateway.Connection(self.shop.host, self.shop.port, timeout_s=30)
                connection.headers = self.headers
                try:
                    self.shop.pay(connection, name)
                    self.paid.append(name)
                    break
                except ConnectionError as error:
                    if "refused" in str(error):
                        self.trouble.append(f"{name}: {error}")
                    self.cut += 1  # sent and not answered: the client sends it again
                except AssertionError as error:
                    self.trouble.append(f"{name}: {error}")
                    break
                finally:
                    connection.http.close()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        return self


def as_json(done):
    """The JSON that a finished process printed."""
    assert done.returncode == 0, (done.args, done.returncode, done.stderr)
    return json.loads(done.stdout)
