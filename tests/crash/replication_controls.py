"""What the judges of replication_drills.py must find, with `replicate_unsafe` and a log whose commits wait for no
standby."""

import tempfile
import time

from harness.auditor import audit
from harness.report import fail
from replication_world import World, only_transfers, pages


def pay(world, machine, name):
    route, body = only_transfers(world, name, 1)
    status, answer = machine.connect().log_in(world.facts).call("POST", "/v1/payments/" + route, body)
    if status == 202:
        world.clients.sent[name], world.clients.acked[name] = body, answer["transactionRecordId"]
    return status == 202


def lost(world, machine):
    return sum("acknowledged and lost" in fault for fault in audit(machine.db, world.clients.facts()))


def lost_by_a_promotion(world):
    """Both the primary and the leader are lost; the standby lagged, because it was cut off."""
    cluster = world.cluster
    leader, follower = world.leads()
    follower.kill()
    world.network.cut([cluster.hosts[cluster.primary]], world.standbys())
    time.sleep(0.3)
    before = len(world.clients.acked)
    world.expect_no_202(1.0, "without a quorum")
    if not world.faults:
        fail("control: the drill does not find payments that were acknowledged without a standby")
    alone = len(world.clients.acked) - before
    world.clients.stopping.set()
    leader.kill()
    cluster.fail_over()
    world.spawn(follower)
    world.wait_for("the other machine leads", lambda: world.balancer.leader() is follower)
    world.balancer.stop()
    follower.kill()
    found = lost(world, follower)
    if not found:
        fail("control: the auditor does not find payments that a promotion has lost")
    print(f"control: {alone} payments acknowledged without a standby were found, and {found} that a promotion lost",
          flush=True)


def split_log(world):
    """One server of the log is promoted while the other one lives, and each has a coffer that leads."""
    first, second = world.cluster.folders[:2]
    left, right = world.machines
    here = [world.cluster.hosts[first]]
    world.network.cut(here, [world.host_of[right]])  # first, so that it has no entry that the other server lacks
    world.network.cut(here, [world.cluster.hosts[second]])
    world.cluster.control("promote", second)
    world.wait_for("two leaders", lambda: len(world.balancer.leaders) == 2, 60)
    time.sleep(1.5)
    if not pay(world, left, "split-left") or not pay(world, right, "split-right"):
        fail("control: two machines that lead do not acknowledge")
    world.clients.stopping.set()
    world.balancer.stop()
    for machine in world.machines:
        machine.kill()
    found = world.balancer.faults()
    counts = [lost(world, machine) for machine in world.machines]
    if not found or not all(counts):
        fail(f"control: two leaders were not found: {found}, {counts} payments lost")
    if pages(left.db, world.folder) == pages(right.db, world.folder):
        fail("control: the files do not differ")
    print(f"control: two leaders were found ({found[0]}; {counts[0]} and {counts[1]} payments missing in a file)",
          flush=True)


CONTROLS = {one.__name__: one for one in (lost_by_a_promotion, split_log)}


def run_controls(names, network, dice):
    for name in names.split():
        control, own_servers = CONTROLS[name], CONTROLS[name] is split_log
        with (tempfile.TemporaryDirectory(prefix="coffer-drill-", ignore_cleanup_errors=True) as folder,
              World(folder, network, dice, waits=False, unsafe=True, own_servers=own_servers) as world):
            world.kind = "control"
            control(world.run())
            for one in network.hosts:
                others = [host for host in network.hosts if host is not one]
                network.heal([one], others)
