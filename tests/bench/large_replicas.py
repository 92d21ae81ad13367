"""Multiplies sample payments: writes every row of a payment again with new keys and other wallets, in the order and
with the balances and the hash chain that coffer would write.

The rows of a payment are those that refer to it by a foreign key, and its entries. A column keeps the value of the
sample unless `value_of` has a rule for its name, so new columns are copied."""


FAR = 4_102_444_800_000  # the year 2100, in ms: work that is due then stays pending
ONRAMP_REFERENCE = 7     # stored value of the type
STEP_MS = 10             # time between two steps of a payment
LINES_PER_SET = 1024
AMOUNTS = {"sending_amount", "receiving_amount", "min_receiving", "amount", "fee", "total", "send_amount",
           "receive_amount", "collected_amount"}
ACCOUNTS = {"account", "counterparty"}
SINCE_CREATION = {"processing_after", "completed_after", "updated_after"}
WALLETS = {"source_wallet", "destination_wallet"}


def is_time(column):
    return column == "at" or (column.endswith("_at") and column not in ("due_at", "expires_at"))


def columns_of(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def insert_into(db, table):
    names = columns_of(db, table)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def tables_of_payments(db):
    """(table, its column with the payment)."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    return [(name, key[3]) for name in names for key in db.execute(f"PRAGMA foreign_key_list({name})")
            if key[2] == "payments"]


class Sample:
    """The rows of one payment by table, as dictionaries."""

    def __init__(self, db, payment):
        self.rows = {"payments": self.read(db, "payments", "payment", payment)}
        for table, column in tables_of_payments(db):
            self.rows[table] = self.read(db, table, column, payment)
        self.sent = db.execute("SELECT account, amount FROM payment_holds WHERE payment = ?", (payment,)).fetchall()
        self.held = db.execute("SELECT account, amount FROM payment_holds WHERE payment = ? AND state = 0",
                               (payment,)).fetchall()
        self.rows["entries"] = [
            {**entry, "set": number} for number, entry_set in enumerate(self.rows["journal"])
            for entry in self.read(db, "entries", f"entry / {LINES_PER_SET}", entry_set["journal"])]
        self.weight = 1.0

    @staticmethod
    def read(db, table, column, value):
        names = ", ".join(columns_of(db, table))  # not those that SQLite computes
        cursor = db.execute(f"SELECT {names} FROM {table} WHERE {column} = ?", (value,))
        names = [one[0] for one in cursor.description]
        return [dict(zip(names, row)) for row in cursor]

    @property
    def record(self):
        return self.rows["payments"][0]

    @property
    def kind(self):
        return self.record["type"], self.record["status"]

    def copy(self):
        made = Sample.__new__(Sample)
        made.rows = {table: [dict(row) for row in rows] for table, rows in self.rows.items()}
        made.weight, made.sent, made.held = self.weight, self.sent, self.held
        return made


def initiated(sample):
    """The sample of an own transfer before its settlement."""
    made = sample.copy()
    made.record.update(status=0, version=1, processing_after=None, completed_after=None, updated_after=0,
                       settle_at=FAR)
    made.rows["events"] = made.rows["events"][:1]
    made.rows["journal"], made.rows["entries"] = [], []
    made.held = made.sent
    return made


def expired(sample):
    """The sample of a collection whose payer never paid."""
    made = sample.copy()
    record, last = made.record, made.rows["events"][-1]
    at = max(event["at"] for event in made.rows["events"]) + 1
    after = at - record["created_at"]
    record.update(status=7, version=record["version"] + 1, completed_after=after, updated_after=after)
    made.rows["provider_jobs"] = []
    made.rows["provider_payments"][0]["state"] = 3
    made.rows["events"].append({**last, "type": 3, "version": record["version"], "at": at})
    return made


class Maker:
    """Compiles a sample into a function that appends the rows of another payment like it.

    Its variables: n and p (number and key), t (ms), m (factor of all amounts), w0 w1 and a0 a1 (two wallets and
    their accounts), b and d (a beneficiary and its destination)."""

    def __init__(self, sample, wallets, accounts, pooled):
        self.sample, self.wallets, self.accounts = sample, wallets, accounts
        self.pooled = pooled and sample.record["type"] == 5
        self.created = sample.record["created_at"]
        times = {at for rows in sample.rows.values() for row in rows for at in self.times_of(row)}
        self.ranks = {at: rank for rank, at in enumerate(sorted(times))}

    def times_of(self, row):
        for column, value in row.items():
            if value is not None and is_time(column):
                yield value
            elif value is not None and column in SINCE_CREATION:
                yield self.created + value

    def value_of(self, table, column, value):
        if column == "payment":
            return "p"
        if column == "id":
            return "uid(t)"
        if value is None:
            return "None"
        # Of a payment on a reference, both are the payment's ID at the provider.
        is_arrival = column == "provider_reference" and self.sample.record["type"] == ONRAMP_REFERENCE
        if is_arrival or column in ("transaction_id", "provider_payment_id"):
            return "'g%d' % n"
        if column == "quote":
            return "state.quote"
        if column == "message":
            return "state.next_message()"
        if column == "sequence":
            return f"state.next_sequence({self.sample.record['tenant']})"
        if column == "due_at":
            return str(FAR)
        if column == "expires_at":
            return f"t + {value - self.created}"
        if is_time(column):
            return f"t + {self.ranks[value] * STEP_MS}"
        if column in SINCE_CREATION:
            return str((self.ranks[self.created + value] - self.ranks[self.created]) * STEP_MS)
        if column in AMOUNTS:
            return f"{value} * m"
        if column in WALLETS:
            return self.wallets.get(value, str(value))
        if column in ACCOUNTS:
            return self.accounts.get(value, str(value))
        if self.pooled and column == "beneficiary":
            return "b"
        if self.pooled and column == "destination":
            return "d"
        return repr(value)

    def row(self, table, row):
        return "(" + ", ".join(self.value_of(table, *pair) for pair in row.items()) + ",)"

    def plain_lines(self):
        yield "state.quote += 1"
        for table, rows in self.sample.rows.items():
            if table in ("journal", "entries"):
                continue
            for row in rows:
                yield f"rows_{table}.append({self.row(table, row)})"
        record = self.sample.record
        for account, amount in self.sample.held:
            yield f"held[{self.accounts.get(account, account)}] += {amount} * m"
        if record["type"] == 5:
            destination = "d" if self.pooled else record["destination"]
            counted = record["sending_amount"] if record["status"] in (0, 1, 2) else 0
            at = f"t + {self.ranks[self.created] * STEP_MS}"
            yield f"sums.count({record['connector']}, {destination}, {at}, {counted} * m)"

    def journal_lines(self):
        for number, entry_set in enumerate(self.sample.rows["journal"]):
            at = f"t + {self.ranks[entry_set['at']] * STEP_MS}"
            yield "j = state.journal = state.journal + 1"
            for entry in self.sample.rows["entries"]:
                if entry["set"] != number:
                    continue
                line = entry["entry"] % LINES_PER_SET
                account, other = (self.accounts.get(entry[name], str(entry[name]))
                                  for name in ("account", "counterparty"))
                yield f"x = {entry['amount']} * m"
                yield f"y = balances[{account}] = balances[{account}] + x"
                yield f"rows_entries.append((j * {LINES_PER_SET} + {line}, {account}, x, y, {other}, {entry['leg']}))"
            # The links are computed at the end, when all rows exist.
            yield f"rows_journal.append((j, {entry_set['tenant']}, {entry_set['kind']}, p, {at}, bytes(32)))"

    def compile(self, names):
        body = [f"  {line}" for line in (*self.plain_lines(), *self.journal_lines())]
        scope = dict(names)
        text = "def make(n, p, t, m, w0, w1, a0, a1, b, d):\n" + "\n".join(body)
        exec(compile(text, "<sample>", "exec"), scope)  # pylint: disable=exec-used
        return scope["make"]


class DestinationSums:
    """The rows of destination_sums, as src/store/payments/destination_sums.cpp maintains them."""

    FAN_OUT, LEVELS = 64, 3

    def __init__(self, db):
        self.ids = dict(db.execute("SELECT destination, id FROM destinations"))
        self.newest, self.rows = {}, []
        for row in db.execute("SELECT connector, destination, level, first_at, last_at, payments, amount"
                              " FROM destination_sums ORDER BY first_at"):
            self.rows.append(list(row))
            self.newest[row[:3]] = self.rows[-1]

    def count(self, connector, destination, now, amount):
        begins, full, name = True, 1, self.ids[destination]
        for level in range(1, self.LEVELS + 1):
            full *= self.FAN_OUT
            key = (connector, name, level)
            row = self.newest.get(key)
            begins = begins and (row is None or (row[5] >= full and row[4] < now))
            if begins:
                row = self.newest[key] = [connector, name, level, now, now, 1, amount]
                self.rows.append(row)
            else:
                row[4], row[5], row[6] = now, row[5] + 1, row[6] + amount
