"""Fifty ways to make two machines lead at once. See replication_drills.py."""

import itertools
import os
import signal
import subprocess
import threading
import time

from harness.postgres import SCRIPT
from replication_world import only_transfers

TRUNCATE = "DELETE FROM coffer_log WHERE seq < (SELECT max(seq) FROM coffer_log WHERE kind = 2)"


def stop(world, old):
    """The leader is paused."""
    os.kill(old.process.pid, signal.SIGSTOP)
    return lambda: os.kill(old.process.pid, signal.SIGCONT)


def stop_with_requests(world, old):
    """The leader is paused, and gets requests that wait for it to resume."""
    connections = [old.connect(30.0).log_in(world.facts) for _ in range(3)]
    resume = stop(world, old)

    def ask(connection, number):
        world.counts["waiting requests"] += 1
        name = f"waiting-{world.counts['waiting requests']}-{number}"
        route, body = only_transfers(world, name, number)
        with world.clients.lock:
            world.clients.sent[name] = body
        try:
            status, answer = connection.call("POST", "/v1/payments/" + route, body)
        except ConnectionError:
            return
        if status == 202:
            with world.clients.lock:
                world.clients.acked[name] = answer["transactionRecordId"]

    for number, connection in enumerate(connections):
        threading.Thread(target=ask, args=(connection, number), daemon=True).start()
    return resume


def cut_from_log(world, old):
    return cut(world, old, world.network.hosts[3:])


def cut_from_all(world, old):
    return cut(world, old, [host for host in world.network.hosts if host is not world.host_of[old]])


def cut(world, old, others):
    here = [world.host_of[old]]
    world.network.cut(here, others)
    return lambda: world.network.heal(here, others)


def lock_the_log(world, old):
    """Appends of both machines wait for a lock, and then race."""
    locker = subprocess.Popen([SCRIPT, "sql", world.cluster.primary,
                               "LOCK TABLE coffer_log IN EXCLUSIVE MODE; SELECT pg_sleep(60)"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def release():
        world.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LOCK TABLE%'")
        locker.wait()
    return release


SILENCES = (stop, stop_with_requests, cut_from_log, cut_from_all, lock_the_log)
# When the leader returns: before its lease is over, between the lease and the takeover, at the takeover, after it, and
# after a truncation that followed it.
MOMENTS = ("in the lease", "after the lease", "at the takeover", "after the takeover", "after a truncation")
WAYS = list(itertools.product(SILENCES, MOMENTS, (False, True)))


def wait_for_moment(world, moment, silence, other):
    delays_s = {"in the lease": 1.0, "after the lease": 2.3, "at the takeover": 2.9 + world.dice.uniform(0, 0.5)}
    if moment in delays_s:
        time.sleep(delays_s[moment])
    elif silence is lock_the_log:  # no machine can lead meanwhile
        time.sleep(4 if moment == "after the takeover" else 9)
    else:
        world.wait_for("the other machine leads", lambda: world.balancer.leader() is other)
        world.wait_for_payments(3)
        if moment == "after a truncation":
            world.sql(TRUNCATE)


def two_leaders(world, number):
    """The leader falls silent and returns, with or without a promotion of the other machine meanwhile."""
    silence, moment, promoted = WAYS[number % len(WAYS)]
    world.kind += f" ({silence.__name__}, {moment}{', with a promotion' if promoted else ''})"
    old, other = world.leads()
    end = silence(world, old)
    if promoted:
        time.sleep(world.dice.uniform(0, 0.3))
        threading.Thread(target=world.promote, args=(other,), daemon=True).start()
    wait_for_moment(world, moment, silence, other)
    end()
    time.sleep(world.dice.uniform(0, 1))
    world.settle(may_need_seed=moment == "after a truncation")
