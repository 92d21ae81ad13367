#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: measures
"""No stranger, other tenant ("neighbour") or slow machine can stop payments. Under each of 21 attacks, the clients of
a well-behaved tenant pay, settle and read as before (p99 at most three times that of the quiet phase, or 100 ms),
/livez and /healthz respond within 250 ms, no request is rejected or lost, and memory grows by at most 64 MiB.
COFFER_LANES_SECONDS (0.8): length of each phase. COFFER_LANES: comma-separated names of attacks, or `all`; by default,
the shorter ones. COFFER_LANES_FIGURES=1 only measures. The judge must fail figures that were recorded without lanes,
and a server with one lane."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime

import lanes_attacks as attacks
from harness.calls import fetch
from harness.machine import binary, skip
from harness.report import TRIES, fail, until_in_time
from lanes_clients import Running
from lanes_control import OneLane, calm_result, recorded, recorded_text
from lanes_judge import Bounds, answered_with, few_checkpoints, judge, rows, served_in_full, stops_at_quota, table
from lanes_probe import RemoteProbe, Sampler, figures
from lanes_tls import speak_tls, tls_settings
from lanes_world import World, make_stored
from webhook_network import prepare_namespace

SETTLED_WITHIN_S = 20.0
AFTER_S = 0.5  # from the end of an attack to full recovery
SECONDS = float(os.environ.get("COFFER_LANES_SECONDS", "0.8"))
STORED = (int(os.environ.get("COFFER_LANES_PAYMENTS", "20000")),
          int(os.environ.get("COFFER_LANES_BENEFICIARIES", "5000")))
IDLE = int(os.environ.get("COFFER_LANES_IDLE", "4096"))
# Attacks that are repeated against a server with one lane; "all": each one without full load.
CONTROLS = os.environ.get("COFFER_LANES_CONTROLS", "documents,bodies").split(",")
FIGURES = os.environ.get("COFFER_LANES_FIGURES") == "1"


class Row:
    """`work`: the attack. `prepare(world)` runs before it. `meanwhile(world)` sends real requests during it and
    returns (served, sent). `stored`: on the file with many rows. `wrapper`: the command that starts the run."""

    def __init__(self, name, title, work, prepare=None, meanwhile=None, settings=None, options="", stored=False,
                 load=False, tls=False, wrapper=(), in_slice=True, **bounds):
        self.name, self.title, self.work, self.prepare, self.meanwhile = name, title, work, prepare, meanwhile
        self.settings, self.options, self.stored, self.load = settings or {}, options, stored, load
        self.tls = tls
        self.wrapper, self.in_slice, self.bounds = list(wrapper), in_slice and not load, Bounds(**bounds)


ROWS = [
    Row("pattern", "a requirement pattern that backtracks", attacks.patterned, attacks.require_pattern,
        must=(answered_with(422),)),
    Row("documents", "150 documents a second, no login", attacks.documents),
    Row("slow_exports", "70 slow readers of a statement", attacks.slow_exports, stored=True,
        must=(answered_with(200),)),
    Row("slow_provider", "70 quotes from a provider that takes 9 s", attacks.slow_quotes, attacks.start_provider),
    Row("lists", "12 list polls by time", attacks.lists, stored=True, must=(answered_with(200),)),
    Row("searches", "16 searches by free text", attacks.searches, stored=True, must=(answered_with(200),)),
    Row("passwords", "80 passwords at a time", attacks.passwords, attacks.add_user, must=(answered_with(401),)),
    Row("bodies", "64 half bodies of 1 MiB, no login", attacks.bodies, meanwhile=attacks.real_bulk,
        must=(served_in_full,)),
    Row("idlers", f"{IDLE} idle connections", attacks.idlers),
    Row("half_requests", f"{IDLE} half-sent requests", attacks.half_requests, in_slice=False),
    Row("key_set", "junk tokens, key set not reachable", attacks.junk_bearers),
    Row("names", "90 webhooks, silent name server", attacks.registrations, attacks.silence_names,
        wrapper=("unshare", "-n", "-m")),
    Row("quota", "a sandbox tenant that writes", attacks.fat_rows, attacks.fill_quota,
        settings={"COFFER_QUOTA_SANDBOX": "beneficiaries=2000,file_bytes=8MiB"}, options="--rate-limits",
        must=(stops_at_quota,)),
    Row("unread", "200 connections that never read responses, no login", attacks.unread_documents, in_slice=False),
    Row("pipelined", "2,000 pipelining connections that read nothing, no login", attacks.pipelined, in_slice=False),
    Row("half_bodies", "2,000 half bodies of 64 KiB, no login", attacks.half_bodies, in_slice=False,
        must=(answered_with(429),)),
    Row("handshakes", "half TLS handshakes", attacks.handshakes, tls=True, in_slice=False),
    Row("resets", "requests for documents and resets, no login", attacks.resets, in_slice=False),
    Row("strangers", "five concurrent attacks without login", attacks.strangers, attacks.add_user, in_slice=False),
    Row("verify", "verification under full load", attacks.verifications, stored=True, load=True, quiet_times=2.0,
        must=(few_checkpoints,)),
    Row("backup", "backup under full load", attacks.backups, stored=True, load=True, quiet_times=2.0,
        must=(few_checkpoints,)),
    Row("readers", "four overlapping readers under full load", attacks.overlapping, stored=True, load=True,
        must=(few_checkpoints,)),
]


# --- One run ---------------------------------------------------------------------------------------------------


def metric(world, name):
    page = fetch(f"http://{world.gateway.host}:{world.gateway.port}/metrics", timeout_s=30.0).text
    found = re.search(rf"^coffer_{name}(?:{{[^}}]*}})? (\S+)", page, re.M)
    return float(found.group(1)) if found else 0.0


def checkpoints(world):
    """(checkpoints, commits) so far."""
    return [int(metric(world, name + "_duration_seconds_count")) for name in ("checkpoint", "commit")]


def milliseconds(record):
    created, completed = (datetime.fromisoformat(record[key].replace("Z", "+00:00"))
                          for key in ("createdAt", "completedAt"))
    return (completed - created).total_seconds() * 1000


def settlements(world, acked, prefix):
    """Returns {number of a payment: ms from acceptance to settlement}, and the losses, as sentences."""
    end = time.monotonic() + SETTLED_WITHIN_S
    connection = world.gateway.connect(30.0)
    connection.headers = world.good.headers
    while True:
        try:
            listed = {record["transactionId"]: record for record in connection.list_transactions("")}
            left = [one for one in acked if listed.get(one, {}).get("status") != "succeeded"]
        except ConnectionError as error:
            listed, left = {}, [str(error)]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.1)
    lost = [f"{len(left)} accepted payments not settled {SETTLED_WITHIN_S:.0f} s later: {left[0]}"] if left else []
    return {int(name.removeprefix(prefix + "-")): milliseconds(record) for name, record in listed.items()
            if name.startswith(prefix + "-") and record.get("completedAt")}, lost


def attack(world, row, seconds):
    """Runs the three phases, and returns the results to judge as a dictionary."""
    prefix = f"{row.name}-{time.time():.0f}"
    load = Running(attacks.full_load, world) if row.load else None
    if load:
        time.sleep(1.0)
    sampler, probe = Sampler(world.pid, world.gateway.port, world.gateway.db), RemoteProbe(world.good, prefix)
    time.sleep(0.5)
    marks = [time.monotonic()]
    counted = [checkpoints(world)] if row.load else []
    time.sleep(seconds)
    marks.append(time.monotonic())
    if row.load:
        counted.append(checkpoints(world))
    sizes = [world.file_mib()]
    running = Running(row.work, world)
    served = None
    if row.meanwhile:
        time.sleep(min(1.0, seconds / 2))
        served = row.meanwhile(world)
    time.sleep(max(0.0, marks[1] + seconds * 2 / 3 - time.monotonic()))
    sizes.append(world.file_mib())
    time.sleep(max(0.0, marks[1] + seconds - time.monotonic()))
    marks.append(time.monotonic())
    sizes.append(world.file_mib())
    if row.load:
        counted.append(checkpoints(world))
    counts = running.end()
    time.sleep(AFTER_S)
    marks.append(time.monotonic())
    time.sleep(seconds / 2)
    marks.append(time.monotonic())
    records, acked = probe.end()
    if load:
        counts["payments beside"] = load.end()["payments"]
    samples = sampler.end()
    settled, lost = settlements(world, acked, prefix)
    phases = {name: figures(records, samples, settled, marks[first], marks[first + 1])
              for name, first in (("quiet", 0), ("during", 1), ("after", 3))}
    for name, first in (("quiet", 0), ("during", 1)) if row.load else ():
        phases[name]["checkpoints"] = [counted[first + 1][at] - counted[first][at] for at in (0, 1)]
    return {"phases": phases, "lost": lost, "counts": {str(key): value for key, value in counts.items()},
            "served": served, "grown_mib": sizes[2] - sizes[0], "grown_after_mib": sizes[2] - sizes[1],
            "load": os.getloadavg()[0]}


def run_row(row, stored, control):
    """Runs a row on a new server, in this process. `control`: behind a proxy with one lane for everything."""
    settings = dict(row.settings)
    with tempfile.TemporaryDirectory() as folder:
        if row.wrapper:
            prepare_namespace(folder)
        silent = attacks.SilentServer() if row.name == "key_set" else None
        if silent:
            settings |= {"COFFER_OAUTH_ISSUER": attacks.ISSUER, "COFFER_OAUTH_AUDIENCE": "coffer",
                         "COFFER_OAUTH_JWKS": f"https://127.0.0.1:{silent.port}/keys"}
        if row.tls:
            settings |= tls_settings(folder)
            speak_tls(settings["COFFER_TLS_CERT"])
        world = World(binary(), os.path.join(folder, "file"), settings, row.options,
                      stored if row.stored else None)
        world.helpers, world.kept, world.idle = [], [], IDLE
        try:
            if row.prepare:
                row.prepare(world)
            if control:
                OneLane(world).stand_before(world)
            result = attack(world, row, SECONDS)
        finally:
            for helper in world.helpers:
                helper.kill()
                helper.wait()
            ended_well = world.end()
        if not ended_well:
            result["lost"].append("the server did not stop cleanly after the attack")
    return result


def in_process(row, stored, control=False):
    """`run_row` in a separate process, started with the row's wrapper."""
    done = subprocess.run([*row.wrapper, sys.executable, "-B", os.path.abspath(__file__), row.name, stored,
                           str(int(control))], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail(f"{row.name} exited with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def runs_here(row):
    return not row.wrapper or not subprocess.run([*row.wrapper, "true"], check=False, capture_output=True).returncode


def check_recorded(all_rows):
    """The judge must fail the recorded figures of each attack on a gateway without lanes, and pass a calm run."""
    for row in all_rows:
        faults = judge(row.bounds, calm_result())
        if faults:
            fail(f"a calm run has faults by the bounds of {row.name}: {faults}")
        result, wanted = recorded(row.name)
        faults = judge(row.bounds, result)
        for text in wanted:
            if not any(text in fault for fault in faults):
                fail(f"the figures of {row.name} on a gateway without lanes were not detected ({text}): {faults}")


def check_one_lane(row, stored):
    """The same attack on a server with one lane: the judge must report payments or /livez. On a busy machine, the quiet
    phase may be as slow as the attack, so this also has three tries."""
    for _ in range(TRIES):
        faults = judge(row.bounds, in_process(row, stored, control=True))
        if any("payment" in fault or "livez" in fault for fault in faults):
            return
    fail(f"{row.name} on a server with one lane was not detected: {faults}")


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < IDLE + 2000:
        skip(f"a limit of {hard} open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    by_name = {row.name: row for row in ROWS}
    if len(sys.argv) > 1:
        print(json.dumps(run_row(by_name[sys.argv[1]], sys.argv[2], sys.argv[3] == "1")))
        return
    if not FIGURES:
        check_recorded(ROWS)
    names = os.environ.get("COFFER_LANES", "")
    chosen = ([row for row in ROWS if names == "all" or row.in_slice] if names in ("", "all")
              else [by_name[name] for name in names.split(",")])
    left_out = [row.name for row in chosen if not runs_here(row)]
    chosen = [row for row in chosen if row.name not in left_out]
    with tempfile.TemporaryDirectory() as folder:
        stored = os.environ.get("COFFER_LANES_FILES") or os.path.join(folder, "stored")
        if any(row.stored for row in chosen):
            make_stored(binary(), stored, *STORED)
        lines = []

        def run(row):
            result = in_process(row, stored)
            lines.extend(rows(row, result, recorded_text(row.name)))
            faults = judge(row.bounds, result)
            # With figures only, the run prints faults and continues.
            if FIGURES and faults:
                print("\n".join("    " + fault for fault in faults), flush=True)
            return ([], "") if FIGURES else (faults, "")

        for row in chosen:
            print(f"  {row.title}", flush=True)
            until_in_time(lambda: run(row), row.name)
        print(table(lines), flush=True)
        if FIGURES:
            return
        controls = [row for row in chosen if row.name in CONTROLS or (CONTROLS == ["all"] and not row.load)]
        for row in controls:
            check_one_lane(row, stored)
    if left_out:
        print(f"lanes: skipped {', '.join(left_out)}, which need namespaces")
    print(f"count: {len(chosen)} attacks of {SECONDS:.1f} s, {STORED[0]:,} payments, {STORED[1]:,} beneficiaries")
    print(f"control: {len(ROWS)} attacks by recorded figures and {len(controls)} on a server with one lane were"
          " detected")
    print("lanes: all well")


if __name__ == "__main__":
    main()
