"""Compares this build with another one: the same loads on both, and the ratio of each figure.

Only with --old BINARY. A figure is the median over the rounds. In each round, both builds run in turn on new files,
in alternating order, so that other work of the machine affects both."""

import os
import statistics
import tempfile

from harness.process import cpu_s
from machine import Server, idle_mib, say

LEGS = 100
# (figure, unit, minimum or maximum ratio of new to old, whether it is a maximum)
GOALS = (
    ("payments per second of its own CPU time, 64 connections", "/s", 2.0, False),
    ("accepted and settled, 64 connections", "/s", 1.6, False),
    ("accepted and settled, 16 connections", "/s", None, False),
    ("accepted and settled, 1 connection", "/s", None, False),
    ("p99 of the 202, 64 connections", "ms", 0.7, True),
    ("p99 of the 202, 16 connections", "ms", 0.7, True),
    ("p99 of the 202, 1 connection", "ms", 0.6, True),
    ("p99 of the 202, 1 connection, without the correction of wrk", "ms", 0.6, True),
    ("KiB written to disk per settled payment, 64 connections", "KiB", None, True),
    ("bytes per settled payment in the file", "", None, True),
    (f"legs in payments of {LEGS}, settled, 16 connections", "/s", 1.5, False),
    ("GET /v1/wallets/{id}, 64 connections", "/s", 1.3, False),
    ("resident, idle", "MiB", None, True),
)


def written_kib(pid):
    """KiB that the process has written to disk, for the write-ahead log and the file."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        counters = dict(line.split(": ") for line in file.read().splitlines())
    return int(counters["write_bytes"]) / 1024


def paid(server, seconds, connections, figures, name):
    load, settled = server.settled_load(seconds, connections)
    figures[f"accepted and settled, {name}"] = settled
    figures[f"p99 of the 202, {name}"] = load.p99
    return load


def measure(bench, binary):
    """One round on one build. Returns {name of the figure: value}."""
    figures = {}
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        server = Server(binary, folder, "versus.db").start()
        try:
            figures["resident, idle"] = idle_mib(server.pid)
            server.load(1, 64)
            server.wait_until_settled()
            size, disk, cpu = os.path.getsize(server.db), written_kib(server.pid), cpu_s(server.pid)
            load = paid(server, bench.seconds, 64, figures, "64 connections")
            count = load.requests
            figures[GOALS[0][0]] = count / (cpu_s(server.pid) - cpu)
            figures["KiB written to disk per settled payment, 64 connections"] = (written_kib(server.pid) - disk) / count
            figures["bytes per settled payment in the file"] = (os.path.getsize(server.db) - size) / count
            loads = [load, paid(server, bench.seconds, 16, figures, "16 connections"),
                     paid(server, bench.seconds, 1, figures, "1 connection")]
            times = sorted(server.response_times(bench.seconds))
            figures["p99 of the 202, 1 connection, without the correction of wrk"] = times[len(times) * 99 // 100]
            server.wait_until_settled()
            load, settled = server.settled_load(bench.seconds, 16, legs=LEGS)
            figures[f"legs in payments of {LEGS}, settled, 16 connections"] = settled * LEGS
            path = "/v1/wallets/" + server.facts["wallets"][0]["id"]
            reads = server.load(bench.seconds, 64, legs=0, path=path)
            figures["GET /v1/wallets/{id}, 64 connections"] = reads.rate
            bench.errors += sum(one.errors for one in (*loads, load, reads))
        finally:
            server.stop()
        server.verify()
    return figures


def run(bench, table):
    if not bench.old:
        say("skipped: use --old BINARY to compare with another build")
        return
    rounds = {bench.old: [], bench.binary: []}
    for at in range(bench.rounds):
        order = [bench.old, bench.binary]
        for binary in order if at % 2 == 0 else reversed(order):
            say(f"round {at + 1} of {bench.rounds}: the {'old' if binary == bench.old else 'new'} build")
            rounds[binary].append(measure(bench, binary))
    for name, unit, goal, at_most in GOALS:
        old, new = (statistics.median(figures[name] for figures in rounds[binary]) for binary in
                    (bench.old, bench.binary))
        table.add(f"{name}, old", old, unit)
        table.add(f"{name}, new", new, unit)
        table.add("the new of the old", new / old, "", goal=goal, at_most=at_most)
