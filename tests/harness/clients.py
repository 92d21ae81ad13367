"""Clients as integrators write them: each sends one payment at a time and retries it with the same
transactionId until it gets a response, whatever happens to the server meanwhile."""

import random
import threading
import time

from decimal import Decimal

OWN, MULTI, SWAP = "p2p/own", "p2p/own/multi", "swap/own"
# Statuses that ask a client to retry. Any other error is a fault of the server.
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
        # There and back: the second leg spends the proceeds of the first.
        back = {**single, "sourceWalletId": second, "destinationWalletId": first, "toRef": "back"}
        return MULTI, {"transactionId": transaction_id, "transfers": [single, back, single]}
    if number % 7 == 5:
        return SWAP, {**single, "transactionId": transaction_id, "receivingAssetCode": "EURC",
                      "destinationWalletId": gateway.wallet("Euro reserve")}
    return OWN, {**single, "transactionId": transaction_id, "fromRef": f"N-{number}"}


def group(gateway, transaction_id, number):
    """The number-th multi-transfer, with 2 to 16 legs in alternating directions. Later legs spend the proceeds
    of earlier ones, so a partially applied group does not add up."""
    pair = [gateway.wallet("Treasury"), gateway.wallet("Operations")]
    legs = [{"sourceWalletId": pair[leg % 2], "destinationWalletId": pair[1 - leg % 2],
             "sendingAssetCode": "USDC", "amount": f"{number % 89 + 2 + leg}.{leg:03}"}
            for leg in range(number, number + 2 + number % 15)]
    return MULTI, {"transactionId": transaction_id, "transfers": legs}


def value_in(gateway, asset="USDC"):
    """(balance, held) over all wallets of the caller, in units of 10^-7."""
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
    """Threads that run `work(number)`, each with its number, until they are stopped."""

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
    """Clients reconnect when `gateway` restarts. `make` builds their payments. When stopped, each client ends
    after the response to its current payment, or immediately if the server does not respond."""

    def __init__(self, gateway, count=8, prefix="c", seed=0, make=payment):
        super().__init__(count)
        self.gateway = gateway
        self.make = make
        self.prefix = prefix
        self.sent = {}      # transactionId -> body, recorded before the first byte is sent
        self.acked = {}     # transactionId -> record id, recorded after the complete 202
        self.waiting = {}   # sent, without a response yet: transactionId -> (route, body)
        self.surprises = []  # responses that no client should ever get
        self.repeats = 0
        self.random = random.Random(seed)

    def facts(self):
        return {"sent": self.sent, "acked": self.acked}

    def facts_now(self):
        """A copy of the facts while the clients continue."""
        with self.lock:
            return {key: dict(value) for key, value in self.facts().items()}

    def work(self, number):
        connection, count = None, 0
        while not self.gateway.facts and not self.stopping.is_set():
            time.sleep(0.02)  # the server has never been ready
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
            if connection and count % 10 == 0 and transaction_id in self.acked:
                self.send_again(connection, transaction_id, route, body)

    def connected(self, connection):
        if connection:
            return connection
        try:
            return self.gateway.login()
        except (ConnectionError, OSError, KeyError, TypeError, AttributeError):
            time.sleep(0.02)  # the server is down or starting
            return None

    def submit(self, connection, transaction_id, route, body):
        """Whether the payment was accepted. If not, the request must be repeated."""
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
        """Replays an accepted payment, which must return the same record."""
        try:
            status, answer = connection.call("POST", "/v1/payments/" + route, body)
        except ConnectionError:
            return
        if status in TRY_AGAIN:
            return  # load shedding: no statement about the record
        same = (status == 202 and answer["isIdempotent"]
                and answer["transactionRecordId"] == self.acked[transaction_id])
        if not same:
            with self.lock:
                self.surprises.append((transaction_id, status, answer))

    def replay_waiting(self):
        """Resends each payment that got no response; each must be accepted, as new or as a replay."""
        connection = self.gateway.login()
        for transaction_id, (route, body) in list(self.waiting.items()):
            if not self.submit(connection, transaction_id, route, body):
                raise RuntimeError(f"{transaction_id} still has no response: {self.surprises}")


def wait_until_settled(gateway, within_s=30.0):
    """Waits until no payment is in progress, by the public API, and returns the seconds. Raises after `within_s`."""
    began = time.monotonic()
    connection = gateway.login()
    # In the order of a payment's life: a payment never returns to an earlier status.
    for status in ("initiated", "processing", "refund_pending"):
        while True:
            code, answer = connection.call("GET", f"/v1/transactions?limit=1&status={status}")
            took = time.monotonic() - began
            if code == 200 and not answer["data"]:
                break
            if code not in (200, *TRY_AGAIN) or took > within_s:
                raise RuntimeError(f"not settled after {took:.1f} s: {code} {answer}")
            time.sleep(0.01)
    return took
