"""Exporting a statement of a million lines, alone and during payments."""

import subprocess
import time

from harness.process import memory_mib
from machine import Repeated, say

LINES = 1_000_000
FORMS = ("csv", "ndjson", "camt.053")


class Export:
    """One complete export, counted and discarded. Measures its time and the growth of memory."""

    def __init__(self, server, form):
        wallet = server.facts["wallets"][0]["id"]
        url = server.url(f"/v1/statements/transactions/{form}?walletId={wallet}&assetCode=USDC&startDate=2020-01-01"
                         "&endDate=2100-01-01")
        before = most = memory_mib(server.pid, "VmRSS")
        began = time.monotonic()
        with subprocess.Popen(["curl", "-sS", "--fail", url, "-H", "x-svc-auth: " + server.caller[0], "-H",
                               "Authorization: Bearer " + server.caller[1]], stdout=subprocess.PIPE) as curl:
            with subprocess.Popen(["wc", "-l"], stdin=curl.stdout, stdout=subprocess.PIPE, text=True) as count:
                curl.stdout.close()
                while curl.poll() is None:
                    most = max(most, memory_mib(server.pid, "VmRSS"))
                    time.sleep(0.01)
                self.took = time.monotonic() - began
                self.lines = int(count.stdout.read())
        if curl.returncode:
            raise RuntimeError(f"curl exited with {curl.returncode} during the export")
        self.growth = most - before


def run(bench, table):
    with bench.stored(LINES) as server:
        server.rest()
        say(f"exporting {LINES:,} lines")
        rows = None
        for form in FORMS:
            export = Export(server, form)
            rows = rows or export.lines  # all formats have the same rows, but some use several lines per row
            table.add(f"statement of {rows:,} lines, {form}", rows / export.took, "lines/s", goal=300_000)
            table.add("memory it took", export.growth, "MiB", goal=16, at_most=True)
        say(f"payments without and with exports, {bench.seconds} s each")
        load, alone = server.settled_load(bench.seconds, bench.connections)
        with Repeated(lambda: Export(server, "csv")) as exports:
            beside_load, beside = server.settled_load(bench.seconds, bench.connections)
        bench.errors += load.errors + beside_load.errors
        table.add("payments beside exports, of full speed", beside / alone, "", goal=0.6)
        lines = sum(export.lines for export in exports.results)
        table.add("lines meanwhile", lines / sum(export.took for export in exports.results), "lines/s")
