"""Runs clients/scenarios.json with the Python client: scenarios.py FILE [ROW]... (see clients/README.md)."""

import inspect
import json
import pathlib
import re
import sys
import threading
import time
import typing
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import coffer  # noqa: E402
from coffer.runtime import decode, encode  # noqa: E402

INTERVAL_S = 0.05
HOUR_S = 3600.0


class Fault(Exception):
    """A step did not have the expected result."""


def compare(expected, found, where="result"):
    """Raises Fault if `found` does not match."""
    if expected == "*":
        good = found is not None
    elif isinstance(expected, dict) and "$contains" in expected:
        good = isinstance(found, str) and expected["$contains"] in found
    elif isinstance(expected, dict) and "$length" in expected:
        good = isinstance(found, list) and len(found) == expected["$length"]
    elif isinstance(expected, dict) and "$atLeast" in expected:
        good = isinstance(found, list) and len(found) >= expected["$atLeast"]
    elif isinstance(expected, dict):
        if not isinstance(found, dict):
            raise Fault(f"{where} is {found!r}, not an object")
        for name, value in expected.items():
            compare(value, found.get(name), f"{where}.{name}")
        return
    elif isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            raise Fault(f"{where} is {found!r}, not an array of {len(expected)}")
        for number, value in enumerate(expected):
            compare(value, found[number], f"{where}[{number}]")
        return
    else:
        good = type(expected) is type(found) and expected == found
    if not good:
        raise Fault(f"{where} is {json.dumps(found)[:300]}, not {json.dumps(expected)}")


def fill(value, variables):
    """Replaces ${name} in every string."""
    if isinstance(value, str):
        for name, text in variables.items():
            value = value.replace("${" + name + "}", text) if "${" in value else value
        return value
    if isinstance(value, dict):
        return {key: fill(member, variables) for key, member in value.items()}
    return [fill(member, variables) for member in value] if isinstance(value, list) else value


def at(value, path):
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def described(error):
    """An error as the scenarios compare it."""
    if isinstance(error, coffer.ProblemError):
        return {"kind": "problem", "status": error.status, "slug": error.slug, "title": error.title,
                "detail": error.detail, "requestId": error.request_id, "errors": error.errors}
    kinds = ((coffer.ConnectionLost, "connection"), (coffer.PaymentTimeout, "timeout"), (coffer.WebhookError, "webhook"),
             ((TypeError, ValueError), "refused"))
    for kind, name in kinds:
        if isinstance(error, kind):
            return {"kind": name, "message": str(error)}
    raise error


def snake(name):
    """The name of a method: sandboxFundWallet -> sandbox_fund_wallet."""
    parts = re.findall("[A-Z]?[a-z0-9]+", name.replace("OAuth", "Oauth"))
    return "_".join(part.lower() for part in parts)


class Runner:
    def __init__(self, given, transport=None):
        self.given, self.transport = given, transport

    def control(self, body):
        request = urllib.request.Request(self.given["control"], json.dumps(body).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as response:
            return json.load(response)

    def client(self, options):
        keys = {**self.given["keys"], **options.get("keys", {})}
        more = {"transport": self.transport(options)} if self.transport else {}
        return coffer.Client(
            options.get("baseUrl", self.given["baseUrl"]), client_id=keys["clientId"],
            client_secret=keys["clientSecret"], api_key=keys["apiKey"], connect_secret=keys["connectSecret"],
            public_key=keys["publicKey"], sign_in_secret=keys["signInSecret"], scope=options.get("scope"),
            timeout=options.get("timeout", 20), deadline=options.get("deadline", 30), retry_delay=0.05,
            monotonic=lambda: time.monotonic() + self.elapsed, **more)

    def run(self, row):
        self.elapsed = 0.0
        self.variables = dict(self.given["vars"])
        self.control({"row": row["name"]})
        options = fill(row.get("client", {}), self.variables)
        wall = time.time
        time.time = lambda: wall() + options.get("clock", 0)
        try:
            client = self.client(options)
            for number, step in enumerate(row["steps"]):
                try:
                    self.step(client, fill(step, self.variables))
                except Fault as fault:
                    raise Fault(f"step {number + 1}: {fault}") from None
        finally:
            time.time = wall

    def step(self, client, step):
        try:
            result = self.result(client, step)
        except Fault:
            raise
        except Exception as error:
            if "error" not in step:
                raise Fault(f"{type(error).__name__}: {error}") from error
            compare(step["error"], described(error), "error")
            return
        if "error" in step:
            raise Fault(f"no error: {json.dumps(result)[:300]}")
        if "expect" in step:
            compare(step["expect"], result)
        for name, path in step.get("save", {}).items():
            found = at(result, path)
            self.variables[name] = found if isinstance(found, str) else json.dumps(found)

    def result(self, client, step):
        if "call" in step:
            return encode(self.call(client, step["call"], step))
        if "list" in step:
            return [encode(row) for row in self.call(client, step["list"], step)]
        if "page" in step:
            return encode(self.call(client, step["page"], step).first())
        if "wait" in step:
            return encode(self.wait(client, step))
        if "webhook" in step:
            given = step["webhook"]
            event = coffer.verify_webhook(given["body"].encode(), given["headers"], given["secrets"],
                                          now=lambda: float(given["now"]))
            return encode(event)
        if "control" in step:
            return self.control(step["control"])
        self.elapsed += step["elapse"]
        return None

    def call(self, client, operation, step):
        method = getattr(client, snake(operation))
        parameters = inspect.signature(method).parameters
        positional = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD and name != "body"]
        arguments = list(step.get("path", {}).values())
        assert len(arguments) == len(positional), (operation, positional)
        if "body" in step:
            hints = typing.get_type_hints(method)
            arguments.append(decode(step["body"], hints["body"]))
        named = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
        wire = {"".join(w.title() if i else w for i, w in enumerate(name.split("_"))): name for name in named}
        return method(*arguments, **{wire.get(name, name): value for name, value in step.get("query", {}).items()})

    def wait(self, client, step):
        timeout = step.get("timeout", 20)
        if "meanwhile" not in step:
            return client.wait_for_payment(step["wait"], timeout=timeout, interval=INTERVAL_S)
        outcome = []

        def waiting():
            try:
                outcome.append(client.wait_for_payment(step["wait"], timeout=timeout, interval=HOUR_S))
            except coffer.CofferError as error:
                outcome.append(error)

        thread = threading.Thread(target=waiting)
        thread.start()
        for each in step["meanwhile"]:
            self.step(client, each)
        # An event of the payment, as verify_webhook returns it.
        event = next(event for event in client.list_events(type="payment.succeeded")
                     if typing.cast(typing.Any, event).data.id == step["wait"])
        client.notify(event)
        thread.join()
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]


def main(path, *names, transport=None):
    given = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    runner = Runner(given, transport)
    for row in given["rows"]:
        if names and row["name"] not in names:
            continue
        try:
            runner.run(row)
            print(json.dumps({"row": row["name"], "ok": True}), flush=True)
        except Exception as error:  # the row has failed; the others run
            text = str(error) if isinstance(error, Fault) else f"{type(error).__name__}: {error}"
            print(json.dumps({"row": row["name"], "ok": False, "fault": text}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
