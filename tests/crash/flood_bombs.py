#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Malicious requests: deeply nested, very wide or endless bodies, enormous numbers, invalid text, and similar
headers and queries. Each gets a 4xx that names the field if there is one, nothing is stored, and memory grows by at
most 4 MiB for each of the 8 concurrent requests. Tests the release build and, if it was built, the address
sanitizer build. COFFER_BOMB_ROUNDS (10): number of rounds. Faulty servers must fail the test."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

from harness import machine
from harness.auditor import audit
from harness.process import memory_mib
from harness.report import SLOW, fail, until_in_time
from harness.server import Demo
from flood_double import AnsweringServer

GROWTH_MAX_MIB = 32.0
ANSWERED_WITHIN_S = 5.0
LATE = -1
# With the sanitizer, everything takes longer, and memory figures mean nothing.
SANITIZED_WITHIN_S = 20.0
MIB = 1024 * 1024
# A response must not be much larger than its request.
ANSWER_MAX = 64 * 1024
PAY, MULTI, BULK, TOKEN, OAUTH = ("/v1/payments/p2p/own", "/v1/payments/p2p/own/multi", "/v1/beneficiaries/bulk",
                                  "/v1/auth/token", "/v1/oauth/token")
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class Bomb:
    """`statuses`: the permitted statuses. `names`: text that the response must contain, usually the field."""

    def __init__(self, name, path, body, statuses=(400, 422), names="", headers=(), method="POST", length=None,
                 content_type=JSON):
        self.name, self.statuses, self.names = name, statuses, names
        self.method, self.path, self.headers, self.length = method, path, headers, length
        self.body = body if isinstance(body, bytes) else body.encode()
        self.content_type = content_type

    def request(self, login):
        fields = {**login, "Content-Type": self.content_type, **dict(self.headers)}
        length = len(self.body) if self.length is None else self.length
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: a\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return head.encode() + b"Content-Length: %d\r\n\r\n" % length + self.body


def repeated(unit, size, joint=","):
    count = size // (len(unit) + len(joint))
    return joint.join([unit] * count)


def payment(amount='"1"', more="", transaction_id='"bomb"', wallet="0198c0de-0000-7000-8000-000000000000"):
    """The JSON text of a payment. Its wallets do not exist, but the tested error comes first."""
    return (f'{{"transactionId":{transaction_id},"sourceWalletId":"{wallet}","destinationWalletId":"{wallet}",'
            f'"sendingAssetCode":"USDC","amount":{amount}{more}}}')


def json_bombs():
    deep = "levels"
    yield Bomb("60,000 brackets", PAY, "[" * 60_000, names=deep)
    yield Bomb("12,000 nested objects", PAY, '{"a":' * 12_000, names=deep)
    yield Bomb("brackets in a known field", PAY, payment("[" * 20_000 + "]" * 20_000), names=deep)
    yield Bomb("33 levels", PAY, payment("[" * 40 + "]" * 40), names=deep)
    yield Bomb("an array of zeros", PAY, "[" + repeated("0", 60_000) + "]")
    yield Bomb("an array of empty arrays", PAY, "[" + repeated("[]", 60_000) + "]")
    yield Bomb("an array of empty texts", PAY, "[" + repeated('""', 60_000) + "]")
    full = "[" + repeated("0", 1_998) + "]"
    yield Bomb("arrays of the maximum size", PAY, "[" + repeated(full, 60_000) + "]")
    yield Bomb("a mebibyte of full arrays", BULK, '{"x":[' + repeated(full, MIB - 100) + "]}")
    yield Bomb("7,000 members", PAY, "{" + ",".join(f'"a{i}":0' for i in range(6_000)) + "}")
    yield Bomb("60,000 transfers", MULTI, '{"transactionId":"bomb","transfers":[' + repeated("{}", 60_000) + "]}",
               names="transfers")
    yield Bomb("transfers that are numbers", MULTI, '{"transactionId":"bomb","transfers":[' + repeated("0", 60_000) + "]}",
               names="transfers")
    for unit in ("0", "[]", "{}", '""', "null", '{"a":[]}', '{"individual":{}}'):
        yield Bomb(f"a mebibyte of {unit}", BULK, '{"beneficiaries":[' + repeated(unit, MIB - 100) + "]}",
                   names="beneficiaries")
        yield Bomb(f"a mebibyte of {unit}, rejected", BULK, '{"x":[' + repeated(unit, MIB - 100) + "]}")
    yield Bomb("a mebibyte of members", BULK, "{" + ",".join(f'"{i:x}":0' for i in range(110_000)) + "}")
    yield Bomb("a mebibyte of brackets", BULK, "[" * (MIB - 10), names=deep)
    yield Bomb("a mebibyte of one text", BULK, '{"beneficiaries":"' + "a" * (MIB - 100) + '"}', names="beneficiaries")
    yield Bomb("a mebibyte of escapes", BULK, '{"beneficiaries":"' + "\\u00e9" * 170_000 + '"}', names="beneficiaries")
    yield Bomb("a member twice", PAY, payment(more=',"amount":"1000"'), (400,), names="amount")
    yield Bomb("a member twice, once escaped", PAY, payment(more=',"\\u0061mount":"1000"'), (400,), names="amount")
    yield Bomb("a member twice, deep inside", MULTI,
               '{"transactionId":"bomb","transfers":[{"amount":"1","amount":"2"}]}', (400,), names="transfers[0].amount")
    yield Bomb("20 members twice", PAY, "{" + ",".join(f'"a{i % 20}":0' for i in range(40)) + "}", (400,), names="a0")
    for what, text in {"nothing": "", "only spaces": " " * 60_000, "two values": payment() + payment(),
                       "a comment": "/* a */" + payment(), "a comma too many": payment()[:-1] + ",}",
                       "single quotes": payment().replace('"', "'"), "no end": payment()[:-1], "a text": '"a"',
                       "null": "null", "a number": "1", "a list": "[" + payment() + "]"}.items():
        yield Bomb(what + " for a body", PAY, text, (400,))


def number_bombs():
    def row(text, statuses=(400, 422)):
        return Bomb(f"amount {text[:24]}", PAY, payment(text), statuses, names="amount")

    for text in ("1e999999", "-1e999999", "1e-999999", "0e999999", "1e99999999999999999999", "9" * 400, "-" + "9" * 400,
                 "0." + "0" * 400 + "1", "1." + "0" * 400 + "1", "9" * 60_000, "0." + "1" * 60_000):
        yield row(text)
        yield row(f'"{text}"')
    for text in ('"1e99999999999999999999999"', '"-0"', '"1_000"', '"1 000"', '"0x1"', '"１２"', '"١٢"', '"1\\u0000"', '"NaN"',
                 '"Infinity"', '"1e5e5"', '"--1"', '"+1"', '""', '" "', "[]", "{}", "true", "null", '["1"]', '{"a":1}'):
        yield row(text)
    for text in ("NaN", "Infinity", "-Infinity", "+1", "01", ".5", "1.", "0x10", "1e", "--1"):
        yield Bomb(f"amount {text}", PAY, payment(text), (400,))


def text_bombs():
    long_text = "a" * 60_000
    yield Bomb("a transactionId of 60,000 letters", PAY, payment(transaction_id=f'"{long_text}"'), names="transactionId")
    yield Bomb("a transactionId of 65 letters", PAY, payment(transaction_id='"' + "a" * 65 + '"'), names="transactionId")
    yield Bomb("a description of 60,000 letters", PAY, payment(more=f',"description":"{long_text}"'), names="description")
    yield Bomb("a description of 4,000 letters", PAY, payment(more=f',"description":"{long_text[:4000]}"'),
               names="description")
    yield Bomb("a name of 60,000 letters", PAY, payment(more=f',"{long_text}":1'))
    yield Bomb("NUL by escape", PAY, payment(transaction_id='"a\\u0000b"'), names="transactionId")
    yield Bomb("an unescaped NUL", PAY, payment(transaction_id='"a\0b"'), (400,))
    for what, raw in {"half a surrogate pair": b"\\ud800", "a reversed surrogate pair": b"\\udc00\\ud800",
                      "a byte that is not UTF-8": b"\xff", "a cut sequence": b"\xe2\x82", "an overlong slash": b"\xc0\xaf",
                      "a surrogate in UTF-8": b"\xed\xa0\x80", "beyond Unicode": b"\xf4\x90\x80\x80"}.items():
        yield Bomb(what, PAY, payment(transaction_id='"a@"').encode().replace(b"a@", b"a" + raw), (400,))
    yield Bomb("a Cyrillic letter in a name", PAY, payment().replace('"amount"', '"\u0430mount"'), names="amount")
    yield Bomb("right to left", PAY, payment(transaction_id='"a\u202eb"'), names="transactionId")
    yield Bomb("a zero width space", PAY, payment(transaction_id='"a\u200bb"'), names="transactionId")
    yield Bomb("10,000 accents on one letter", PAY, payment(transaction_id='"a' + "\u0301" * 10_000 + '"'),
               names="transactionId")
    yield Bomb("a byte order mark", PAY, "\ufeff" + payment(), (400,))
    yield Bomb("UTF-16", PAY, payment().encode("utf-16"), (400, 415))
    yield Bomb("SQL", PAY, payment(transaction_id='"\' OR 1=1--"'), names="transactionId")


def other_bombs():
    yield Bomb("10 GB announced", PAY, "{}", (413,), length=10 * 1024**3)
    yield Bomb("1 GiB announced to the bulk route", BULK, "{}", (413,), length=1024**3)
    yield Bomb("5 MB", PAY, " " * 5_000_000, (413,))
    yield Bomb("5 MB to the bulk route", BULK, " " * 5_000_000, (413,))
    yield Bomb("a credential of 15 KB", PAY, payment(), (401, 431), headers=[("Authorization", "Bearer " + "a" * 15_000)])
    yield Bomb("a key of 15 KB", PAY, payment(), (401, 431), headers=[("x-svc-auth", "a" * 15_000)])
    yield Bomb("a header of 20 KB", PAY, payment(), (431,), headers=[("A", "a" * 20_000)])
    yield Bomb("100 fields", PAY, payment(), (431,), headers=[(f"A{i}", "a") for i in range(100)])
    yield Bomb("a form of 15,000 members", OAUTH, "&".join(f"a{i}=1" for i in range(8_000)), (400, 401), content_type=FORM)
    yield Bomb("a form of one name", OAUTH, "&".join(["client_id=a"] * 5_000), (400, 401), content_type=FORM)
    yield Bomb("a form of ampersands", OAUTH, "&" * 60_000, (400, 401), content_type=FORM)
    yield Bomb("a secret of 60,000 letters", TOKEN, json.dumps({"clientId": "a", "clientSecret": "a" * 60_000}), (400, 401))
    yield Bomb("xml", PAY, "<a>" * 10_000, (400, 415), content_type="application/xml")
    yield Bomb("many parts", PAY, "--a\r\n" * 10_000, (400, 415), content_type="multipart/form-data; boundary=a")
    for query in ("limit=1e99", "limit=" + "9" * 1_000, "limit=-1", "limit=0", "cursor=" + "a" * 1_900,
                  "status=" + "a" * 1_900, "limit=%00", "limit=%", "cursor=" + "%" * 900):
        yield Bomb("query " + query[:24], "/v1/transactions?" + query, "", (400, 404, 422), method="GET")
    yield Bomb("900 query parameters", "/v1/transactions?" + "&".join(["a"] * 900), "", (200, 400, 422), method="GET")
    yield Bomb("a path of 2,000 slashes", "/" * 2_000, "", (404,), method="GET")
    yield Bomb("dots", "/v1/wallets/" + "../" * 300, "", (404,), method="GET")


BOMBS = [*json_bombs(), *number_bombs(), *text_bombs(), *other_bombs()]


def ask(address, request, within_s=ANSWERED_WITHIN_S):
    """(status, body) of the only response; (0, reason) without one; (LATE, reason) if it is late."""
    began = time.monotonic()
    try:
        with socket.create_connection(address, timeout=within_s) as connection:
            sender = threading.Thread(target=send_all, args=(connection, request), daemon=True)
            sender.start()
            data = b""
            while time.monotonic() - began < within_s:
                more = connection.recv(65536)
                data += more
                head, separator, body = data.partition(b"\r\n\r\n")
                at = head.lower().find(b"\r\ncontent-length:")
                if separator and len(body) >= int(head[at + 17:].split(b"\r\n", 1)[0]):
                    return int(head[9:12]), body.decode(errors="replace")
                if not more:
                    return 0, f"closed after {data[:80]!r}"
            return LATE, "no answer"
    except TimeoutError as error:
        return LATE, str(error)
    except (OSError, ValueError) as error:
        return 0, str(error)


def send_all(connection, request):
    try:
        connection.sendall(request)
    except OSError:
        pass  # rejected before the whole request was sent


def judge(bomb, status, body):
    if status == LATE:
        return f"{SLOW}{body}"
    if status not in bomb.statuses:
        return f"answered {status}: {body[:160]}"
    if status >= 400 and '"code"' not in body:
        return f"{status} is not a problem document: {body[:160]}"
    if bomb.names and bomb.names not in body:
        return f"the response does not name {bomb.names}: {body[:200]}"
    if len(body) > ANSWER_MAX:
        return f"a response of {len(body)} bytes"
    return None


# --- Memory -----------------------------------------------------------------------------------------


class Growth:
    """A process's peak memory growth from now on, and how much of it remains."""

    def __init__(self, pid):
        self.pid = pid
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # resets the high-water mark
        self.before = memory_mib(pid)

    def mib(self):
        return memory_mib(self.pid, "VmHWM") - self.before

    def stays_mib(self):
        return memory_mib(self.pid) - self.before


def throw(address, login, bombs, threads, within_s=ANSWERED_WITHIN_S):
    """Sends all bombs from several threads. Returns [(bomb, fault)]."""
    faults, lock, left = [], threading.Lock(), list(bombs)

    def work():
        while True:
            with lock:
                if not left:
                    return
                bomb = left.pop()
            fault = judge(bomb, *ask(address, bomb.request(login), within_s))
            if fault:
                with lock:
                    faults.append((bomb, fault))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return faults


def run(binary, rounds, measured):
    """Returns the faults, and the peak memory growth."""
    name = os.path.basename(os.path.dirname(binary))
    faults, most = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary, folder).start(ready_within_s=30.0)
        address, pid = (gateway.host, gateway.port), gateway.server_pid()
        connection = gateway.login()
        login = {key: value for key, value in connection.headers.items() if key != "Content-Type"}
        good = [connection.call("GET", "/v1/wallets")[0] for _ in range(200)]
        if set(good) != {200}:
            fail(f"valid requests return {set(good)} before the attack")
        growth = Growth(pid)
        for threads in [1] + [8] * rounds:
            for bomb, fault in throw(address, login, BOMBS, threads,
                                     ANSWERED_WITHIN_S if measured else SANITIZED_WITHIN_S):
                faults.append(f"{fault}, {bomb.name}")  # SLOW must stay the first word
            print(f"  {name}: {threads} at once: memory grew by up to {growth.mib():.1f} MiB,"
                  f" {growth.stays_mib():.1f} MiB remain", flush=True)
            most = max(most, growth.mib())
        if measured and most > GROWTH_MAX_MIB:
            faults.append(f"memory grew by {most:.1f} MiB")
        if connection.call("GET", "/v1/wallets")[0] != 200 or gateway.server_pid() != pid:
            faults.append("valid requests fail after the attack")
        stored = gateway.login().list_transactions("status=initiated")
        if stored:
            faults.append(f"a bomb became a payment: {stored[0]}")
        if gateway.stop() != 0:
            faults.append("the server did not stop cleanly")
        faults += audit(gateway.db, {"sent": {}, "acked": {}}, settled=True)
    return faults, most


def control():
    """The judges must fail a server that accepts everything, servers that break, and one that keeps memory."""
    doubles = {
        "accepts everything": b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n{}",
        "breaks": b'HTTP/1.1 500 \r\nContent-Length: 12\r\n\r\n{"code":"a"}',
        "does not name the field": b'HTTP/1.1 400 \r\nContent-Length: 12\r\n\r\n{"code":"a"}',
        "dies": b"",
    }
    named = [bomb for bomb in BOMBS if bomb.names][::10]
    for what, answer in doubles.items():
        double = AnsweringServer(answer)
        caught = throw((double.host, double.port), {}, named, 4)
        double.stop()
        if len(caught) != len(named):
            fail(f"a server that {what} passed {len(named) - len(caught)} of {len(named)} bombs")
    hoarder = subprocess.Popen([sys.executable, "-c", "input(); a = bytearray(40 << 20); print(flush=True); input()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    growth = Growth(hoarder.pid)
    hoarder.stdin.write(b"\n")
    hoarder.stdin.flush()
    hoarder.stdout.readline()
    grown = growth.mib()
    hoarder.kill()
    hoarder.wait()
    if grown <= GROWTH_MAX_MIB:
        fail(f"40 MiB of growth were not detected: {grown:.1f}")


def main():
    rounds = int(os.environ.get("COFFER_BOMB_ROUNDS", "10"))
    control()
    most = until_in_time(lambda: run(machine.binary(), rounds, True))
    binaries = 1
    sanitized = os.environ.get("COFFER_DEV_BIN", "")
    if os.path.exists(sanitized):
        until_in_time(lambda: run(sanitized, 1, False), "sanitized")
        binaries = 2
    print(f"count: {len(BOMBS)} bombs, one at a time and {rounds} times 8 at once, against {binaries} binaries")
    print("control: 4 faulty servers and one that keeps memory failed the test")
    print(f"flood_bombs: each rejected, memory grew by up to {most:.1f} MiB")


if __name__ == "__main__":
    main()
