"""A ledger whose log PostgreSQL keeps, with a second machine that follows, compared with the same ledger without a log.

Runs with and without a log alternate. All of it shares this machine: three servers of PostgreSQL, two of coffer and the
load. A figure is the median over the rounds."""

import os
import statistics
import tempfile

from harness.postgres import Cluster
from harness.server import Service
from machine import Server, say

GOALS = {64: 0.65, 512: 0.75}  # settled, of the adjacent run without a log
SLOWER_GOALS = {5: 5000, 20: 4000}  # settled a second with 512 connections, by the milliseconds added to each append


def settled_per_s(bench, connections, folder, **settings):
    # A new key is a new ledger in the log.
    key = os.urandom(32).hex()
    server = Server(bench.binary, folder).start(master_key=key, workers=min(connections, 1024), **settings)
    follower = None
    if "replicate" in settings:
        os.mkdir(os.path.join(folder, "follower"))
        follower = Service(bench.binary, os.path.join(folder, "follower", "ledger.db"), settings={
            "COFFER_MASTER_KEY": key, "COFFER_REPLICATE": settings["replicate"], "COFFER_ADMIN_OFF": "true",
            "COFFER_LOG_LEVEL": "warning"})
        follower.start("--init", ready="/readyz?role=follower")
    server.settled_load(1, connections)
    load, settled = server.settled_load(bench.seconds, connections)
    bench.errors += load.errors
    if follower:
        follower.kill()
    server.stop(30)
    return settled, load.p99


def run(bench, table):
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder, Cluster(folder) as cluster:
        for connections, goal in GOALS.items():
            figures = []
            for number in range(bench.rounds):
                say(f"with and without a log, {connections} connections, {bench.seconds} s each, round {number + 1}")
                pair = []
                for settings in ({"replicate": cluster.url()}, {}):
                    with tempfile.TemporaryDirectory(dir=bench.folder) as home:
                        pair.append(settled_per_s(bench, connections, home, **settings))
                figures.append(pair)
            at = f"{connections} connections"
            with_log, without = ([one[index] for one in figures] for index in (0, 1))
            table.add(f"settled with a log, {at}", statistics.median(settled for settled, _ in with_log), "/s")
            table.add(f"p99 of the 202 with a log, {at}", statistics.median(p99 for _, p99 in with_log), "ms")
            table.add(f"settled without a log, {at}", statistics.median(settled for settled, _ in without), "/s")
            table.add("with a log, of that", statistics.median(one[0] / two[0] for one, two in figures), "", goal=goal)
        for delay_ms, goal in SLOWER_GOALS.items():
            say(f"with a log whose commits take {delay_ms} ms longer, 512 connections")
            figures = [slower_settled_per_s(bench, cluster, delay_ms) for _ in range(bench.rounds)]
            table.add(f"settled with a log, {delay_ms} ms added to each append, 512 connections",
                      statistics.median(figures), "/s", goal=goal)


def slower_settled_per_s(bench, cluster, delay_ms):
    """The server of the log sleeps before it writes a commit, whether others commit or not."""
    cluster.sql(cluster.primary, f"ALTER SYSTEM SET commit_delay = {delay_ms * 1000}",
                "ALTER SYSTEM SET commit_siblings = 0", "SELECT pg_reload_conf()")
    with tempfile.TemporaryDirectory(dir=bench.folder) as home:
        return settled_per_s(bench, 512, home, replicate=cluster.url())[0]
