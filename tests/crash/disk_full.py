#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A full disk refuses every write with `storage-full` and a time to come back, goes on reading, says so on
/healthz, and takes payments again within two seconds of space returning, in the same process. A file that
may not grow (a limit of the process, not of the disk) is another matter: the write is uncertain, so the
process exits with 70 and nothing is lost. COFFER_FULL_ROUNDS (1) says how often of each kind. Needs root
and a loop device; the mounts are this process's own."""

import os
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary, in_namespaces, program
from harness.report import Slow, fail, until_in_time
from harness.server import Demo, kill_what_is_left
from every_write import EveryWrite
from injection import EXIT_UNCERTAIN
from loop_disk import Disk, skip_without_loop_device

RESUMES_WITHIN_S = 2.0
REFUSES_WITHIN_S = 2.0
LIMIT_STEPS = (0, 100_000, 300_000, 700_000, 1_500_000)
READS = ("/v1/transactions?limit=5", "/v1/wallets", "/v1/assets", "/v1/beneficiaries", "/v1/webhooks",
         "/v1/connectors", "/livez")
FLOOR = "COFFER_DISK_FLOOR_MIB"
# (what happens, setting, bytes that are left)
WAYS = [("space sinks below the floor", {}, 100 << 20),
        ("all space is gone at once", {}, 0),
        ("all space is gone and there is no floor", {FLOOR: "0"}, 0)]


def wait_for(what, condition, within_s):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > within_s:
            raise Slow(f"{what}: not within {within_s} s")
        time.sleep(0.01)
    return time.monotonic() - began


def is_full(status, answer, connection):
    # The business family has an envelope of its own.
    named = (answer.get("code") == "storage_full"
             or str(answer.get("message")).startswith("STORAGE_FULL:"))
    return (status == 503 and named
            and int(connection.answered.get("Retry-After", "0")) > 0)


def check_writes(writes, prefix, full=is_full):
    """Every route that writes says storage-full. How many."""
    count = 0
    for operation, connection, method, path, body in writes.requests(prefix):
        status, answer = connection.call(method, path, body)
        if operation == "createBeneficiaries" and status == 200:
            # The batch is answered one by one.
            problems = [row.get("problem") or {} for row in answer["results"]]
            if all(problem.get("code") == "storage_full" for problem in problems):
                count += 1
                continue
        if not full(status, answer, connection):
            fail(f"{operation} answers {status} {answer}")
        count += 1
    return count


def use_up(writes):
    """A batch that did not fit leaves what it had of the log, where a smaller one still does. Payments take a
    dozen pages at a time, this one page."""
    connection, path = writes.connection, "/v1/wallets/" + writes.new_wallet
    count = refused = 0
    while refused < 3:
        status, answer = connection.call("PUT", path, {"walletName": f"Name {count}"})
        if status != 200 and not is_full(status, answer, connection):
            fail(f"renaming answers {status} {answer}")
        count, refused = count + 1, refused + 1 if status != 200 else 0


def check_reads(gateway):
    connection = gateway.login()  # a token too
    for path in READS:
        status, answer = connection.call("GET", path)
        if status != 200:
            fail(f"reading {path} answers {status} {answer}")


def health(gateway):
    return gateway.connect().call("GET", "/healthz")[0]


def accepts(gateway, clients):
    before = len(clients.acked)
    return lambda: len(clients.acked) > before


def fill_and_free(disk, gateway, clients, writes, number, leave, settings):
    """Once: full, judged, room again. Seconds until payments were accepted."""
    server = gateway.server_pid()
    disk.fill(leave)
    wait_for("/healthz says 503", lambda: health(gateway) == 503, REFUSES_WITHIN_S)
    time.sleep(0.3)
    if FLOOR in settings:
        use_up(writes)
    tried = check_writes(writes, f"full-{number}")
    check_reads(gateway)
    acked = len(clients.acked)
    if health(gateway) != 503:
        fail("/healthz does not say 503")
    time.sleep(0.3)
    # Without a floor a payment may still find room in the log that a larger batch had asked for.
    if len(clients.acked) != acked and FLOOR not in settings:
        fail("payments are accepted though the disk is full")
    disk.make_room()
    resumed = wait_for("payments are accepted again", accepts(gateway, clients), RESUMES_WITHIN_S)
    resumed += wait_for("/healthz says 200", lambda: health(gateway) == 200, RESUMES_WITHIN_S - resumed)
    if gateway.process.poll() is not None or gateway.server_pid() != server:
        fail("the process has ended")
    return tried, resumed


def end_and_audit(gateway, clients):
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults = clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    if faults or set(clients.acked) != set(clients.sent):
        fail(f"{len(faults)} faults, {len(clients.sent) - len(clients.acked)} unanswered: {faults[:5]}")


def run_way(number, rounds):
    """One of the ways, on a disk of its own: no faults, and (writes tried, slowest return, payments)."""
    what, settings, leave = WAYS[number]
    tried, slowest = 0, 0.0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        disk = Disk(place)
        gateway = Demo(binary(), disk.mount_point)
        gateway.log = os.path.join(place, "server.log")
        try:
            gateway.start(env=settings)
            writes = EveryWrite(gateway)
            clients = Clients(gateway, prefix=f"w{number}").start()
            for turn in range(1, rounds + 1):
                wait_for("payments are accepted", accepts(gateway, clients), 5.0)
                writes.renew()
                count, resumed = fill_and_free(disk, gateway, clients, writes, turn, leave, settings)
                tried, slowest = tried + count, max(slowest, resumed)
            end_and_audit(gateway, clients)
        finally:
            kill_what_is_left()
            disk.unmount()
    print(f"  {what}: {rounds} times, slowest back after {slowest:.2f} s", flush=True)
    return [], (tried, slowest, len(clients.acked))


def size_limit(folder, step, limited=True):
    """No file may grow beyond `step` bytes more than it has: the write fails, and how much of it is there
    is unknown."""
    gateway = Demo(binary(), folder)
    gateway.start().stop()
    limit = os.path.getsize(gateway.db) + step
    gateway.start(wrapper=("prlimit", f"--fsize={limit}:{limit}") if limited else ())
    clients = Clients(gateway, count=4, prefix=f"l{step}").start()
    try:
        code = gateway.wait(20.0 if limited else 2.0)
    except Exception:
        clients.stopping.set()
        gateway.kill()
        return None
    faults = audit(gateway.db, clients.facts_now())
    gateway.start()
    time.sleep(0.1)
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults += clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    if faults or code != EXIT_UNCERTAIN or set(clients.acked) != set(clients.sent):
        fail(f"file-size limit at {limit}: it ended with {code}, {len(faults)} faults: {faults[:5]}")
    return len(clients.acked)


def control(folder):
    """A disk with room in it: the same requests must not pass for refused ones; and a server without
    a limit must not pass for one that stopped."""
    gateway = Demo(binary(), folder).start()
    writes = EveryWrite(gateway)
    writes.renew()
    passed = 0
    for operation, connection, method, path, body in writes.requests("room"):
        status, answer = connection.call(method, path, body)
        if status // 100 != 2 and status != 402:
            fail(f"with room on the disk {operation} answers {status} {answer}")
        passed += 1
        if is_full(status, answer or {}, connection):
            fail(f"with room on the disk {operation} passes for refused")
    gateway.stop()
    if size_limit(os.path.join(folder, "free"), 0, limited=False) is not None:
        fail("a server without a limit ended")
    print(f"control: with room all {passed} requests succeed and none passes for refused; without a limit"
          " nothing ends")


def main():
    in_namespaces("mount")
    program("mkfs.ext4")
    skip_without_loop_device()
    rounds = int(os.environ.get("COFFER_FULL_ROUNDS", "1"))
    print(f"disk_full: {rounds} rounds of each way", flush=True)
    ways = [until_in_time(lambda: run_way(number, rounds)) for number in range(len(WAYS))]
    tried, slowest, acked = sum(way[0] for way in ways), max(way[1] for way in ways), sum(way[2] for way in ways)
    limited = 0
    for step in LIMIT_STEPS[::1 if rounds > 1 else 2]:
        with tempfile.TemporaryDirectory() as folder:
            limited += size_limit(folder, step)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "free"))
        control(folder)
    print(f"count: {rounds * len(WAYS)} times full, {tried} writes refused over all routes, back"
          f" within {slowest:.2f} s, {acked} payments acknowledged; file-size limit hit, exit 70, {limited}"
          " payments, 0 lost")


main()
