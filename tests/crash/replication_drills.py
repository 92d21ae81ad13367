#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=45 timeout=600
"""Drills of two coffers that share a log in PostgreSQL with two standbys, under load. Each of them, each server of the
log and the clients are on a host of their own (network namespaces), so that any two can be cut off from each other:
packets are dropped without a sign. A load balancer asks /readyz; a supervisor restarts what ends. Nothing that was
acknowledged may be lost or doubled, the files of the two machines must be equal at the end, the log must have one
leader for each epoch, and no machine may say that it leads after another one did.

Controls, with `replicate_unsafe` and standbys for which no commit waits: the same judges must find payments that were
acknowledged while no standby had them, payments that a promotion lost, and two machines that lead at once. The control
of a wrong promotion is the right one, which must not make a machine refuse.

COFFER_DRILLS: kinds and their counts, such as `kill=100 pause=50`; see KINDS. COFFER_DRILLS_SEED: of all delays.
COFFER_DRILLS_CLIENTS (4): clients, which each make up to 80 payments a second.
COFFER_DRILLS_GOALS=1: fails also if a takeover takes longer than promised. COFFER_DRILLS_CONTROLS
(lost_by_a_promotion): controls, such as `lost_by_a_promotion split_log`."""

import os
import signal
import statistics
import sys
import tempfile
import time

from harness.machine import in_namespaces
from harness.network import Network
from harness.report import judge_faults
from replication_controls import run_controls
from replication_ways import two_leaders
from replication_world import CONFIGURATION, FOLLOWS, UNCERTAIN, World, pages, seeded

SMALL = "kill=1 cut_follower_log=1 cancelled=1"
WAITS = " FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
CURRENT_S = 3.2  # since the file of a follower that is up to date had everything, and the rounding of a drill
MEDIAN_S, LONGEST_S = 4.0, 5.0  # from the death of the leader to the next 202
TRUNCATE = "DELETE FROM coffer_log WHERE seq < (SELECT max(seq) FROM coffer_log WHERE kind = 2)"


def kill(world, _):
    old, _ = world.leads()
    time.sleep(world.dice.uniform(0, 0.5))
    began = time.monotonic()
    old.process.kill()
    world.expect_exit(old, -signal.SIGKILL, "kill")
    time.sleep(0.05)  # until the clients have noted the responses that arrived before
    world.next_202(began)
    world.settle()


def pause(world, _, then=None):
    """SIGSTOP for longer than the lease."""
    old, _ = world.leads()
    time.sleep(world.dice.uniform(0, 0.5))
    began = time.monotonic()
    os.kill(old.process.pid, signal.SIGSTOP)
    time.sleep(0.05)
    world.next_202(began)
    if then:
        then()
    time.sleep(world.dice.uniform(0, 1))
    os.kill(old.process.pid, signal.SIGCONT)
    world.expect_exit(old, UNCERTAIN, "a leader that resumes")
    return world.settle(may_need_seed=then is not None)


def truncated(world, number):
    """The log drops what the paused leader has, also its last entry. It must be refused, and asks for a seed."""
    if not pause(world, number, lambda: world.sql(TRUNCATE)):
        world.fault("a machine behind a truncation did not ask for a seed")


def primary(world, _):
    """The primary of the log is lost, and the standby that has received most is promoted."""
    old, _ = world.leads()
    time.sleep(world.dice.uniform(0, 0.5))
    lost = world.cluster.fail_over()
    began = time.monotonic()
    world.expect_exit(old, UNCERTAIN, "a leader whose log is lost")
    world.next_202(began)
    world.cluster.add_standby(lost)
    world.settle()


def vanished(world, _):
    """As `primary`, but the machine of the primary is gone, so that nothing responds for it."""
    old, _ = world.leads()
    here = [world.cluster.hosts[world.cluster.primary]]
    others = [host for host in world.network.hosts if host not in here]
    time.sleep(world.dice.uniform(0, 0.5))
    world.network.cut(here, others)
    lost = world.cluster.fail_over()
    began = time.monotonic()
    world.expect_exit(old, UNCERTAIN, "a leader whose log is lost")
    world.spawn(old)
    world.next_202(began, 40)
    world.network.heal(here, others)
    world.cluster.add_standby(lost)
    world.settle()


def return_to(world, server):
    """The server that has most is started again, and no other."""
    for wrong in list(world.cluster.running):
        world.cluster.stop(wrong)
    world.cluster.resume(server)
    world.cluster.primary = server


def restore_standbys(world):
    for machine in world.machines:
        if machine.process.poll() is not None:
            world.spawn(machine)
    for standby in set(world.cluster.folders) - world.cluster.running:
        world.cluster.add_standby(standby)
    world.settle()


def lagging(world, _):
    """A standby that lags is promoted. Both machines say so, and change nothing."""
    cluster, lost = world.cluster, world.cluster.primary
    first, second = sorted(cluster.running - {lost}, key=lambda _: world.dice.random())
    leader, follower = world.leads()
    cluster.stop(second)
    world.wait_for_payments(world.dice.randint(1, 60))
    time.sleep(0.5)  # until the follower has read them
    said = {machine: len(machine.said()) for machine in world.machines}
    for one in (lost, first):
        cluster.stop(one)
    cluster.resume(second)
    cluster.promote(second)
    cluster.add_standby(lost)
    world.expect_exit(leader, UNCERTAIN, "a leader whose log is lost")
    world.expect_exit(follower, CONFIGURATION, "a follower that has more than the log")
    before = [pages(machine.db, world.folder) for machine in world.machines]
    for machine in world.machines:
        world.spawn(machine)
    for machine, content in zip(world.machines, before):
        world.expect_exit(machine, CONFIGURATION, "a machine that starts with more than the log has")
        if "gone apart" not in machine.said()[said[machine]:] or \
                "a standby of it that lagged was promoted, return to the most advanced one" not in machine.said():
            world.fault("a machine does not say what happened and what to do")
        if pages(machine.db, world.folder) != content:
            world.fault("a machine has changed its file")
    return_to(world, first)
    cluster.promote(first)
    restore_standbys(world)


def cut_leader_log(world, _):
    old, _ = world.leads()
    cut_off(world, old, world.network.hosts[3:])


def cut_all_of_leader(world, _):
    old, _ = world.leads()
    cut_off(world, old, [host for host in world.network.hosts if host is not world.host_of[old]])


def cut_off(world, old, others):
    """The leader cannot reach the log. It ends, also without clients who would notice, and cannot lead again."""
    here = [world.host_of[old]]
    time.sleep(world.dice.uniform(0, 0.5))
    began = time.monotonic()
    world.network.cut(here, others)
    time.sleep(0.05)
    world.next_202(began)
    world.expect_exit(old, UNCERTAIN, "a leader that cannot reach the log")
    world.spawn(old)
    world.wait_for_payments(20)
    time.sleep(world.dice.uniform(0, 2))
    if old.process.poll() is not None:
        world.fault(f"a machine that cannot reach the log ends: {old.process.poll()}")
    world.network.heal(here, others)
    world.settle()


def cut_leader_clients(world, _):
    """The leader goes on leading, until an operator promotes the other machine."""
    old, follower = world.leads()
    here = [world.host_of[old]]
    world.network.cut(here, [world.me])
    time.sleep(4.5)
    if not follower.answers(FOLLOWS):
        world.fault("the follower does not follow a leader that its clients cannot reach")
    began = time.monotonic()
    if not world.promote(follower):
        world.fault("coffer replica promote fails")
    world.next_202(began)
    world.expect_exit(old, UNCERTAIN, "the leader before a promotion")
    world.network.heal(here, [world.me])
    world.settle()


def cut_follower_log(world, _):
    """The load does not notice. The follower says that it is not up to date, and does not lead."""
    leader, follower = world.leads()
    here, others = [world.host_of[follower]], world.network.hosts[3:]
    world.network.cut(here, others)
    began, end, current = time.monotonic(), time.monotonic() + world.dice.uniform(4, 10), 0
    while time.monotonic() < end:
        world.wait_for_payments(5, 2.0)
        current += time.monotonic() - began > CURRENT_S and follower.answers(FOLLOWS)
        time.sleep(0.1)
    if current:
        world.fault("a follower without its log says that it is up to date")
    if world.balancer.leader() is not leader:
        world.fault("the leader has changed")
    world.network.heal(here, others)
    world.settle()
    if world.balancer.leader() is not leader:
        world.fault("the leader has changed after the cut")


def cut_primary_standbys(world, number):
    """The log has no quorum: nothing is acknowledged, and no one leads. Then the cut ends, or a standby is promoted."""
    old, _ = world.leads()
    cluster = world.cluster
    here, others = [cluster.hosts[cluster.primary]], world.standbys()
    world.network.cut(here, others)
    time.sleep(0.3)
    before = len(world.clients.acked)
    world.expect_exit(old, UNCERTAIN, "a leader whose log has no quorum")
    world.spawn(old)
    world.expect_no_202(world.dice.uniform(2, 8), "without a quorum")
    if len(world.clients.acked) != before:
        world.fault("payments were acknowledged without a quorum")
    if number % 2:
        lost = cluster.fail_over()
        world.network.heal(here, others)
        cluster.add_standby(lost)
    else:
        world.network.heal(here, others)
        cluster.wait_for_standbys()
    world.settle()


def cancelled(world, number):
    """An administrator cancels the wait of an append for its quorum. Its result is unknown, whatever the server says.
    Then the cut ends, or a standby is promoted, which does not have the entry that both machines have read."""
    old, _ = world.leads()
    cluster = world.cluster
    here, others = [cluster.hosts[cluster.primary]], world.standbys()
    said = len(old.said())
    world.network.cut(here, others)
    world.wait_for("an append that waits", lambda: world.sql("SELECT count(*)" + WAITS) != ["0"], 1.5)
    before = len(world.clients.acked)
    world.sql("SELECT pg_cancel_backend(pid)" + WAITS)
    world.expect_exit(old, UNCERTAIN, "a leader whose append was cancelled")
    if "canceling wait for synchronous replication" not in old.said()[said:]:
        world.fault("the leader does not name the warning: " + old.said()[said:][-500:])
    world.spawn(old)
    time.sleep(1)
    if len(world.clients.acked) != before:
        world.fault("payments were acknowledged without a quorum")
    lost = cluster.primary
    if number % 2:
        cluster.fail_over()
        for machine in world.machines:
            world.expect_exit(machine, CONFIGURATION, "a machine that has read an entry that the log has lost")
        return_to(world, lost)
    world.network.heal(here, others)
    cluster.wait_for_standbys()
    restore_standbys(world)


def restarted(world, _):
    """The primary is restarted while an append waits for its quorum, and commits the entry alone. Machines do not read
    from a server without standbys, so they go on when a standby is promoted, which does not have the entry."""
    old, _ = world.leads()
    cluster = world.cluster
    here, others = [cluster.hosts[cluster.primary]], world.standbys()
    world.network.cut(here, others)
    world.wait_for("an append that waits", lambda: world.sql("SELECT count(*)" + WAITS) != ["0"], 1.5)
    before = len(world.clients.acked)
    cluster.stop(cluster.primary)
    cluster.resume(cluster.primary)
    world.expect_exit(old, UNCERTAIN, "a leader whose log is restarted")
    world.spawn(old)
    time.sleep(world.dice.uniform(1, 5))
    if len(world.clients.acked) != before:
        world.fault("payments were acknowledged without a quorum")
    lost = cluster.fail_over()
    world.network.heal(here, others)
    cluster.add_standby(lost)
    world.settle()


def slow_log(world, number):
    """Each append takes 20 ms or 200 ms longer, which no client notices, or 6 s, which is longer than the lease."""
    delay_s = (0.02, 0.2, 6.0)[number % 3]
    leader, _ = world.leads()
    world.sql("CREATE OR REPLACE FUNCTION coffer_slow() RETURNS trigger LANGUAGE plpgsql AS"
              f" 'BEGIN PERFORM pg_sleep({delay_s}); RETURN NULL; END'")
    world.sql("CREATE OR REPLACE TRIGGER slow AFTER INSERT ON coffer_log FOR EACH STATEMENT EXECUTE FUNCTION"
              " coffer_slow()")
    if delay_s < 1:
        began = time.monotonic()
        world.wait_for_payments(int(10 / delay_s ** 0.5))
        took = time.monotonic() - began
        world.counts[f"payments/s at {delay_s * 1000:.0f} ms"] = round(10 / delay_s ** 0.5 / took)
        if world.balancer.leader() is not leader:
            world.fault(f"an append of {delay_s} s made another machine lead")
    else:
        world.expect_exit(leader, UNCERTAIN, "a leader whose append takes longer than its lease")
        world.spawn(leader)
        world.expect_no_202(8, "while no append ends within the lease")
    world.sql("DROP TRIGGER slow ON coffer_log")
    world.settle()


KINDS = {one.__name__: one for one in (
    kill, pause, truncated, primary, vanished, lagging, cut_leader_log, cut_leader_clients, cut_follower_log,
    cut_primary_standbys, cut_all_of_leader, cancelled, restarted, slow_log, two_leaders)}


def plan():
    """(kind, number) of each drill, in the order of their kinds."""
    out = []
    for word in os.environ.get("COFFER_DRILLS", SMALL).split():
        kind, _, count = word.partition("=")
        if kind not in KINDS:
            sys.exit(f"COFFER_DRILLS: no kind {kind}; use {' '.join(KINDS)}")
        out += [(kind, number) for number in range(int(count))]
    return out


def drill(network, dice):
    with (tempfile.TemporaryDirectory(prefix="coffer-drill-", ignore_cleanup_errors=True) as folder,
          World(folder, network, dice) as world):
        world.run()
        for kind, number in plan():
            world.kind = f"{kind} {number + 1}"
            before, began = len(world.clients.acked), time.monotonic()
            KINDS[kind](world, number)
            world.counts[kind] += 1
            print(f"  {world.kind}: {time.monotonic() - began:.1f} s, {len(world.clients.acked) - before} payments",
                  flush=True)
        world.finish()
        return world


def report(world):
    """Prints what was done. Returns the faults of the times."""
    faults = []
    print("count: " + ", ".join(f"{count} {name}" for name, count in world.counts.items()))
    print(f"count: {len(world.clients.acked)} payments acknowledged, {world.clients.repeats} of them as repetitions, "
          f"{len({one.epoch for one in world.balancer.seen})} epochs")
    for kind, times in world.to_202.items():
        median, longest = statistics.median(times), max(times)
        print(f"count: {kind}: {len(times)} times, next 202 after {median:.1f} s (median), {longest:.1f} s (longest)")
        if kind == "kill" and os.environ.get("COFFER_DRILLS_GOALS") and (median > MEDIAN_S or longest > LONGEST_S):
            faults.append(f"next 202 after {median:.1f} s (median) and {longest:.1f} s (longest)")
    return faults


def main():
    in_namespaces("mount", "net")
    seed = int(os.environ.get("COFFER_DRILLS_SEED", str(time.time_ns() % 1_000_000)))
    print(f"COFFER_DRILLS_SEED={seed} COFFER_DRILLS='{os.environ.get('COFFER_DRILLS', SMALL)}'", flush=True)
    with Network(5) as network:
        run_controls(os.environ.get("COFFER_DRILLS_CONTROLS", "lost_by_a_promotion"), network, seeded(seed))
        world = drill(network, seeded(seed))
    faults = report(world)
    judge_faults(world.faults + faults)
    print("0 lost, 0 doubled, files equal, one leader for each epoch")


if __name__ == "__main__":
    main()
