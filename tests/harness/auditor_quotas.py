"""The auditor's checks of quota counters against the rows that they count. See auditor.py."""

OPEN_QUOTES, FILE_BYTES = 3, 5  # of quota_use.quota
QUOTE_STEP_MS = 10_000
BYTES_OF_PAYMENT = 200  # at least


def check_quotas(run):
    """Compares each quota counter with the rows that it counts."""
    counted = {}
    for quota, table, ended in ((0, "wallets", None), (1, "beneficiaries", "archived_at"),
                                (2, "destinations", "archived_at"), (4, "webhooks", "disabled_at")):
        for row in run.rows(f"SELECT * FROM {table}"):
            if ended is None or row[ended] is None:
                counted[row["tenant"], quota, 0] = counted.get((row["tenant"], quota, 0), 0) + 1
    for row in run.rows("SELECT tenant, expires_at FROM quotes WHERE payment IS NULL"):
        key = row["tenant"], OPEN_QUOTES, -(-row["expires_at"] // QUOTE_STEP_MS) * QUOTE_STEP_MS
        counted[key] = counted.get(key, 0) + 1
    payments = {}
    for row in run.rows("SELECT tenant FROM payments"):
        payments[row["tenant"]] = payments.get(row["tenant"], 0) + 1
    stored = {(row["tenant"], row["quota"], row["until"]): row["used"]
              for row in run.rows("SELECT * FROM quota_use")}
    for key, used in stored.items():
        if key[1] != FILE_BYTES and used != counted.get(key, 0):
            run.fault("quota counter", f"{key}: {used}, rows {counted.get(key, 0)}")
    for key, rows in counted.items():
        if key[1] != OPEN_QUOTES and key not in stored:
            run.fault("quota counter", f"{key}: nothing, rows {rows}")
    for tenant, number in payments.items():
        if stored.get((tenant, FILE_BYTES, 0), 0) < number * BYTES_OF_PAYMENT:
            run.fault("tenant bytes", f"{tenant}: {number} payments")
