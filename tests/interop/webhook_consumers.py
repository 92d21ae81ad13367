#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Runs the consumers of docs/webhooks.md: each program in docs/webhook-consumers receives deliveries from the release
build and is then attacked. Languages without an installed runtime are reported and skipped. Control: the attacks must
detect deliberately broken consumers."""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import documents
from harness.clients import OWN
from harness.machine import ROOT, binary, held_port
from harness.server import Demo
from webhook_attacks import Attacks, event, headers_of, random_secret

WAIT_S = 20
# Start commands of the guide. The test uses another port, and compiles the Go program once.
STARTED_BY = {"node consumer.mjs", "python3 consumer.py", "go run consumer.go", "php consumer.php",
              "php -S 127.0.0.1:3000 consumer.php"}
PORT_IS_THERE_S = 60  # limit for the start of an interpreter on a busy machine


def wait_for(what, condition, within_s=WAIT_S):
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {within_s} s: {what}")
        time.sleep(0.02)


# --- Consumers ----------------------------------------------------------------------------------------

class Consumer:
    """One program with its inbox, which can be restarted on the same port."""

    def __init__(self, folder, commands):
        os.makedirs(folder)
        self.folder = folder
        self.inbox = os.path.join(folder, "inbox")
        self.log = os.path.join(folder, "log")
        self.port = held_port()
        self.commands = [[word.replace("{port}", str(self.port)) for word in command]
                         for command in commands]
        self.processes = []

    def launch(self, secrets):
        environment = {**os.environ, "WEBHOOK_SECRETS": " ".join(secrets), "PORT": str(self.port),
                       "INBOX": self.inbox}
        with open(self.log, "ab") as log:
            self.processes = [subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log,
                                               stderr=log, stdin=subprocess.DEVNULL)
                              for command in self.commands]

    def start(self, *secrets):
        self.launch(secrets)
        wait_for("the consumer listens", self.listens, PORT_IS_THERE_S)

    def rejects_to_run(self, *secrets):
        """Whether the program refuses to run: it exits, or, if a web server runs it, accepts nothing."""
        event_id, body = event(1)
        forged = headers_of("whsec_", event_id, body)
        self.launch(secrets)
        try:
            wait_for("it ends", lambda: self.processes[-1].poll() is not None, PORT_IS_THERE_S)
            if len(self.processes) > 1:
                wait_for("the server listens", self.listens, PORT_IS_THERE_S)
            return self.processes[-1].returncode != 0 and self.post(forged, body) in (0, 500)
        finally:
            self.stop()

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.processes = []

    def post(self, headers, body, method="POST", path="/hooks"):
        """The status; 0 if the connection was closed instead."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json", **headers})
            return connection.getresponse().status
        except (ConnectionError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def has(self, folder, name):
        return os.path.isfile(os.path.join(self.inbox, folder, name))

    def wait_done(self, event_id):
        wait_for(f"{event_id} is processed", lambda: self.has("done", event_id))

    def state_of(self, payment_id):
        try:
            with open(os.path.join(self.inbox, "payments", payment_id), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def times_processed(self, sequence):
        with open(self.log, encoding="utf-8") as log:
            return sum(line.startswith(f"processed {sequence} ") for line in log)


def library_variant(guide, folder):
    """consumer.mjs with the guide's `rejection` that uses the standardwebhooks package."""
    block = re.search(r"```js\n(import \{ Webhook \} from 'standardwebhooks';\n.*?)```", guide, re.S)
    assert block, "the guide shows no rejection() with the library"
    with open(os.path.join(folder, "..", "consumer.mjs"), encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(r"/\*\* The reason to reject a delivery.*?\n}\n", lambda _: block[1], text, flags=re.S)
    assert count == 1
    path = os.path.join(folder, "consumer.mjs")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    here = os.path.dirname(os.path.abspath(__file__))
    os.symlink(os.path.join(here, "node_modules"), os.path.join(folder, "node_modules"))
    return path


def commands_of(docs, guide, folder):
    """Returns {name: command lines} of the consumers that can run here, and prints the others."""
    programs = os.path.join(folder, "programs")
    shutil.copytree(os.path.join(docs, "webhook-consumers"), programs)
    found = {}
    for name, runtime in (("consumer.mjs", "node"), ("consumer.py", "python3"), ("consumer.go", "go"),
                          ("consumer.php", "php")):
        if shutil.which(runtime) is None:
            print(f"skipped  {name}: {runtime} is not installed")
            continue
        path = os.path.join(programs, name)
        if runtime == "go":
            subprocess.run(["go", "build", "-o", path + ".bin", path], check=True, cwd=programs,
                           env={**os.environ, "GOCACHE": os.path.join(folder, "go-cache"),
                                "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
            found[name] = [[path + ".bin"]]
        elif runtime == "php":
            found[name] = [[runtime, "-S", "127.0.0.1:{port}", path], [runtime, path]]
        else:
            found[name] = [[runtime, path]]
    if "consumer.mjs" in found:
        variant = os.path.join(programs, "library")
        os.makedirs(variant)
        if os.path.isdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_modules")):
            found["consumer.mjs with standardwebhooks"] = [["node", library_variant(guide, variant)]]
        else:
            print("skipped  consumer.mjs with standardwebhooks: the npm packages are not installed")
    return found


# --- Attacks on sound and on broken consumers --------------------------------------------------------

def attack(consumer, secret):
    attacks = Attacks(consumer, secret)
    for name, secrets in (("no secret", ()), ("an empty secret", ("whsec_",)),
                          ("a good secret and an empty one", (secret, "whsec_"))):
        attacks.expect(f"{name}: does not run", consumer.rejects_to_run(*secrets))
    consumer.start(secret)
    try:
        return attacks.run()
    finally:
        consumer.stop()


# Each row breaks consumer.py in one way, and names the attack that must detect it.
BROKEN = (
    ("no signature is checked", 'return "no signature matches"', "return None", "wrong secret"),
    ("the contract's signature is sufficient", '        return "a header is missing"\n',
     '        return "a header is missing"\n    if hmac.compare_digest("sha256=" + hmac.new(id_.encode(), '
     'body, hashlib.sha256).hexdigest(), headers.get("x-svc-signature", "")):\n        return None\n',
     "wrong secret"),
    ("no time is checked", "TOLERANCE_S = 300", "TOLERANCE_S = 10 ** 9", "old"),
    ("only the first signature counts", 'in signatures.split(" ")', 'in signatures.split(" ")[:1]',
     "several signatures: second"),
    ("the start of a signature is sufficient", "hmac.compare_digest(given.encode(), expected)",
     "expected.startswith(given.encode())", "signature: a character short"),
    ("the body is trimmed before it is verified", '.".encode() + body\n', '.".encode() + body.strip()\n',
     "added white space"),
    ("repetitions are not recognised", "os.path.exists(os.path.join(DONE, id_))", "False",
     "repetition: processed once"),
    ("the last event wins", '["version"] <= known["version"]', '["version"] < 0',
     "an earlier version changes nothing"),
    ("samples are applied", 'event.get("test") or ', "", "a sample changes nothing"),
    ("any text is accepted as an id", 'return isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text)'
     ' is not None', "return True", "id ../../es"),
)


def run_controls(docs, folder):
    """The attacks must detect each broken consumer."""
    with open(os.path.join(docs, "webhook-consumers", "consumer.py"), encoding="utf-8") as file:
        sound = file.read()
    for number, (what, old, new, found_by) in enumerate(BROKEN):
        assert old in sound, f"consumer.py has no {old!r}"
        place = os.path.join(folder, f"broken-{number}")
        path = place + ".py"
        with open(path, "w", encoding="utf-8") as file:
            file.write(sound.replace(old, new))
        consumer = Consumer(place, [["python3", path]])
        secret = random_secret()
        consumer.start(secret)
        attacks = Attacks(consumer, secret)
        try:
            attacks.run()
        except AssertionError:
            pass  # the consumer does not even process its stored deliveries
        finally:
            consumer.stop()
        names = [name for name, _ in attacks.faults]
        assert found_by in names, f"{what}: not detected by {found_by!r}, only by {names}"
    print(f"ok       {len(BROKEN)} deliberately broken consumers are detected")


# --- With the real server -----------------------------------------------------------------------------

class Real:
    """One consumer, registered with the demo."""

    def __init__(self, gateway, consumer, number):
        self.gateway = gateway
        self.api = gateway.login()
        self.consumer = consumer
        self.number = number
        url = f"http://127.0.0.1:{consumer.port}/hooks"
        self.webhook = self.call("POST", "/v1/webhooks", {"url": url, "eventTypes": ["*"]})
        self.path = f"/v1/webhooks/{self.webhook['id']}"

    def call(self, method, path, body=None):
        status, answer = self.api.call(method, path, body)
        assert 200 <= status < 300, (method, path, status, answer)
        return answer

    def delivery(self, event_id):
        return self.call("GET", f"{self.path}/deliveries/{event_id}")

    def attempts(self, event_id):
        """The delivery log of an event. A delivery is created a moment after its event."""
        status, answer = self.api.call("GET", f"{self.path}/deliveries/{event_id}")
        assert status in (200, 404), answer
        return answer["log"] if status == 200 else []

    def test_event(self):
        return self.call("POST", self.path + "/test")["eventId"]

    def rotate(self, grace_s):
        return self.call("POST", self.path + "/rotate-secret", {"gracePeriodSeconds": grace_s})["secret"]

    def arrives(self, event_id):
        self.consumer.wait_done(event_id)
        wait_for("the response is recorded", lambda: self.delivery(event_id)["status"] == "delivered")

    def run(self):
        secret = self.webhook["secret"]
        self.consumer.start(secret)
        ids = self.payments()
        self.repeated(ids[0])
        self.restart(secret, ids[0])
        self.rotation(secret)

    def payments(self):
        """Three payments cause nine events, each stored byte for byte, acknowledged and applied."""
        after = self.last_sequence()
        records = [self.call("POST", "/v1/payments/" + OWN, self.order(count))["transactionRecordId"]
                   for count in range(3)]
        settled = {"version": 3, "status": "succeeded"}
        for record in records:
            wait_for("the payment is known", lambda: self.consumer.state_of(record) == settled)
        events = self.call("GET", f"/v1/events?afterSequence={after}")["data"]
        assert len(events) == 9, f"{len(events)} events"
        for item in events:
            self.arrives(item["id"])
            detail = self.delivery(item["id"])
            with open(os.path.join(self.consumer.inbox, "done", item["id"]), "rb") as file:
                assert file.read() == detail["body"].encode(), "the stored bytes differ from the sent ones"
            assert detail["attempts"] == 1 and detail["log"][0]["responseStatus"] == 204, detail
        return [item["id"] for item in events]

    def order(self, count):
        first, second = self.gateway.wallet("Treasury"), self.gateway.wallet("Operations")
        return {"transactionId": f"consumer-{self.number}-{count}", "sourceWalletId": first,
                "destinationWalletId": second, "sendingAssetCode": "USDC", "amount": "1.25"}

    def last_sequence(self):
        probe = self.test_event()
        self.arrives(probe)
        return self.call("GET", f"/v1/events/{probe}")["sequence"]

    def repeated(self, event_id):
        """A manual redelivery succeeds and is not processed twice."""
        sequence = self.call("GET", f"/v1/events/{event_id}")["sequence"]
        self.call("POST", f"{self.path}/deliveries/{event_id}/resend")
        wait_for("sent again", lambda: len(self.attempts(event_id)) == 2)
        assert self.attempts(event_id)[1]["responseStatus"] == 204
        self.arrives(self.test_event())
        assert self.consumer.times_processed(sequence) == 1, "processed twice"

    def restart(self, secret, known):
        """After a kill, the consumer processes its acknowledged events, and still recognises earlier ones."""
        self.consumer.stop()
        unfinished, body = event(5_000_000)
        with open(os.path.join(self.consumer.inbox, "new", unfinished), "wb") as file:
            file.write(body)
        missed = self.test_event()
        wait_for("a failed attempt", lambda: self.attempts(missed))
        self.consumer.start(secret)
        self.consumer.wait_done(unfinished)
        self.arrives(missed)  # the next attempt
        self.call("POST", f"{self.path}/deliveries/{known}/resend")
        wait_for("the event is redelivered", lambda: len(self.attempts(known)) == 3)
        assert not self.consumer.has("new", known), "the consumer forgot a processed event"

    def rotation(self, old):
        """The rotation steps of the guide; then a consumer that changes its secret too late."""
        new = self.rotate(3_600)
        self.arrives(self.test_event())  # with only the old secret, because both sign
        self.consumer.stop()
        self.consumer.start(old, new)
        self.arrives(self.test_event())
        self.consumer.stop()
        self.consumer.start(new)
        self.arrives(self.test_event())
        newest = self.rotate(0)
        late = self.test_event()
        wait_for("a rejected attempt", lambda: self.attempts(late))
        assert self.attempts(late)[0]["responseStatus"] == 401, self.attempts(late)
        self.consumer.stop()
        self.consumer.start(newest, new)
        self.call("POST", f"{self.path}/deliveries/{late}/resend")
        self.arrives(late)

    def close(self):
        self.consumer.stop()
        self.call("DELETE", self.path)


def run_consumer(name, number, commands, gateway, folder):
    consumer = Consumer(os.path.join(folder, f"consumer-{number}"), commands)
    try:
        real = Real(gateway, consumer, number)
        try:
            real.run()
        finally:
            real.close()
        attacks = attack(consumer, random_secret())
    except Exception:
        print(f"FAILED   {name}")
        with open(consumer.log, encoding="utf-8", errors="replace") as log:
            print("".join(f"         | {line}" for line in log.readlines()[-15:]))
        raise
    for what, told in attacks.faults:
        print(f"FAILED   {name}: {what}: {told}")
    if not attacks.faults:
        print(f"ok       {name}: real deliveries, a crash, a rotation; {attacks.count} attacks")
    return len(attacks.faults)


def check_guide(docs, guide):
    """The guide must show the programs unchanged."""
    folder = os.path.join(docs, "webhook-consumers")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        fence = {"mjs": "js", "py": "python", "go": "go", "php": "php"}[name.rsplit(".", 1)[1]]
        assert f"```{fence}\n{text}```\n" in guide, f"docs/webhooks.md shows a different {name}"
    print("ok       the guide shows the programs unchanged")
    shown = {block.text for block in documents.Mine("interop/webhook_consumers").take_all(documents.INLINE)}
    assert shown == STARTED_BY, f"docs/webhooks.md starts the programs with {shown}"
    print("ok       the guide shows how to start them")


def main():
    docs = os.path.join(ROOT, "docs")
    with open(os.path.join(docs, "webhooks.md"), encoding="utf-8") as file:
        guide = file.read()
    check_guide(docs, guide)
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_of(docs, guide, folder)
        gateway = Demo(binary(), folder).start(ready_within_s=PORT_IS_THERE_S)
        try:
            faults = sum(run_consumer(name, number, lines, gateway, folder)
                         for number, (name, lines) in enumerate(commands.items()))
        finally:
            gateway.stop()
        run_controls(docs, folder)
    sys.exit(1 if faults else 0)


main()
