"""Clients as integrators write them: each sends one payment after the other and repeats it under the
same transactionId until it has an answer, whatever happens to the server meanwhile."""

import random
import threading
import time

from decimal import Decimal

OWN, MULTI, SWAP = "p2p/own", "p2p/own/multi", "swap/own"
# What a client may be told while it waits: try again. Anything else is a fault of the server.
TRY_AGAIN = (429, 503)


def payment(gateway, transaction_id, number):
    """The number-th payment of a fixed mix: (route, body). Always the same for the same number."""
    first, second = gateway.wallet("Treasury"), gateway.wallet("Operations")
    if number % 2:
        first, second = second, first
    amount = f"{number % 97 + 1}.{number % 1000:03}"
    single = {"sourceWalletId": first, "destinationWalletId": second, "sendingAssetCode": "USDC",
              "amount": amount}
    if number % 7 == 3:
        # There and back: the second leg spends what the first brings.
        back = {**single, "sourceWalletId": second, "destinationWalletId": first, "toRef": "back"}
        return MULTI, {"transactionId": transaction_id, "transfers": [single, back, single]}
    if number % 7 == 5:
        return SWAP, {**single, "transactionId": transaction_id, "receivingAssetCode": "EURC",
                      "destinationWalletId": gateway.wallet("Euro reserve")}
    return OWN, {**single, "transactionId": transaction_id, "fromRef": f"N-{number}"}


def group(gateway, transaction_id, number):
    """The number-th multi-transfer, of 2 to 16 legs to and fro: a later leg spends what an earlier one
    brings, so a group that is applied in part cannot add up."""
    pair = [gateway.wallet("Treasury"), gateway.wallet("Operations")]
    legs = [{"sourceWalletId": pair[leg % 2], "destinationWalletId": pair[1 - leg % 2],
             "sendingAssetCode": "USDC", "amount": f"{number % 89 + 2 + leg}.{leg:03}"}
            for leg in range(number, number + 2 + number % 15)]
    return MULTI, {"transactionId": transaction_id, "transfers": legs}


def value_in(gateway, asset="USDC"):
    """(balance, held) over all wallets that are the caller's own, in units of 10^-7."""
    connection, sums = gateway.login(), [0, 0]
    for wallet in gateway.facts["wallets"]:
        status, answer = connection.call("GET", "/v1/wallets/" + wallet["id"])
        if status != 200:
            raise ConnectionError(f"wallet: {status} {answer}")
        for balance in answer["balances"]:
            if balance["assetCode"] == asset:
                sums[0] += int(Decimal(balance["balance"]) * 10**7)
                sums[1] += int(Decimal(balance["held"]) * 10**7)
    return tuple(sums)


class Crowd:
    """Threads that do the same until they are told to stop: `work(number)`, of each its own."""

    def __init__(self, count):
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True)
                        for number in range(count)]

    def work(self, number):
        raise NotImplementedError

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def stop(self):
        self.stopping.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join()

    def is_over(self):
        return not any(thread.is_alive() for thread in self.threads)


class Clients(Crowd):
    """`gateway` may be restarted at any time; clients notice and connect again. `make` is what they pay.
    Told to stop, each ends when its present payment is answered, or immediately if there is no response."""

    def __init__(self, gateway, count=8, prefix="c", seed=0, make=payment):
        super().__init__(count)
        self.gateway = gateway
        self.make = make
        self.prefix = prefix
        self.sent = {}      # transactionId -> body, noted before the first byte leaves
        self.acked = {}     # transactionId -> record id, noted when the whole 202 is there
        self.waiting = {}   # sent and not answered yet: transactionId -> (route, body)
        self.surprises = []  # answers that no client should ever get
        self.repeats = 0
        self.random = random.Random(seed)

    def facts(self):
        return {"sent": self.sent, "acked": self.acked}

    def facts_now(self):
        """A copy, while they go on."""
        with self.lock:
            return {key: dict(value) for key, value in self.facts().items()}

    def work(self, number):
        connection, count = None, 0
        while not self.gateway.facts and not self.stopping.is_set():
            time.sleep(0.02)  # it has not come up once yet
        while not self.stopping.is_set():
            count += 1
            transaction_id = f"{self.prefix}-{number}-{count}"
            route, body = self.make(self.gateway, transaction_id, number * 1000 + count)
            with self.lock:
                self.sent[transaction_id] = body
                self.waiting[transaction_id] = (route, body)
            while not self.stopping.is_set():
                connection = self.connected(connection)
                if connection and self.submit(connection, transaction_id, route, body):
                    break
                connection = None
            if connection and count % 10 == 0:
                self.send_again(connection, transaction_id, route, body)

    def connected(self, connection):
        if connection:
            return connection
        try:
            return self.gateway.login()
        except (ConnectionError, OSError, KeyError, TypeError, AttributeError):
            time.sleep(0.02)  # it is down, or just being started
            return None

    def submit(self, connection, transaction_id, route, body):
        """True with an answer; False when the result is unknown and the request must be repeated."""
        try:
            status, answer = connection.call("POST", "/v1/payments/" + route, body)
        except ConnectionError:
            return False
        with self.lock:
            if status == 202:
                self.acked[transaction_id] = answer["transactionRecordId"]
                self.repeats += bool(answer["isIdempotent"])
                del self.waiting[transaction_id]
                return True
            if status not in TRY_AGAIN:
                self.surprises.append((transaction_id, status, answer))
                self.stopping.set()
        time.sleep(0.05)
        return False

    def send_again(self, connection, transaction_id, route, body):
        """An answered payment once more: the same record, nothing new."""
        try:
            status, answer = connection.call("POST", "/v1/payments/" + route, body)
        except ConnectionError:
            return
        if status in TRY_AGAIN:
            return  # shed: says nothing about the record
        same = (status == 202 and answer["isIdempotent"]
                and answer["transactionRecordId"] == self.acked[transaction_id])
        if not same:
            with self.lock:
                self.surprises.append((transaction_id, status, answer))

    def replay_waiting(self):
        """Whatever was never answered, now: each must be accepted, first time or again."""
        connection = self.gateway.login()
        for transaction_id, (route, body) in list(self.waiting.items()):
            if not self.submit(connection, transaction_id, route, body):
                raise RuntimeError(f"{transaction_id} is still not answered: {self.surprises}")


def wait_until_settled(gateway, within_s=30.0):
    """Seconds until nothing is in progress, by the public API; raises when it takes too long."""
    began = time.monotonic()
    connection = gateway.login()
    # In the order in which a payment passes them: what has left one does not come back to it.
    for status in ("initiated", "processing", "refund_pending"):
        while True:
            code, answer = connection.call("GET", f"/v1/transactions?limit=1&status={status}")
            took = time.monotonic() - began
            if code == 200 and not answer["data"]:
                break
            if code not in (200, *TRY_AGAIN) or took > within_s:
                raise RuntimeError(f"not settled {took:.1f} s after: {code} {answer}")
            time.sleep(0.01)
    return took
