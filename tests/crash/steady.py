#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""At half load, memory, descriptors, threads, the write-ahead log and latency do not grow. COFFER_STEADY_SECONDS (10;
for a soak 1200): length. COFFER_STEADY_RATE: payments a second, by default half of the measured full speed.
COFFER_STEADY_LATENCY=0: latency is only shown, because other programs use the machine. Control: the judge must report
growing series first."""

import os
import subprocess
import tempfile
import time

from harness.clients import wait_until_settled
from harness.load import wrk
from harness.machine import binary, program
from harness.process import memory_mib, status
from harness.report import fail, judge_faults
from harness.server import Demo

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = 64
WAL_MAX_MIB = 64.0
DESCRIPTORS = 5
# Latency also depends on the machine, so a millisecond of difference in a small figure means nothing.
LATENCY_RATIO, LATENCY_SLACK_MS = 1.5, 5.0


# --- Judging ---------------------------------------------------------------------------------------


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def thirds(values):
    part = max(1, len(values) // 3)
    return median(values[:part]), median(values[-part:])


def slope(values):
    """The rise of the least-squares line from the first to the last sample."""
    count = len(values)
    middle, mean = (count - 1) / 2, sum(values) / count
    spread = sum((x - middle) ** 2 for x in range(count))
    if not spread:
        return 0.0
    return sum((x - middle) * (y - mean) for x, y in enumerate(values)) / spread * (count - 1)


def peak_rise(values):
    """The highest value of the last third over that of the first."""
    part = max(1, len(values) // 3)
    return max(values[-part:]) - max(values[:part])


def judge(samples, rss_growth_mib, latency=True):
    """The growing figures, as sentences. Both the line and the last third over the first must rise: a single slow
    window moves the line, and a cache that fills once moves the thirds."""
    faults = []
    column = {key: [sample[key] for sample in samples] for key in samples[0]}
    rss_first, rss_last = thirds(column["rss_mib"])
    allowed = max(rss_growth_mib, 0.05 * rss_first)
    if rss_last - rss_first > allowed and slope(column["rss_mib"]) > allowed:
        faults.append(f"memory grows: {rss_first:.1f} -> {rss_last:.1f} MiB")
    # They may fall and rise again: the server closes readers that it has not used for a while. A leak reaches a height
    # that was not there before, also if it begins late.
    for key in ("descriptors", "threads"):
        if peak_rise(column[key]) > DESCRIPTORS:
            faults.append(f"{key} grow: {', '.join(map(str, column[key]))}")
    if max(column["wal_mib"]) > WAL_MAX_MIB:
        faults.append(f"the write-ahead log reached {max(column['wal_mib']):.1f} MiB")
    if latency:
        first, last = thirds(column["p99_ms"])
        if last > LATENCY_RATIO * first + LATENCY_SLACK_MS and slope(column["p99_ms"]) > LATENCY_SLACK_MS:
            faults.append(f"p99 grows: {first:.1f} -> {last:.1f} ms")
    if sum(column["errors"]):
        faults.append(f"{sum(column['errors'])} requests failed")
    return faults


def check_judge():
    """The judge must report each growing figure, and nothing in a series that only fluctuates."""
    calm = [{"rss_mib": 80 + i % 3, "descriptors": 90 + i % 2, "threads": 105, "wal_mib": 30.0 + i % 5,
             "p99_ms": 8 + i % 4, "errors": 0} for i in range(24)]
    assert judge(calm, 8) == [], judge(calm, 8)
    creeping = {"rss_mib": 1.5, "descriptors": 1, "threads": 1, "wal_mib": 3, "p99_ms": 2}
    for key, step in creeping.items():
        rising = [{**sample, key: sample[key] + step * i} for i, sample in enumerate(calm)]
        assert len(judge(rising, 8)) == 1, (key, judge(rising, 8))
    closing = [{**sample, "descriptors": 90 - min(i, 9)} for i, sample in enumerate(calm)]
    assert judge(closing, 8) == [], judge(closing, 8)
    reopened = [{**sample, "descriptors": 83 if i % 5 == 2 else 90} for i, sample in enumerate(calm)]
    assert judge(reopened, 8) == [], judge(reopened, 8)
    late = [{**sample, "threads": 105 + (10 if i > 20 else 0)} for i, sample in enumerate(calm)]
    assert len(judge(late, 8)) == 1, judge(late, 8)
    hiccup = [{**sample, "p99_ms": 80 if i == 22 else sample["p99_ms"]} for i, sample in enumerate(calm)]
    assert judge(hiccup, 8) == [], judge(hiccup, 8)
    assert judge([{**sample, "errors": i == 5} for i, sample in enumerate(calm)], 8)


# --- Measuring -------------------------------------------------------------------------------------


class Load:
    """Runs wrk, at a rate or at full speed, for one window at a time."""

    def __init__(self, gateway):
        login = gateway.login()
        self.url = gateway.facts["baseUrl"]
        self.arguments = [login.headers["x-svc-auth"], login.headers["Authorization"].removeprefix("Bearer "),
                          gateway.wallet("Treasury"), gateway.wallet("Operations")]
        self.runs = 0
        self.payments = 0

    def run(self, seconds, rate):
        self.runs += 1
        per_s, p50, p99, requests, errors = wrk(os.path.join(HERE, "steady.lua"), self.url, seconds, CONNECTIONS,
                                                *self.arguments, f"run-{self.runs}", rate, timeout_s=30)
        self.payments += int(requests)
        return {"rate": float(per_s), "p50_ms": float(p50), "p99_ms": float(p99), "errors": int(errors)}


def descriptors(pid, idle):
    """Open descriptors, after the last window's connections have closed or should have. `idle`: the number at rest."""
    end = time.monotonic() + 15.0
    while True:
        count = len(os.listdir(f"/proc/{pid}/fd"))
        if count <= idle + DESCRIPTORS or time.monotonic() > end:
            return count
        time.sleep(0.25)


def look(gateway, pid, idle):
    wal = gateway.db + "-wal"
    return {"rss_mib": memory_mib(pid), "threads": int(status(pid)["Threads"]),
            "descriptors": descriptors(pid, idle),
            "wal_mib": os.path.getsize(wal) / 2**20 if os.path.exists(wal) else 0.0}


def show(number, sample):
    print(f"  {number:4d} {sample['rate']:8.0f}/s  p50 {sample['p50_ms']:7.2f}  p99 {sample['p99_ms']:7.2f} ms"
          f"  rss {sample['rss_mib']:6.1f} MiB  fds {sample['descriptors']:4d}"
          f"  threads {sample['threads']:4d}  wal {sample['wal_mib']:5.1f} MiB", flush=True)


def main():
    program("wrk")
    seconds = int(os.environ.get("COFFER_STEADY_SECONDS", "10"))
    window = int(os.environ.get("COFFER_STEADY_WINDOW", "10" if seconds >= 300 else "2"))
    rate = int(os.environ.get("COFFER_STEADY_RATE", "0"))
    # In a short run, caches are still filling, so only a leak per payment is detectable.
    growth_mib = 16.0 if seconds >= 300 else 24.0
    latency = os.environ.get("COFFER_STEADY_LATENCY", "1" if seconds >= 300 else "0") == "1"
    check_judge()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start(
            env={"COFFER_LOG_LEVEL": "warning"})
        pid = gateway.server_pid()
        load = Load(gateway)
        full = load.run(max(2, window), 1_000_000)
        rate = rate or int(full["rate"] / 2)
        print(f"steady: full speed {full['rate']:.0f}/s; {seconds} s at {rate}/s", flush=True)
        samples = []
        load.run(window, rate)  # fills the caches
        time.sleep(1.0)
        idle = descriptors(pid, CONNECTIONS - DESCRIPTORS)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            sample = load.run(window, rate)
            samples.append({**sample, **look(gateway, pid, idle)})
            show(len(samples), samples[-1])
        settled_s = wait_until_settled(gateway)
        code = gateway.stop()
        if code != 0:
            fail(f"a clean stop exited with {code}")
        faults = judge(samples, growth_mib, latency)
        verified = subprocess.run([gateway.binary, "verify", "--db", gateway.db], check=False,
                                  capture_output=True, text=True)
        if verified.returncode != 0:
            faults.append(f"coffer verify: {verified.stdout}{verified.stderr}")
        judge_faults(faults)
        first, last = thirds([sample["p99_ms"] for sample in samples])
        rss = thirds([sample["rss_mib"] for sample in samples])
        mean_rate = sum(sample["rate"] for sample in samples) / len(samples)
        print(f"count: {load.payments} payments, {mean_rate:.0f}/s for {seconds} s")
        print("control: growing series were detected in each of five ways")
        print(f"steady: all well;"
              f" rss {rss[0]:.1f} -> {rss[1]:.1f} MiB, p99 {first:.1f} -> {last:.1f} ms, wal at most"
              f" {max(sample['wal_mib'] for sample in samples):.1f} MiB, settled after {settled_s:.2f} s")


main()
