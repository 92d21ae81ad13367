"""The auditor's checks of holds. Only multi-transfers store holds as rows; the hold of any other payment in
progress follows from its record, and that of the reversal of an on-ramp from the refund. See auditor.py."""

OPEN = (0, 1)  # of payments.status
MULTI, COLLECTION, ON_REFERENCE = 2, 6, 7  # of payments.type


def open_holds(audit):
    """(account, amount) of every hold."""
    for hold in audit.rows("SELECT * FROM holds WHERE state = 0"):
        yield hold["account"], hold["amount"]
    for payment in audit.rows("SELECT * FROM payments WHERE status IN (?, ?)", *OPEN):
        if payment["type"] in (MULTI, COLLECTION, ON_REFERENCE) or audit.is_debited(payment):
            continue
        part = audit.parts.get(payment["payment"])
        source = audit.account_of(payment["source_wallet"], payment["sending_asset"])
        yield source, payment["sending_amount"] + (part["fee"] if part else 0)
    for row in audit.rows("SELECT p.*, r.held FROM refunds r JOIN payments p ON p.payment = r.payment"
                          " WHERE r.state = 0 AND r.held IS NOT NULL"):
        yield audit.account_of(row["destination_wallet"], row["receiving_asset"]), row["held"]


def check_holds(audit, payment, holds, state):
    """Checks the hold rows of the payment, which must be in `state`."""
    what = f"payment {payment['payment']} in status {payment['status']}"
    if payment["type"] != MULTI:
        incoming = payment["type"] in (COLLECTION, ON_REFERENCE)
        if holds:
            audit.fault("only multi-transfers store holds", what)
        if incoming != (audit.account_of(payment["source_wallet"], payment["sending_asset"]) is None):
            audit.fault("only outgoing payments have a source account", what)
    elif not holds or any(hold["state"] != state for hold in holds):
        audit.fault("holds follow the status", f"{what}: {[tuple(hold) for hold in holds]}")
    else:
        check_amounts(audit, payment, holds, what)


def check_amounts(audit, payment, holds, what):
    """Each wallet must hold its largest deficit while the legs are applied in order."""
    wanted, flow = {}, {}
    for account, amount in audit.expected_moves(payment):
        flow[account] = flow.get(account, 0) + amount
        if flow[account] < -wanted.get(account, 0):
            wanted[account] = -flow[account]
    found = {hold["account"]: hold["amount"] for hold in holds}
    if found != wanted:
        audit.fault("holds match the legs", f"{what}: {found}, expected {wanted}")
