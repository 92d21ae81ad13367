"""Start time, memory and file size, and the cost of many stored payments."""

import os
import subprocess

from harness.process import memory_mib
from harness.server import Service
from lists import large_file
from machine import idle_mib, say

TRIES = 7
FEW = 10_000


def served(bench, db):
    """`coffer serve` on a file. `ready_s`: seconds until /healthz returned 200."""
    return Service(bench.binary, db).start("--log-level", "error", pause_s=0.0005)


def best_ready_ms(bench, db):
    best = float("inf")
    for _ in range(TRIES):
        service = served(bench, db)
        best = min(best, service.ready_s * 1000)
        service.stop(30.0)
    return best


def idle_mib_of(bench, db):
    service = served(bench, db)
    try:
        return idle_mib(service.process.pid)
    finally:
        service.stop(30.0)


def empty_file(bench):
    db = bench.path("empty.db")
    if not os.path.exists(db):
        subprocess.run([bench.binary, "init", "--db", db, "--log-level", "error"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return db


def start(bench, table):
    many = os.path.join(large_file(bench), "large.db")
    say("starting")
    empty_ms = best_ready_ms(bench, empty_file(bench))
    many_ms = best_ready_ms(bench, many)
    table.add("ready on an empty file", empty_ms, "ms", goal=50, at_most=True)
    table.add(f"ready on {bench.stored_payments:,} payments", many_ms, "ms")
    table.add("longer than on an empty file", many_ms - empty_ms, "ms", goal=200, at_most=True)


def memory(bench, table):
    say("memory")
    table.add("resident, idle on an empty file", idle_mib_of(bench, empty_file(bench)), "MiB", goal=15, at_most=True)
    with bench.server("memory") as server:
        load = server.load(bench.seconds, bench.connections)
        bench.errors += load.errors
        table.add(f"resident at most, {bench.connections} connections paying", memory_mib(server.pid, "VmHWM"),
                  "MiB", goal=128, at_most=True)
        server.wait_until_settled()


def size(bench, table):
    """The same load on files with few and with many payments."""
    bench.stored_file(bench.stored_payments)
    say(f"bytes of a payment, and payments on few and many, {bench.seconds} s each")
    with bench.server("size") as server:
        stored = server.settled_load(max(1, FEW // 10_000), bench.connections)[0].requests
        load, few = server.settled_load(bench.seconds, bench.connections)
    payments = stored + load.requests
    table.add("bytes per settled payment", os.path.getsize(server.db) / payments, "", goal=700, at_most=True)
    with bench.stored(bench.stored_payments) as server:
        server.rest()
        many_load, many = server.settled_load(bench.seconds, bench.connections)
    bench.errors += load.errors + many_load.errors
    table.add(f"accepted and settled, about {FEW:,} stored", few, "/s")
    table.add(f"accepted and settled, {bench.stored_payments:,} stored", many, "/s")
    table.add("the one of the other", many / few, "", goal=0.85)
