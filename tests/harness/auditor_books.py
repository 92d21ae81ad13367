"""The auditor's checks of limits of payments, closed months, and lines of bank statements with their matches. Everything
is counted anew from payments, entries and matches. See auditor.py."""

import datetime
import hashlib

DAY_MS = 86_400_000
MULTI, CASH_OUT = 2, 5                           # of payments.type
COUNTED = (0, 1, 2)                              # of payments.status
OFFERED, MATCHED, REPLACED = 1, 2, 3                       # of bank_lines.state
PAYMENT, FEE, RETURN = 0, 1, 2                  # of bank_matches.kind
BY_HAND, REFERENCE, NET, PARTS, SUM = 0, 1, 2, 4, 5  # of bank_matches.rule
STEP = 64 * 1024                                 # bytes between two digests of a closed month
OCCURRENCES = 1_000                              # equal entries of one file
MISSING = (None, None, None)


def check_books(run):
    check_limits(run)
    check_periods(run)
    check_lines(run)
    check_matches(run)


# --- limits ---------------------------------------------------------------------------------------


def month_start(at):
    day = datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(day.timestamp()) * 1000


def legs_out(run):
    """(payment row, wallet, asset, what counts of the amount) of everything that left a wallet."""
    legs = {}
    for leg in run.rows("SELECT * FROM payment_legs"):
        legs.setdefault(leg["payment"], []).append((leg["source_wallet"], leg["asset"], leg["amount"]))
    for row in run.rows("SELECT * FROM payments"):
        own = [(row["source_wallet"], row["sending_asset"], row["sending_amount"])]
        for wallet, asset, amount in legs.get(row["payment"], []) if row["type"] == MULTI else own:
            if wallet is None:
                continue
            counts = amount if row["status"] in COUNTED else 0
            if row["refunded_amount"] is not None:
                counts = max(0, amount - row["refunded_amount"])
            yield row, wallet, asset, counts


def check_limits(run):
    """Each counter has what was paid in its day and month, without what failed or was given back."""
    uses = {row["payment_limit"]: row for row in run.rows("SELECT * FROM limit_use")}
    limits = run.rows("SELECT * FROM payment_limits")
    if set(uses) != {row["payment_limit"] for row in limits}:
        run.fault("limit counters", f"of {sorted(uses)}")
    paid = list(legs_out(run)) if limits else []
    for limit in limits:
        use = uses.get(limit["payment_limit"])
        if use is None:
            continue
        if use["day"] % DAY_MS or use["month"] != month_start(use["day"]):
            run.fault("limit period", tuple(use))
        found = [0, 0, 0, 0]
        newest = limit["created_at"]
        for row, wallet, asset, counts in paid:
            holder = (row["tenant"] == limit["tenant"] and asset == limit["asset"]
                      and limit["application"] in (None, row["application"]) and limit["wallet"] in (None, wallet))
            if not holder or row["payment"] <= limit["since"]:
                continue
            newest = max(newest, row["created_at"])
            if row["created_at"] < use["month"] or not counts:
                continue
            if row["created_at"] >= use["day"]:
                found[0] += counts
                found[1] += 1
            found[2] += counts
            found[3] += 1
        if not use["day"] <= newest < use["day"] + DAY_MS:
            run.fault("limit period", f"{tuple(use)}: the last payment was at {newest}")
        if tuple(found) != (use["day_amount"], use["day_payments"], use["month_amount"], use["month_payments"]):
            run.fault("limit counters", f"{tuple(use)}: the payments are {found}")


# --- closed months --------------------------------------------------------------------------------


def end_of(period):
    year, month = divmod(period + 1, 12)
    return int(datetime.datetime(year, month + 1, 1, tzinfo=datetime.timezone.utc).timestamp()) * 1000


def check_periods(run):
    """The balances at the end of each closed month have its digest, which continues that of the month before."""
    before, last, digest = None, None, bytes(32)
    for row in run.rows("SELECT * FROM closed_periods ORDER BY period"):
        if before is not None and row["period"] != before + 1:
            run.fault("closed months follow each other", row["period"])
        before, end = row["period"], end_of(row["period"])
        journal, link = run.rows("SELECT max(journal), link FROM journal WHERE at < ?", end)[0]
        if (row["journal"], row["link"]) != (journal or 0, link or bytes(32)):
            run.fault("closed month ends with its last entry set", f"{row['period']}: {row['journal']}, found {journal}")
        if row["closed_at"] < end or (last is not None and row["closed_at"] < last):
            run.fault("closed after it had ended", row["period"])
        last = row["closed_at"]
        balances = {}
        for account, amount in run.db.execute("SELECT account, amount FROM entries WHERE entry < ?",
                                              (((journal or 0) + 1) * 1024,)):
            balances[account] = balances.get(account, 0) + amount
        text = f"{row['period']}|{journal or 0}|".encode() + (link or bytes(32)) + b"\n"
        for account in sorted(balances):
            text += f"{account} {balances[account]}\n".encode()
            if len(text) >= STEP:
                digest, text = hashlib.sha256(digest + text).digest(), b""
        digest = hashlib.sha256(digest + text).digest()
        if (row["accounts"], row["digest"]) != (len(balances), digest):
            run.fault("closed month has its balances", row["period"])
        digest = row["digest"]


# --- bank lines and matches -----------------------------------------------------------------------


def mark_of(line, occurrence, of):
    parts = [line["account"], str(line["booked_on"]), str(line["amount"]), line["currency"], line["bank_reference"]]
    if not line["bank_reference"]:
        parts += [line["reference"], line["text"], line["party_name"]]
    if not line["bank_reference"] or occurrence > 1 or of:
        parts.append(str(occurrence))
    return hashlib.sha256("\0".join(parts).encode() + (b"\0" + of if of else b"")).digest()[:16]


def check_lines(run):
    """An entry is stored once, and belongs to a file with at least as many lines."""
    files = {row["statement_file"]: row for row in run.rows("SELECT * FROM statement_files")}
    stored = {}
    marks = {row["bank_line"]: row["mark"] for row in run.rows("SELECT bank_line, mark FROM bank_lines")}
    for line in run.rows("SELECT * FROM bank_lines"):
        what = f"line {line['bank_line']}"
        file = files.get(line["statement_file"])
        if file is None or file["environment"] != line["environment"]:
            run.fault("bank line of its file", what)
        stored[line["statement_file"]] = stored.get(line["statement_file"], 0) + (line["state"] != REPLACED)
        of = marks.get(line["replaces"], b"")
        if not any(mark_of(line, number, of) == line["mark"] for number in range(1, OCCURRENCES + 1)):
            run.fault("bank line has its mark", what)
        if line["booked_on"] % DAY_MS or line["imported_at"] < file["imported_at"]:
            run.fault("bank line has its day", what)
    for key, count in stored.items():
        if count > files[key]["lines"]:
            run.fault("bank line of its file", f"file {key} has {count}")


class Targets:
    """What a bank shows of payments, as (amount, currency, the recorded fee)."""

    def __init__(self, run):
        self.payments = {row["payment"]: row for row in run.rows(
            "SELECT p.*, t.environment, c.currency AS paid_in, q.total, q.fee, q.collected_amount, q.arrived_currency"
            " FROM payments p JOIN tenants t USING (tenant) LEFT JOIN connectors c ON c.connector = p.connector"
            " LEFT JOIN provider_payments q ON q.payment = p.payment")}
        self.refunds = {row["refund"]: row for row in run.rows("SELECT * FROM refunds")}

    def of(self, match):
        row, refund = self.payments.get(match["payment"]), self.refunds.get(match["refund"])
        if row is None or row["paid_in"] is None or (match["refund"] is None and match["kind"] not in (
                PAYMENT, FEE, RETURN)) or (match["refund"] is not None and match["kind"] in (PAYMENT, FEE)):
            return MISSING
        if match["refund"] is not None and (refund is None or refund["payment"] != match["payment"]):
            return MISSING
        currency = row["arrived_currency"] or row["paid_in"]
        collected = row["total"] if row["collected_amount"] is None else row["collected_amount"]
        fee = 0 if row["type"] == CASH_OUT else row["fee"]
        if match["kind"] == PAYMENT:
            return (-row["receiving_amount"] if row["type"] == CASH_OUT else collected), currency, fee
        if match["kind"] == FEE:
            return -fee, currency, 0
        if refund is None:  # a payout that failed comes back as a whole
            return row["receiving_amount"], currency, 0
        return (refund["returned"] if match["kind"] == RETURN else -refund["asked"]), currency, 0


def check_matches(run):
    """A line is matched while a match of it is not undone, its rule holds, and nothing is matched twice."""
    rows = {row["bank_match"]: row for row in run.rows("SELECT * FROM bank_matches")}
    lines = {row["bank_line"]: row for row in run.rows("SELECT * FROM bank_lines")}
    offers, targets = {}, Targets(run) if rows else None
    for row in run.rows("SELECT * FROM bank_offers"):
        offers.setdefault(row["bank_line"], []).append(row)
    undone = {row["undoes"] for row in rows.values()} - {None}
    by_line, by_target, parts = {}, {}, {}
    for row in lines.values():
        if row["replaces"] is not None:
            parts[row["replaces"]] = parts.get(row["replaces"], 0) + row["amount"]
    for key, row in rows.items():
        same = ("bank_line", "kind", "payment", "refund")
        if row["undoes"] is not None:
            first = rows.get(row["undoes"])
            if first is None or row["undoes"] >= key or first["undoes"] is not None or any(
                    first[name] != row[name] for name in same):
                run.fault("an undone match is that of the line", tuple(row))
        elif key not in undone:
            by_line.setdefault(row["bank_line"], []).append(row)
            by_target.setdefault((row["kind"], row["payment"], row["refund"]), []).append(row)
            payment, line = targets.payments.get(row["payment"]), lines.get(row["bank_line"])
            if line is None or payment is None or payment["environment"] != line["environment"]:
                run.fault("a match stays in its environment", tuple(row))
    for key, line in lines.items():
        if key in parts and parts[key] != line["amount"]:
            run.fault("a line is replaced by all of it", f"line {key} by {parts[key]}")
        state = REPLACED if key in parts else MATCHED if key in by_line else OFFERED if key in offers else 0
        if line["state"] != state:
            run.fault("state of a bank line", f"line {key} is {line['state']}, expected {state}")
        if key in by_line and key in offers:
            run.fault("state of a bank line", f"line {key} is matched and has offers")
        if key in by_line:
            check_rule(run, line, by_line[key], targets)
    for target, matches in by_target.items():
        by_rule = [row for row in matches if row["rule"] != BY_HAND]
        if len(by_rule) > 1 and any(row["rule"] != PARTS for row in by_rule):
            run.fault("a payment is matched once", f"{target} with {[row['bank_line'] for row in matches]}")
        if by_rule and all(row["rule"] == PARTS for row in matches):
            shown = sum(lines[row["bank_line"]]["amount"] for row in matches if row["bank_line"] in lines)
            if shown != targets.of(matches[0])[0]:
                run.fault("a match follows its rule", f"parts of {target} are {shown}")


def check_rule(run, line, matches, targets):
    found = [targets.of(row) for row in matches]
    if MISSING in found:
        run.fault("a match names what a bank shows", [tuple(row) for row in matches])
        return
    rules = {row["rule"] for row in matches}
    difference = abs(sum(amount for amount, _, _ in found) - line["amount"])
    allowed = {REFERENCE: {0}, NET: {line["charges"], *(fee for _, _, fee in found)}, SUM: {0, line["charges"]}}
    for rule in rules & set(allowed):
        one_currency = all(currency == line["currency"] for _, currency, _ in found)
        if difference not in allowed[rule] or not one_currency or (len(matches) > 1) != (rule == SUM):
            run.fault("a match follows its rule", f"line {line['bank_line']}: rule {rule}, difference {difference}")
