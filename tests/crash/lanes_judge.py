"""The judge of lanes.py: bounds for the effect of an attack on others, the faults of a run, and the results table."""

from harness.report import SLOW
from lanes_probe import KINDS

# A payment or read may take three times as long as in the quiet phase of the same run, and always 100 ms.
QUIET_TIMES, AT_LEAST_MS = 3.0, 100.0
LIVE_MAX_MS = 250.0
# Searches and exports of the well-behaved clients may wait for their narrow lane.
NARROW_P99_MS = 1000.0
GROWTH_MIB = 64.0
WAL_MAX_MIB = 128.0
CHECKPOINT_TIMES = 4.0


class Bounds:
    """Bounds that differ for a row. `quiet_times`: factor over the quiet phase, for payments and settlement.
    `growth_mib`: growth of resident memory and socket buffers. `live_ms`: maximum for /livez and /healthz."""

    def __init__(self, quiet_times=QUIET_TIMES, at_least_ms=AT_LEAST_MS, growth_mib=GROWTH_MIB, live_ms=LIVE_MAX_MS,
                 must=()):
        self.quiet_times, self.at_least_ms, self.growth_mib = quiet_times, at_least_ms, growth_mib
        self.live_ms, self.must = live_ms, must


def judge(bounds, result):
    """The faults, as sentences. All begin with SLOW, because a busy machine may cause them and a repetition may pass,
    except lost payments and responses that no overload explains."""
    quiet, during, after = (result["phases"][name] for name in ("quiet", "during", "after"))
    faults = []

    def late(what, key, phase, name, allowed):
        if phase[key] > allowed:
            faults.append(f"{SLOW}{what} {name} the attack: {phase[key]:.0f} ms, allowed {allowed:.0f} ms")

    for kind, what in (("payment_p99_ms", "p99 of payments"), ("settle_p99_ms", "p99 of settlement"),
                       ("read_p99_ms", "p99 of reads")):
        allowed = max(bounds.quiet_times * quiet[kind], bounds.at_least_ms)
        late(what, kind, during, "during", allowed)
        late(what, kind, after, "after", allowed)
    for kind in ("search", "export"):
        late(f"p99 of each {kind}", kind + "_p99_ms", during, "during", NARROW_P99_MS)
    for kind in ("livez", "healthz"):
        late(f"/{kind} at most", kind + "_max_ms", during, "during", bounds.live_ms)
    for kind in KINDS:
        for name, phase in (("during", during), ("after", after)):
            rejected, unanswered = phase[kind + "_rejected"], phase[kind + "_unanswered"]
            if not phase[kind + "_count"]:
                faults.append(f"no {kind} requests were sent {name} the attack")
            if rejected:
                count = phase[kind + "_count"]
                faults.append(f"{SLOW}{rejected} of {count} {kind} requests rejected {name} the attack")
            if unanswered:
                faults.append(f"{SLOW}{unanswered} of {phase[kind + '_count']} {kind} requests without a response"
                              f" {name} the attack")
            if phase[kind + "_strange"]:
                faults.append(f"{kind} requests got {phase[kind + '_strange']} {name} the attack")
    for key, what in (("rss_mib", "resident memory"), ("buffers_mib", "socket buffers")):
        growth = during[key] - quiet[key]
        if growth > bounds.growth_mib:
            faults.append(f"{SLOW}{what} grew by {growth:.0f} MiB, allowed {bounds.growth_mib:.0f}")
    if max(during["wal_mib"], after["wal_mib"]) > WAL_MAX_MIB:
        faults.append(f"{SLOW}the write-ahead log reached {max(during['wal_mib'], after['wal_mib']):.0f} MiB")
    faults += result["lost"]
    for must in bounds.must:
        faults += [SLOW + fault for fault in must(result)]
    return faults


# --- Conditions of single attacks -----------------------------------------------------------------------------


def served_in_full(result):
    served, asked = result["served"]
    return [] if served == asked else [f"{served} of {asked} real requests served during the attack"]


def answered_with(*wanted):
    """Whether the attack reached its target handler."""
    def check(result):
        counts = result["counts"]
        return [] if any(counts.get(str(status), 0) for status in wanted) else [
            f"the attack never got {' or '.join(map(str, wanted))}: {counts}"]
    return check


def few_checkpoints(result):
    """Checkpoints per commit, compared with the quiet phase."""
    quiet, during = (result["phases"][name]["checkpoints"] for name in ("quiet", "during"))
    if not during[1] or not quiet[1]:
        return [f"no commits were counted: {quiet}, {during}"]
    allowed = max(1.0, CHECKPOINT_TIMES * max(quiet[0], 1) / quiet[1] * during[1])
    return [] if during[0] <= allowed else [
        f"{during[0]} checkpoints in {during[1]} commits during the attack, {quiet[0]} in {quiet[1]} before;"
        f" allowed {allowed:.0f}"]


def stops_at_quota(result):
    """The quota rejects requests, and the file hardly grows in the last third of the attack."""
    faults = answered_with(422)(result)
    grown, beyond = result["grown_mib"], result["grown_after_mib"]
    if beyond > max(8.0, 0.2 * grown):
        faults.append(f"the file grew by {grown:.0f} MiB, {beyond:.0f} MiB of it in the last third")
    return faults


# --- The table -------------------------------------------------------------------------------------------------

HEADINGS = ("attack", "phase", "payments p50/p99 ms", "settled p99 ms", "reads p99 ms", "search, export p99 ms",
            "/livez p99/max ms", "/healthz max ms", "RSS MiB", "buffers MiB", "WAL MiB", "rejected/no response", "of",
            "without lanes", "attack")


def more(result):
    """The responses to the attack, and its other counts."""
    parts = [", ".join(f"{count} x {what}" for what, count in sorted(result["counts"].items())) or "no response yet"]
    if result["served"]:
        parts.append("{} of {} real requests".format(*result["served"]))
    for phase in ("quiet", "during"):
        if "checkpoints" in result["phases"][phase]:
            parts.append("{1} commits, {0} checkpoints {2}".format(*result["phases"][phase]["checkpoints"], phase))
    return "; ".join([*parts, f"file +{result['grown_mib']:.0f} MiB", f"load {result['load']:.1f}"])


def rows(row, result, before):
    """The row of one attack. `before`: the figures without lanes."""
    for phase, figures in result["phases"].items():
        rejected = sum(figures[kind + "_rejected"] for kind in KINDS)
        unanswered = sum(figures[kind + "_unanswered"] for kind in KINDS)
        count = sum(figures[kind + "_count"] for kind in KINDS)
        yield (row.name, phase, f"{figures['payment_p50_ms']:.0f}/{figures['payment_p99_ms']:.0f}",
               f"{figures['settle_p99_ms']:.0f}", f"{figures['read_p99_ms']:.0f}",
               f"{figures['search_p99_ms']:.0f}, {figures['export_p99_ms']:.0f}",
               f"{figures['livez_p99_ms']:.0f}/{figures['livez_max_ms']:.0f}", f"{figures['healthz_max_ms']:.0f}",
               f"{figures['rss_mib']:.0f}", f"{figures['buffers_mib']:.0f}", f"{figures['wal_mib']:.0f}",
               f"{rejected}/{unanswered}", str(count),
               *((before, more(result)) if phase == "during" else ("", "")))


def table(lines):
    text = [HEADINGS, *lines]
    widths = [max(len(row[column]) for row in text) for column in range(len(HEADINGS))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in text)
