"""Every list in every combination of the filters in the OpenAPI document, and searches: on a file with --stored
payments and a tenth as many beneficiaries, without load and during payments."""

import datetime
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse

from harness.machine import ROOT

from machine import FOLDER, Server, say

MEDIAN_MS, P99_MS, LOADED_MS = 50, 100, 250
TIMES = 3           # measurements of each query, after one that warms the cache
FEW_FILTERS = 2     # up to this many filters, every combination of values is measured, else one of each
BENEFICIARIES = 10  # payments per beneficiary
SEARCHES = ("a", "p", "person", "person123", "otieno", "oti ami", "accounts example", "example com", "müller",
            "handel gmbh", "cr 0000042", "CR-0000042", "a b c", "garcía handel", "o brien", "zzz")
GENERATOR = ("large_file.py", "large_people.py", "large_replicas.py", "large_samples.py")


def large_file(bench):
    return kept_file(bench, bench.stored_payments, "--beneficiaries", str(bench.stored_payments // BENEFICIARIES))


def kept_file(bench, payments, *options):
    """The folder of a file of large_file.py. It is created once, and kept until the schema or the generator changes."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("COFFER_BENCH_FILES") or os.path.join(cache, "coffer", "bench")
    texts = [os.path.join(ROOT, "schema.sql"),
             *(os.path.join(FOLDER, name) for name in GENERATOR)]
    digest = hashlib.sha256()
    for path in texts:
        with open(path, "rb") as text:
            digest.update(text.read())
    digest.update(" ".join(options).encode())
    kept = os.path.join(folder, f"{payments}-{digest.hexdigest()[:12]}")
    if not os.path.isdir(kept):
        say(f"creating {kept}, which is kept; delete it to free the space")
        part = kept + ".part"
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(part)
        subprocess.run([sys.executable, os.path.join(FOLDER, "large_file.py"), bench.binary,
                        os.path.join(part, "large.db"), "--payments", str(payments), *options], check=True)
        os.rename(part, kept)
    return kept


def day(ago):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=ago)).strftime("%Y-%m-%d")


class Lists:
    """The operations of the document that return a page, with values for their parameters."""

    def __init__(self, server):
        self.connection, self.facts = server.login(), server.facts
        self.random = random.Random(1)
        self.document = self.ask("/v1/openapi.json")
        self.values = self.known_values()

    def ask(self, target):
        status, answer = self.connection.call("GET", target)
        if status != 200:
            sys.exit(f"bench: GET {target}: {status} {answer}")
        return answer

    def ids(self, target):
        return [row["id"] for row in self.ask(target)["data"]]

    def known_values(self):
        """Values of each parameter: one with many matches, one with few, and for some one without."""
        wallets = [self.facts["wallets"][0]["id"], *self.ids("/v1/wallets?limit=1")]
        payouts = self.ask("/v1/transactions?type=offramp&limit=1")["data"]
        beneficiaries = [*(row["beneficiaryId"] for row in payouts), *self.ids("/v1/beneficiaries?limit=1")]
        connectors = [*(row["connectorId"] for row in payouts), *self.ids("/v1/connectors?limit=1")]
        newest = self.ask("/v1/transactions?limit=1")["data"][0]
        return {
            "walletId": wallets, "beneficiaryId": beneficiaries, "connectorId": connectors,
            "webhookId": self.ids("/v1/webhooks?limit=1"), "id": [self.facts["applicationId"]],
            "assetCode": ["USDC", "NGNC"], "networkName": [self.ask("/v1/assets")["data"][0]["networkName"]],
            "tag": ["payroll", "rare", "nothing"], "q": list(SEARCHES), "countryIsoCode2": ["KE", "US"],
            "customerId": ["customer-1", "nothing"], "transactionId": [newest["transactionId"], "sample-3"],
            "reference": ["N-1", "back", "nothing"], "createdFrom": [day(60), day(2)], "createdTo": [day(-1), day(20)],
            "updatedFrom": [day(60), day(2)], "startDate": [day(60), day(2)], "endDate": [day(-1)],
            "afterSequence": ["0", "1000000"], "metadata[order]": ["A-1", "nothing"]}

    def resolved(self, node):
        while "$ref" in node:
            path = node["$ref"][2:].split("/")
            node = self.document
            for name in path:
                node = node[name]
        return node

    def operations(self):
        """(operation, path, path parameters, filters) of every list, except those of the Connect group, which have
        other credentials."""
        for path, methods in self.document["paths"].items():
            if "get" not in methods or any("connectSecret" in one for one in methods["get"]["security"]):
                continue
            parameters = [self.resolved(one) for one in methods["get"].get("parameters", [])]
            if any(one["name"] == "limit" for one in parameters):
                in_path = [one for one in parameters if one["in"] == "path"]
                filters = [one for one in parameters if one["in"] == "query" and one["name"] not in ("limit", "cursor")]
                yield methods["get"]["operationId"], path, in_path, filters

    def values_of(self, parameter):
        schema = self.resolved(parameter["schema"])
        if "enum" in schema:
            return schema["enum"]
        if not self.values.get(self.name_of(parameter)):
            sys.exit(f"bench: no values for the parameter {parameter['name']}")
        return self.values[self.name_of(parameter)]

    def name_of(self, parameter):
        """The name in an address: that of an object contains a key."""
        return parameter["name"] + "[order]" * (parameter.get("style") == "deepObject")

    def targets(self, path, in_path, filters):
        """The addresses to request, for each combination of filters."""
        for one in in_path:
            path = path.replace("{" + one["name"] + "}", self.values_of(one)[0])
        required = [one for one in filters if one.get("required")]
        optional = [one for one in filters if not one.get("required")]
        for count in range(len(optional) + 1):
            for chosen in itertools.combinations(optional, count):
                # A statement needs an asset that the wallet holds; all wallets hold the first one.
                filled = [[(self.name_of(one), value) for value in
                           (self.values_of(one)[:1] if one["name"] == "assetCode" and one in required
                            else self.values_of(one))] for one in (*required, *chosen)]
                if count <= FEW_FILTERS:
                    queries = itertools.product(*filled)
                else:
                    queries = [[self.random.choice(one) for one in filled]]
                for query in queries:
                    yield path + "?" + urllib.parse.urlencode([*query, ("limit", "100")])

    def milliseconds(self, target):
        began = time.perf_counter()
        answer = self.ask(target)
        return (time.perf_counter() - began) * 1000, answer

    def measured(self, target):
        """The times of a page, and of the next one."""
        _, page = self.milliseconds(target)
        times = [self.milliseconds(target)[0] for _ in range(TIMES)]
        if page.get("nextCursor"):
            times.append(self.milliseconds(f"{target}&cursor={page['nextCursor']}")[0])
        return times


def share(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def quiet(lists, table):
    """Measures all addresses. Returns those requested, by operation."""
    asked = {}
    for operation, path, in_path, filters in lists.operations():
        times, worst = [], (0.0, "")
        asked[operation] = []
        for target in lists.targets(path, in_path, filters):
            these = lists.measured(target)
            asked[operation].append(target)
            times += these
            worst = max(worst, (share(these, 0.5), target))
        say(f"{operation}: {len(asked[operation]):,} queries; slowest {worst[1]}")
        table.add(f"{operation}, worst median of {len(asked[operation]):,} queries", worst[0], "ms", goal=MEDIAN_MS,
                  at_most=True)
        table.add("p99 of all", share(times, 0.99), "ms", goal=P99_MS, at_most=True)
    return asked


def beside_payments(bench, server, lists, asked, table):
    results = []
    load = threading.Thread(target=lambda: results.append(server.load(3 * bench.seconds, bench.connections)))
    times = {operation: [] for operation in asked}
    load.start()
    for operation in itertools.cycle(asked):
        if not load.is_alive():
            break
        target = lists.random.choice(asked[operation])
        times[operation].append(lists.milliseconds(target)[0])
    load.join()
    bench.errors += results[0].errors
    table.add("payments accepted meanwhile", results[0].rate, "/s")
    for operation, each in times.items():
        table.add(f"{operation} beside payments, p99 of {len(each):,}", share(each, 0.99), "ms", goal=LOADED_MS,
                  at_most=True)
    server.rest()  # some payments of the file never settle


def run(bench, table):
    server = Server(bench.binary, large_file(bench), "large.db").start()
    try:
        server.rest()
        lists = Lists(server)
        say(f"lists on {bench.stored_payments:,} payments")
        asked = quiet(lists, table)
        say(f"the same during payments on {bench.connections} connections, {3 * bench.seconds} s")
        beside_payments(bench, server, lists, asked, table)
    finally:
        server.stop()
