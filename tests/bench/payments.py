"""Payments: durably accepted and settled, over one connection and many, compared with three ceilings."""

import ceilings
from harness.process import cpu_s
from machine import PAY, say

LEGS = 100


def run(bench, table):
    say(f"the HTTP library, SQLite and PostgreSQL, {bench.seconds} s each")
    http = ceilings.http_library(bench, PAY, 1)
    sqlite, _ = ceilings.sqlite(bench)
    postgres = ceilings.postgres(bench)
    say(f"coffer, {bench.seconds} s each")
    with bench.server("payments") as server:
        before = cpu_s(server.pid)
        load, settled = server.settled_load(bench.seconds, bench.connections)
        cpu = cpu_s(server.pid) - before
        bench.errors += load.errors
        at = f"{bench.connections} connections"
        table.add(f"accepted durably, {at}", load.rate, "/s")
        table.add(f"accepted and settled, {at}", settled, "/s", goal=15_000)
        table.add(f"p99 of the 202, {at}", load.p99, "ms", goal=20, at_most=True)
        table.add("payments per second of its own CPU time", load.requests / cpu, "/s", goal=5_000)
        table.add("the HTTP library alone, no work", http.rate, "/s")
        table.add("coffer, accepted, of that", load.rate / http.rate, "")
        table.add(f"SQLite alone, batches of {bench.connections}, no HTTP", sqlite, "/s")
        table.add("coffer, settled, of that", settled / sqlite, "", goal=0.40)
        if postgres:
            rate, clients = postgres
            table.add(f"PostgreSQL, accepted and settled, {clients} clients", rate, "/s")
            table.add("coffer, settled, of that", settled / rate, "", goal=2.5)
        few(bench, table, server)


def few(bench, table, server):
    """Fewer connections, and payments with many legs."""
    load = server.load(bench.seconds, 16)
    table.add("p99 of the 202, 16 connections", load.p99, "ms", goal=8, at_most=True)
    server.wait_until_settled()
    load = server.load(bench.seconds, 1)
    table.add("accepted durably, 1 connection", load.rate, "/s", goal=2_000)
    server.wait_until_settled()
    load, settled = server.settled_load(bench.seconds, 16, legs=LEGS)
    table.add(f"legs in payments of {LEGS}, settled", settled * LEGS, "/s", goal=50_000)
    bench.errors += load.errors
