"""The auditor's checks of keyed digests: the links of the journal and the audit log, and the digests of guarded
rows. The keys are in the file, sealed under the master key, which is stored near it."""

import hashlib
import hmac
import os
import struct

AUDIT_TRIES = ("master.key", "../master.key", "../../master.key")  # a backup is often in a separate folder
PAYMENT = ("SELECT type, id, transaction_id, application, request_id, source_wallet, destination_wallet, sending_asset,"
           " sending_amount, receiving_asset, min_receiving, from_ref, to_ref, description, memo, notify, created_at,"
           " beneficiary, destination, connector, quote, metadata FROM payments WHERE payment = ?")
LEGS = ("SELECT leg, source_wallet, destination_wallet, asset, amount, from_ref, to_ref, description FROM payment_legs"
        " WHERE payment = ? ORDER BY leg")
PROVIDER = ("SELECT fee, total, transaction_type, purpose_of_payment, source_of_funds, relationship, payer_name,"
            " payer_account, payer_phone, arrived_currency FROM provider_payments WHERE payment = ?")
REFERENCE = "SELECT connector, provider_payment_id, onramp_reference FROM reference_payments WHERE payment = ?"
HOLDS = "SELECT account, amount FROM holds WHERE payment = ? ORDER BY account"
FIELDS = "SELECT name, value FROM payment_fields WHERE payment = ? ORDER BY name"
PARTS = {2: (LEGS, HOLDS), 5: (PROVIDER, FIELDS), 6: (PROVIDER, FIELDS),
         7: (PROVIDER, FIELDS, REFERENCE)}  # by payments.type
STATE = ("SELECT status, version, failure, refund_failure, receiving_amount, path, processing_after, completed_after,"
         " updated_after, refund_pending_at, refund_closed_at, corrected_at, corrected_from,"
         " refunded_amount FROM payments WHERE payment = ?")
PART = ("SELECT state, in_review, attempts, first_sent_at, expires_at, provider_reference, connector_endpoint,"
        " collected_amount, open_item FROM provider_payments WHERE payment = ?")
INSTRUCTIONS = "SELECT name, value FROM payment_instructions WHERE payment = ? ORDER BY name"
GUARDED = {
    "meta": "name value",
    "tenants": "association environment",
    "assets": "code issuer name decimals",
    "associations": "id name status entity_type",
    "applications": "id tenant environment suspended scopes key_version client_id client_secret_hash api_key_hash"
                    " connect_hash sign_in_hash public_key networks certificates old_client_secret_hash"
                    " old_api_key_hash old_connect_hash old_sign_in_hash old_key_version old_until",
    "operators": "id name role password_hash sealed_otp otp_step otp_required suspended version created_at",
    "operator_tokens": "hash commands networks created_by expires_at",
    "approvals": "id operator version command detail sealed_arguments state requested_at expires_at decided_by"
                 " decided_at outcome",
    "operator_links": "hash operator expires_at",
    "operator_recovery_codes": "operator hash",
    "operator_passkeys": "operator credential site public_key sign_count created_at",
    "operator_subjects": "operator issuer subject",
    "users": "id association username password_hash sealed_otp otp_step suspended key_version",
    "refresh_tokens": "hash family application key_version spent expires_at",
    "wallets": "tenant id account_number public_key sealed_seed asset own_account status",
    "wallet_metadata": "entity_type first_name last_name date_of_birth nationality id_type id_number company_name"
                       " registration_number registration_country tax_id address email phone",
    "accounts": "tenant kind wallet asset connector created_at",
    "fundings": "transaction_id description",
    "beneficiaries": "tenant id entity_type first_name last_name date_of_birth nationality company_name"
                     " registration_number registration_country email phone client_reference archived_at",
    "beneficiary_addresses": "beneficiary position type line1 line2 city state postal_code country",
    "destinations": "beneficiary tenant id method country currency account_name account_number iban bank_name"
                    " bank_code branch_code swift_bic provider phone_number network_name asset_symbol wallet_address"
                    " memo created_at archived_at",
    "connectors": "id environment name provider driver flow direction method country currency currency_decimals asset"
                  " rate_numerator rate_denominator fee_fixed fee_basis_points tolerance_bps min_amount max_amount"
                  " day_limit month_limit transaction_types issues_references requirements_version status",
    "connector_requirements": "connector position name type required label description pattern min_length max_length"
                              " transaction_types",
    "connector_choices": "connector position choice code label",
    "connector_endpoints": "id connector base_url sealed_secret timeout_ms retired_at",
    "webhooks": "tenant application id url event_types sealed_secret old_secret old_secret_until disabled_at"
                " disable_reason",
    "webhook_recoveries": "webhook next last asked_at",
    "onramp_references": "tenant application connector wallet customer_id reference related_to has_metadata"
                         " created_at",
    "onramp_reference_metadata": "onramp_reference name value",
    "unassigned_arrivals": "id connector provider_payment_id reference amount currency payer_name payer_account"
                           " payer_phone arrived_at returned_at payment",
    "refunds": "payment tenant state amount fee reason at booked_at journal connector return_id report returned"
               " with_fee transaction_id wanted id asked held failed_at failure",
    "statement_files": "environment connector digest format lines imported_at completed_at",
    "bank_statements": "statement_file position number page currency opening closing first_day last_day",
    "bank_lines": "id statement_file environment connector bank_statement replaces mark account booked_on value_on amount charges currency"
                  " original_amount original_currency bank_reference reference text party_name party_account code"
                  " imported_at",
    "bank_matches": "bank_line kind payment refund rule undoes reason actor at",
    "quotes": "tenant id connector beneficiary destination transaction_type send_amount receive_amount fee total"
              " rate_numerator rate_denominator provider_reference created_at expires_at",
    "rates": "environment sell buy numerator denominator",
    "fee_rows": "association connector transaction_type fixed basis_points",
    "closed_periods": "journal link accounts digest closed_at",
    "payment_limits": "tenant application wallet asset per_payment per_day per_month count_per_day count_per_month since"
                      " created_at",
    "quota_limits": "tenant quota maximum",
    "messages": "alert payment id kind channel recipient count oldest_at at state",
}
ROWS = {  # of GUARDED, if not all
    "meta": "name NOT IN ('time', 'last_backup', 'backup_failure', 'last_checkpoint', 'log_position', 'log_end', "
            "'archive_proof', 'restored_over')"}


def digest(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def derived(key, label):
    """One block of HKDF-SHA256 (RFC 5869) with an empty salt."""
    return digest(digest(bytes(32), key), label.encode() + b"\x01")


def multiplied(a, b):
    """Multiplication in the AES field, GF(2^8)."""
    out = 0
    while b:
        out ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return out


def substitutions():
    box = []
    for value in range(256):
        inverse, square = 1, value  # value to the power of 254
        for _ in range(7):
            square = multiplied(square, square)
            inverse = multiplied(inverse, square)
        turned = inverse
        for shift in range(1, 5):
            turned ^= (inverse << shift | inverse >> 8 - shift) & 0xFF
        box.append(turned ^ 0x63)
    return box


BOX = substitutions()


def aes(key, block):
    """One block of AES-256 (FIPS 197)."""
    words = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    power = 1
    for i in range(8, 60):
        word = list(words[-1])
        if i % 8 == 0:
            word = [BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= power
            power = multiplied(power, 2)
        elif i % 8 == 4:
            word = [BOX[byte] for byte in word]
        words.append([a ^ b for a, b in zip(words[i - 8], word)])
    rounds = [sum(words[i:i + 4], []) for i in range(0, 60, 4)]
    state = [a ^ b for a, b in zip(block, rounds[0])]
    for number, added in enumerate(rounds[1:], 1):
        state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 14:
            mixed = []
            for column in (state[i:i + 4] for i in range(0, 16, 4)):
                mixed += [multiplied(column[i], 2) ^ multiplied(column[(i + 1) % 4], 3) ^ column[(i + 2) % 4]
                          ^ column[(i + 3) % 4] for i in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, added)]
    return bytes(state)


def opened(key, sealed):
    """Decrypts an AES-256-GCM value (version, nonce, ciphertext, tag) without verifying the tag: a wrong key
    breaks the chains anyway."""
    nonce, text = sealed[1:13], sealed[13:-16]
    stream = b"".join(aes(key, nonce + (number + 2).to_bytes(4, "big")) for number in range(-(-len(text) // 16)))
    return bytes(a ^ b for a, b in zip(text, stream))


def master_key_near(path):
    """The master key near a file; None if it is missing."""
    for name in AUDIT_TRIES:
        file = os.path.join(os.path.dirname(os.path.abspath(path)), name)
        if os.path.exists(file):
            with open(file, "rb") as key:
                content = key.read()
            return bytes.fromhex(content.decode().strip()) if len(content.strip()) == 64 else content
    return None


def chain_root(db, master):
    row = db.execute("SELECT value FROM meta WHERE name = 'chain_key'").fetchone()
    return None if row is None else opened(derived(master, "coffer seal v1"), row[0])


def canonical(row):
    def column(value):
        if value is None:
            return b"-"
        content = value if isinstance(value, bytes) else str(value).encode()
        return b"%d:%s" % (len(content), content)
    return b"".join(column(value) for value in row)


def payment_text(db, payment):
    row = db.execute(PAYMENT, (payment,)).fetchone()
    if row is None:
        return b""
    rows = [row]
    for sql in PARTS.get(row[0], ()):
        rows += db.execute(sql, (payment,)).fetchall()
    return b"".join(canonical(row) + b"\n" for row in rows)


def links(db, root):
    """(journal, stored link, computed link) of every entry set, as defined in store/ledger/journal.h."""
    key, link = derived(root, "coffer journal link v1"), bytes(32)
    entries = db.execute("SELECT entry / 1024, entry % 1024, account, amount, balance_after, counterparty, leg"
                         " FROM entries ORDER BY entry")
    entry = entries.fetchone()
    for row in db.execute("SELECT journal, tenant, kind, payment, at, link FROM journal ORDER BY journal"):
        text = "|".join("-" if value is None else str(value) for value in tuple(row)[:5]) + "\n"
        while entry is not None and entry[0] <= row[0]:
            if entry[0] == row[0]:
                text += "|".join(map(str, tuple(entry)[1:])) + "\n"
            entry = entries.fetchone()
        payment = b"" if row[3] is None else payment_text(db, row[3])
        link = digest(key, link + text.encode() + payment)
        yield row[0], row[5], link


def guarded(db, root):
    """(table, row, digest) of every guarded row, as defined in store/rows/guarded_rows.h."""
    key = derived(root, "coffer row mac v1")
    for table, columns in GUARDED.items():
        for row in db.execute(f"SELECT rowid, {', '.join(columns.split())} FROM {table} WHERE {ROWS.get(table, '1')}"):
            yield table, row[0], digest(key, f"{table}|{row[0]}|".encode() + canonical(tuple(row)[1:]))


def multiset_hash(elements):
    """The sum of the SHAKE256 outputs in 1,024 lanes of 16 bits (base/crypto/multiset_hash.h)."""
    lanes = [0] * 1024
    for element in elements:
        expanded = struct.unpack("<1024H", hashlib.shake_256(element).digest(2048))
        lanes = [(a + b) & 0xFFFF for a, b in zip(lanes, expanded)]
    return struct.pack("<1024H", *lanes) if elements else b""


def payment_digests(db, root):
    """(payment, digest) of every payment, as defined in store/payments/payment_seal.h."""
    key = derived(root, "coffer row mac v1")
    for payment, tenant in db.execute("SELECT payment, tenant FROM payments ORDER BY payment").fetchall():
        text = f"payment|{payment}|{tenant}|".encode() + payment_text(db, payment)
        yield payment, digest(key, text + canonical(tuple(db.execute(STATE, (payment,)).fetchone())))[:8]


def part_digests(db, root):
    """(payment, digest) of every part of a payment that changes with its provider."""
    key = derived(root, "coffer row mac v1")
    for payment, revision in db.execute("SELECT payment, revision FROM provider_payments").fetchall():
        text = f"provider|{payment}|{revision}|".encode() + canonical(tuple(db.execute(PART, (payment,)).fetchone()))
        for row in db.execute(INSTRUCTIONS, (payment,)):
            text += b"\n" + canonical(tuple(row))
        yield payment, digest(key, text)[:8]


def event_digests(db, root):
    """(key, digest) of every event that is not about a payment, as defined in store/webhooks/events.cpp."""
    key = derived(root, "coffer row mac v1")
    for tenant, sequence, *values in db.execute(
            "SELECT tenant, sequence, type, wallet, webhook, application, wallet_status, version, test, at FROM events"
            " WHERE payment IS NULL"):
        text = "".join("-|" if value is None else f"{value}|" for value in values)
        yield tenant << 40 | sequence, digest(key, f"event|{tenant}|{sequence}|{text}".encode())


def body_digests(db, root):
    """(key, digest) of the stored body of every event."""
    key = derived(root, "coffer row mac v1")
    for number, body in db.execute("SELECT event_body, body FROM event_bodies"):
        yield number, digest(key, f"body|{number >> 40}|{number & (1 << 40) - 1}|".encode() + body)


# (table with digests in its own rows, its key, the function of its digests)
SEALED = (("payments", "payment", payment_digests), ("provider_payments", "payment", part_digests),
          ("event_bodies", "event_body", body_digests))


def ledger_end(db):
    """The content of the sealed total of the ledger: (entry sets, link and numbers)."""
    last = db.execute("SELECT journal, link FROM journal ORDER BY journal DESC LIMIT 1").fetchone()
    journal, link = (0, bytes(32)) if last is None else tuple(last)
    payments, versions = db.execute("SELECT count(*), ifnull(sum(version), 0) FROM payments").fetchone()
    (revisions,) = db.execute("SELECT ifnull(sum(revision), 0) FROM provider_payments").fetchone()
    running = db.execute("SELECT count(*), ifnull(sum(p.version + ifnull(q.revision, 0)), 0) FROM payments p"
                         " LEFT JOIN provider_payments q ON q.payment = p.payment WHERE p.status IN (0, 1, 4)").fetchone()
    return journal, link + f"|{payments}|{versions + revisions}|{running[0]}|{running[1]}|".encode()


def totals(db, root):
    """(source, rows, sum, seal) of every guarded table, as defined in store/rows/sealed_totals.h."""
    key = derived(root, "coffer row mac v1")
    last = db.execute("SELECT entry, link FROM audit_log ORDER BY entry DESC LIMIT 1").fetchone()
    found = {"audit_log": (0, bytes(32)) if last is None else tuple(last)}
    found["ledger"] = ledger_end(db)
    for table in GUARDED:
        macs = [row[0] for row in db.execute("SELECT mac FROM row_macs WHERE source = ?", (table,))]
        found[table] = (len(macs), multiset_hash(macs))
    for source, (rows, content) in found.items():
        yield source, rows, content, digest(key, f"total|{source}|{rows}|".encode() + content)


def check_links(run, root):
    for journal, stored, link in links(run.db, root):
        if stored != link:
            run.fault("hash chain", f"journal {journal}")
            break
    key, link = derived(root, "coffer audit link v1"), bytes(32)
    for number, row in enumerate(run.rows("SELECT * FROM audit_log ORDER BY entry"), 1):
        of, outcome = (("-", "-") if row["outcome_of"] is None else (row["outcome_of"], row["outcome"]))
        text = f"{row['entry']}|{row['at']}|{of}|{outcome}\n{row['actor']}\n{row['command']}\n{row['detail']}\n"
        link = digest(key, link + text.encode())
        if row["entry"] != number or link != row["link"]:
            run.fault("audit log", f"entry {row['entry']}")
            break


def check_guarded(run, root):
    macs = {(row["source"], row["row"]): row["mac"] for row in run.rows("SELECT * FROM row_macs")}
    for table, row, mac in guarded(run.db, root):
        if macs.pop((table, row), None) != mac:
            run.fault("guarded row", f"{table} {row} was changed")
    for event, mac in event_digests(run.db, root):
        if macs.pop(("events", event), None) != mac:
            run.fault("guarded row", f"events {event} was changed")
    for table, row in macs:
        run.fault("guarded row", f"{table} {row} is missing")
    for table, key, digests in SEALED:
        stored = dict(tuple(row) for row in run.rows(f"SELECT {key}, mac FROM {table}"))
        for row, mac in digests(run.db, root):
            if stored[row] != mac:
                run.fault("guarded row", f"{table} {row} was changed")


def check_totals(run, root):
    stored = {tuple(row) for row in run.rows("SELECT * FROM sealed_totals")}
    for total in totals(run.db, root):
        if total not in stored:
            run.fault("sealed total", total[0])


def sign_again(db, path):
    """Recomputes all links and digests with the key of the file, after a test wrote rows directly."""
    root = chain_root(db, master_key_near(path))
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute("DROP TRIGGER " + name)
    db.execute("BEGIN")
    db.executemany("UPDATE journal SET link = ? WHERE journal = ?",
                   [(link, journal) for journal, _, link in links(db, root)])
    for table, key, digests in SEALED:
        db.executemany(f"UPDATE {table} SET mac = ? WHERE {key} = ?",
                       [(mac, row) for row, mac in digests(db, root)])
    db.execute("DELETE FROM row_macs")
    db.executemany("INSERT INTO row_macs (source, row, mac) VALUES (?, ?, ?)",
                   [*guarded(db, root), *(("events", event, mac) for event, mac in event_digests(db, root))])
    db.execute("DELETE FROM sealed_totals")
    db.executemany("INSERT INTO sealed_totals (source, rows, sum, seal) VALUES (?, ?, ?, ?)", list(totals(db, root)))
    db.execute("COMMIT")
    for _, create in triggers:
        db.execute(create)


def check_keys(run, path):
    """Checks links and digests, if there is a master key near the file."""
    master = master_key_near(path)
    if master is None:
        return
    root = chain_root(run.db, master)
    if root is None:
        run.fault("chain key", "missing in the file")
        return
    check_links(run, root)
    check_guarded(run, root)
    check_totals(run, root)
