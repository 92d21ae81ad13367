"""The attacks of lanes.py by strangers, neighbours and slow machines. An attack is a function of the world and the
event that ends it, and returns counts by status."""

import base64
import collections
import itertools
import json
import socket
import struct
import subprocess
import threading
import time

from harness.provider import RATES, Simulator, add_connector
from lanes_clients import Hammer, Holder
from lanes_tls import client_hello
from lanes_world import BULK, beneficiary, pay


# --- Strangers -----------------------------------------------------------------------------------------------


def documents(world, stop):
    """Requests for the API document, its reference and a page of a problem."""
    paths = itertools.cycle(["/v1/openapi.json"] * 8 + ["/docs", "/problems/overloaded"])
    return Hammer(world, 24, lambda number: ("GET", next(paths), None, {}), per_s=150, fresh=True).until(stop)


# Twice the default rate limit of a production application, four times that of the sandbox.
POLLS_PER_S = 200


def get(path, headers=""):
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n".encode()


def unread_documents(world, stop):
    """200 connections that request 40 documents each and read nothing."""
    requests = 40 * get("/v1/openapi.json")
    return Holder(world, 200, lambda number: requests, read_per_s=32, receive_bytes=4096).until(stop)


def pipelined(world, stop):
    """2,000 connections from another address that request /livez 2,000 times each and read nothing."""
    requests = 2000 * get("/livez")
    return Holder(world, 2000, lambda number: requests, read_per_s=32, receive_bytes=4096,
                  source="127.0.0.2").until(stop)


def resets(world, stop):
    """Requests for documents on connections that are reset immediately."""
    counts = collections.Counter()

    def work():
        while not stop.is_set():
            try:
                connection = socket.create_connection(world.address, 5.0)
                connection.sendall(get("/v1/openapi.json"))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
                counts["reset"] += 1
            except OSError:
                counts["not connected"] += 1

    for _ in range(8):
        threading.Thread(target=work, daemon=True).start()
    stop.wait()
    return counts


def handshakes(world, stop):
    """Handshakes from another address that end after the server's part, the expensive one."""
    counts, hello = collections.Counter(), client_hello()

    def work():
        while not stop.is_set():
            try:
                connection = socket.create_connection(world.address, 5.0, ("127.0.0.2", 0))
                connection.sendall(hello)
                counts["begun" if connection.recv(1) else "closed"] += 1
                connection.close()
            except OSError:
                counts["no response"] += 1

    for _ in range(32):
        threading.Thread(target=work, daemon=True).start()
    stop.wait()
    return counts


def strangers(world, stop):
    """Documents, passwords, half bodies, idle and reset connections at the same time."""
    counts = {}
    works = (documents, passwords, bodies, unread_documents, resets)
    threads = [threading.Thread(target=lambda work=work: counts.update(
        {f"{work.__name__} {key}": value for key, value in work(world, stop).items()})) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def passwords(world, stop):
    """80 at a time, for an existing user and for unknown ones."""
    def call(number):
        name = world.user if number % 2 else f"user-{number}"
        return ("POST", "/v1/public/auth/verify-otp", {"username": name, "password": "wrong" * 4, "otp": "123456"},
                {"Content-Type": "application/json"})
    return Hammer(world, 80, call).until(stop)


def add_user(world):
    world.user = world.gateway.command("user", "add", "ann", "--association",
                                       world.neighbour.keys["associationId"])["username"]


def bodies(world, stop):
    """64 bodies of 1 MiB, sent by half, to an unknown path and to a real route, without login."""
    def opening(number):
        path = "/nothing/bulk" if number % 2 else "/v1/beneficiaries/bulk"
        return (f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                f"Content-Length: {1 << 20}\r\n\r\n").encode() + b" " * (1 << 19)
    return Holder(world, 64, opening).until(stop)


def half_bodies(world, stop):
    """2,000 bodies of 64 KiB, sent by half, to a real route, without login."""
    opening = (f"POST /v1/payments/p2p/own HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
               f"Content-Length: {1 << 16}\r\n\r\n").encode() + b" " * (1 << 15)
    return Holder(world, 2000, lambda number: opening).until(stop)


def idlers(world, stop):
    """The maximum number of connections: half were used once, half sent one byte."""
    return Holder(world, world.idle, lambda number: get("/livez") if number % 2 else b"G").until(stop)


def half_requests(world, stop):
    """The maximum number of connections, each with a partial request; at most 2,000 new ones a second, so that the
    table is never full of requests that have just begun."""
    return Holder(world, world.idle, lambda number: get("/livez")[:-1], per_s=2000).until(stop)


def junk_token(number):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    head = {"alg": "RS256", "typ": "JWT", "kid": f"key-{number}"}
    claims = {"iss": ISSUER, "aud": "coffer", "azp": "app", "exp": int(time.time()) + 600}
    return f"{part(head)}.{part(claims)}." + "A" * 342


ISSUER = "https://issuer.example"


def junk_bearers(world, stop):
    """Half of the requests have a valid API key."""
    def call(number):
        headers = {"Authorization": "Bearer " + junk_token(number)}
        headers["x-svc-auth"] = world.neighbour.headers["x-svc-auth"] if number % 2 else "ak_" + "0" * 64
        return "GET", "/v1/business/association/all", None, headers
    return Hammer(world, 80, call).until(stop)


class SilentServer:
    """Accepts connections and never sends a byte."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port, self.taken = self.listener.getsockname()[1], []
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            try:
                self.taken.append(self.listener.accept()[0])
            except OSError:
                return


# --- Neighbours ----------------------------------------------------------------------------------------------


def require_pattern(world):
    """A connector that requires a remark that matches a pattern on which some engines backtrack for hours."""
    connector = world.gateway.command("connector", "add", "Patterned", "--method", "MOMO", "--country", "KE",
                                      "--currency", "KES", "--asset", "USDC", "--rate", "129.5", "--min", "1",
                                      "--max", "1000")["id"]
    world.gateway.command("connector", "require", connector, "remark", "--pattern", "([A-Za-z]+ ?)+")
    world.connector = connector
    world.beneficiary = world.neighbour.ask("POST", "/v1/beneficiaries", {
        "individual": {"firstName": "Amina", "lastName": "Otieno"},
        "paymentDestinations": [{"method": "MOBILE_MONEY", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                                 "mobileMoney": {"provider": "M-PESA", "phoneNumber": "+254712345678"}}]})["id"]
    enums = world.neighbour.ask("GET", "/v1/payments/enums")
    world.codes = {name: enums[name][0]["code"] for name in ("purposeOfPayment", "sourceOfFunds", "relationship")}


def patterned(world, stop):
    """Off-ramps with a remark of 60 letters and an exclamation mark, which the pattern does not match."""
    counts, caller, numbers, lock = collections.Counter(), world.neighbour, itertools.count(1), threading.Lock()

    def work():
        while not stop.is_set():
            number = next(numbers)
            try:
                status, quote = caller.call("POST", "/v1/quotes", {
                    "amount": "10", "connectorId": world.connector, "beneficiaryId": world.beneficiary})
                if status == 201:
                    check = "/validate" if number % 2 else ""
                    status, _ = caller.call("POST", "/v1/payments/offramp" + check, {
                        "transactionId": f"pattern-{number}", "quoteId": quote["quoteId"],
                        "sourceWalletId": caller.wallets[0], "beneficiaryId": world.beneficiary,
                        "additionalFields": {"remark": "a" * 60 + "!"}, **world.codes})
            except ConnectionError:
                status = "no response"
            with lock:
                counts[status] += 1
            stop.wait(0.2)

    for _ in range(8):
        threading.Thread(target=work, daemon=True).start()
    stop.wait()
    return counts


def slow_exports(world, stop):
    """70 readers of the whole statement with one token; each reads a kilobyte per second."""
    head = "".join(f"{name}: {value}\r\n" for name, value in world.neighbour.headers.items())
    wallet = world.neighbour.wallets[0]
    request = get(f"/v1/statements/transactions/csv?walletId={wallet}&assetCode=USDC&startDate=2020-01-01"
                  "&endDate=2100-01-01", head)
    return Holder(world, 70, lambda number: request, read_per_s=1024).until(stop)


def start_provider(world):
    """A valid provider that takes nine seconds for each call."""
    provider = Simulator(world.gateway.binary)
    world.connector, secret = add_connector(world.gateway, "Slow", provider.url, "--timeout-ms", "10000")
    provider.configure(secret, "--faults", "late=1:9000", "--rates", RATES).start()
    world.helpers.append(provider.process)


def slow_quotes(world, stop):
    body = {"amount": "10", "connectorId": world.connector, "transactionType": "C2C"}
    return Hammer(world, 70, lambda number: ("POST", "/v1/quotes", body, world.neighbour.headers)).until(stop)


def lists(world, stop):
    """12 polls with time bounds and filters that match no payments, all payments, or a few."""
    wallet = world.neighbour.wallets[0]
    now = time.time()
    def at(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + seconds))
    queries = itertools.cycle([
        "createdTo=2020-01-01T00:00:00Z", f"walletId={wallet}&createdFrom={at(-1)}",
        f"walletId={wallet}&createdTo=2020-01-01T00:00:00Z", f"createdFrom={at(3600)}",
        f"updatedFrom={at(3600)}", "sort=updatedAt&createdTo=2020-01-01T00:00:00Z",
        f"walletId={wallet}&createdFrom=2020-01-01T00:00:00Z&createdTo=2020-01-02T00:00:00Z",
        "assetCode=EURC", f"walletId={wallet}&assetCode=EURC&createdTo={at(-30)}", "reference=NOTHING-1",
        "status=succeeded&type=swap_own", f"connectorId={world.neighbour.keys['connectors'][0]['id']}"])
    return Hammer(world, 12, lambda number: ("GET", "/v1/transactions?" + next(queries), None,
                                             world.neighbour.headers), POLLS_PER_S).until(stop)


def searches(world, stop):
    """16 searches: for text in no row, for text in all rows, and by tags."""
    queries = itertools.cycle(["q=zzzzzzzz", "q=e", "q=example.org&tag=group-7", "tag=no-such-tag", "q=family00",
                               "q=CR-000099", "q=person.1", "tag=group-3&q=zzz"])
    return Hammer(world, 16, lambda number: ("GET", "/v1/beneficiaries?limit=100&" + next(queries), None,
                                             world.neighbour.headers), POLLS_PER_S).until(stop)


def silence_names(world):
    """Makes the namespace's name server silent. One webhook has an address instead of a name."""
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind(("127.0.0.1", 53))
    world.kept.append(silent)
    world.webhook = world.neighbour.ask("POST", "/v1/webhooks", {
        "url": "http://93.184.216.34/", "eventTypes": ["payment.refund_failed"]})["id"]


def registrations(world, stop):
    """90 webhooks at a time, registered at or moved to names that never resolve."""
    def call(number):
        body = {"url": f"http://hook-{number}.example.test/"}
        if number % 2:
            return "PATCH", "/v1/webhooks/" + world.webhook, body, world.neighbour.headers
        return "POST", "/v1/webhooks", body | {"eventTypes": ["payment.refunded"]}, world.neighbour.headers
    return Hammer(world, 90, call).until(stop)


def large(number):
    """A beneficiary of 2 KB, for bulk requests of nearly 1 MiB."""
    address = {"line1": "x" * 200, "line2": "y" * 200, "city": "z" * 150, "countryIsoCode2": "KE"}
    return beneficiary(number) | {"addresses": 3 * [address]}


def keep_destinations(world):
    """A beneficiary whose destinations are replaced repeatedly; the old ones stay archived."""
    account = {"accountName": "n" * 150, "accountNumber": "0123456789", "bankName": "b" * 150}
    world.replaced = large(1) | {"paymentDestinations": 20 * [
        {"method": "BANK", "countryIsoCode2": "KE", "currencyIsoCode3": "KES", "label": "l" * 150, "bank": account}]}
    world.beneficiary = world.neighbour.ask("POST", "/v1/beneficiaries", world.replaced)["id"]


def fill_quota(world):
    """Fills the quota of beneficiaries, so that the attack reaches it on a slow machine, too."""
    keep_destinations(world)
    for first in range(0, 4 * BULK, BULK):
        rows = [large(-1 - number) for number in range(first, first + BULK)]
        world.neighbour.ask("POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows})


def fat_rows(world, stop):
    """Creates and replaces large rows, as many as the rate limit allows."""
    def call(number):
        headers = world.neighbour.headers
        if number % 2:
            return "PUT", "/v1/beneficiaries/" + world.beneficiary, world.replaced, headers
        rows = [large(number * BULK + row) for row in range(BULK)]
        return "POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows}, headers
    return Hammer(world, 12, call).until(stop)


def verifications(world, stop):
    """Repeated verifications of the whole file, one at a time."""
    counts = collections.Counter()
    while not stop.is_set():
        done = subprocess.Popen([world.gateway.binary, "verify", "--db", world.gateway.db], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        while done.poll() is None and not stop.wait(0.05):
            pass
        if done.poll() is None:
            done.terminate()
            counts["still running"] += 1
        else:
            counts[f"exited with {done.returncode}"] += 1
    return counts


def backups(world, stop):
    """Repeated backups, one at a time."""
    counts = collections.Counter()
    while not stop.is_set():
        file = f"{world.folder}/copy-{counts['exited with 0']}.db"
        done = subprocess.Popen([world.gateway.binary, "backup", file, "--verify", "--db", world.gateway.db],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while done.poll() is None and not stop.wait(0.05):
            pass
        if done.poll() is None:
            done.terminate()
            counts["still running"] += 1
        else:
            counts[f"exited with {done.returncode}"] += 1
            subprocess.run(["rm", "-f", file, file + ".sha256"], check=False)
    return counts


def overlapping(world, stop):
    """Four concurrent readers: exports of the whole statement, and lists with wide filters."""
    export = f"walletId={world.neighbour.wallets[0]}&assetCode=USDC&startDate=2020-01-01&endDate=2100-01-01"
    paths = itertools.cycle([
        "/v1/statements/transactions/ndjson?" + export,
        "/v1/transactions?createdTo=2020-01-01T00:00:00Z", "/v1/transactions?reference=NOTHING-1"])
    return Hammer(world, 4, lambda number: ("GET", next(paths), None, world.neighbour.headers)).until(stop)


# --- Beside the attacks ---------------------------------------------------------------------------------------


def full_load(world, stop):
    """The neighbour pays as fast as it gets responses, from before the quiet phase to the end."""
    counts, turn = collections.Counter(), 0
    while not stop.is_set():
        turn += 1
        done, errors = pay(world.gateway, world.neighbour, 1, 1_000_000, f"load-{time.time():.3f}-{turn}", 16)
        counts["payments"] += done
        counts["errors"] += errors
    return counts


def real_bulk(world):
    """Sends 12 real bodies of more than 64 KiB, and stops at the first that is not served, or after 5 s."""
    rows = [beneficiary(number) | {"addresses": [{"line1": "y" * 100, "city": "Nairobi", "countryIsoCode2": "KE"}]}
            for number in range(BULK)]
    end = time.monotonic() + 5.0
    for served in range(12):
        try:
            status, _ = world.good.connect(5.0).call("POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows})
        except ConnectionError:
            status = 0
        if status != 200 or time.monotonic() > end:
            return served, 12
    return 12, 12
