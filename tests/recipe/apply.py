#!/usr/bin/env python3
"""Copies src/ and schema.sql and adds a wallet field, a connector member, an event, a payment type and a connector
driver, by the recipes of CONTRIBUTING.md.

    apply.py <source root> <folder>

Writes <folder>/src, <folder>/schema.sql and <folder>/step.sql, but does not rewrite unchanged files, so that
only the files of a recipe are recompiled. It adds exactly the lines that the recipe asks for; nothing else may
be needed. recipe_test.cpp checks the result.
"""
import sys
from pathlib import Path

# file, mark, start of the line before which the new line goes (the first after the mark), new line
RECIPES = [
    # A wallet field: its member, its row, its column and (below) its place in the digest.
    ('src/domain/ledger/wallet.h', 'struct PersonMetadata {', '  bool operator==',
     '  std::optional<std::string> tax_residence;'),
    ('src/domain/ledger/wallet.h', 'struct TextFields<PersonMetadata> {', '  };',
     '      {"taxResidence", "tax_residence", &Person::tax_residence, rule::country_alpha3,\n'
     '       "Country where taxes are paid", "KEN"},'),
    ('schema.sql', 'CREATE TABLE wallet_metadata (', '  CHECK (CASE entity_type',
     '  tax_residence       TEXT,'),
    # A connector member: itself, its row and its column.
    ('src/domain/providers/connector.h', 'struct ConnectorTerms {', '  TransactionTypes types',
     '  std::optional<Amount> week_limit;'),
    ('src/domain/providers/connector.h', 'struct Members<ConnectorTerms> {', '      member<&T::types>',
     '      member<&T::week_limit>("weekLimit", "week_limit", changes,\n'
     '                             {"week-limit", "Limit per destination in 7 days", "Weekly limit", "20000", "",\n'
     '                              "Remove the weekly limit"}, 0, 9),'),
    ('schema.sql', 'CREATE TABLE connectors (', '  transaction_types',
     '  week_limit          INTEGER CHECK (week_limit > 0),'),
    # An event: its enumerator and its row. A flow emits it with emit_event().
    ('src/domain/webhooks/event_type.h', 'enum class EventType {', '};', '  wallet_renamed,'),
    ('src/domain/webhooks/event_type.cpp', 'constexpr auto kTypes =', '});',
     '    {wallet_renamed, {"wallet.renamed", "Wallet renamed"}, by_name, EventSubject::wallet},'),
    # A payment type: its enumerator, its row and its traits, its cases in the functions that plan and settle a
    # payment, and its reader.
    ('src/domain/payments/payment.h', 'enum class PaymentType {', '};', '  p2p_escrow,'),
    ('src/domain/payments/payment.h', 'struct Terms<PaymentType> {', '  });',
     '      {"p2p_escrow", "Transfer into escrow"},'),
    ('src/domain/payments/payment.h', 'traits_of(PaymentType type) {', '    case PaymentType::p2p_own:',
     '    case PaymentType::p2p_escrow:'),
    ('src/api/payments/payments.cpp', 'switch (type) {', '    case PaymentType::p2p_own:',
     '    case PaymentType::p2p_escrow:'),
    ('src/flows/payments/payment_plan.cpp', 'switch (request.type) {', '    case PaymentType::p2p_own:',
     '    case PaymentType::p2p_escrow:'),
    ('src/flows/settlement/settle_payment.cpp', 'switch (payment.type) {', '    case PaymentType::p2p_own:',
     '    case PaymentType::p2p_escrow:'),
    # A connector driver: its enumerator and its row (below), its facts, and its case in the registry.
    ('src/domain/providers/connector.h', 'driver_info(DriverKind driver) {', '    case DriverKind::http:',
     '    case DriverKind::swift:'),
    ('src/outbound/providers/connector_registry.cpp', 'switch (terms.driver) {', '    case DriverKind::http:',
     '    case DriverKind::swift:'),
]
# file, old text, new text: rows on one line, a list of columns, and the CHECKs of a payment type and a driver
CHANGED = [
    ('src/domain/providers/connector.h', 'enum class DriverKind { sandbox, http }',
     'enum class DriverKind { sandbox, http, swift }'),
    ('src/domain/providers/connector.h', '{"http", "Calls the provider protocol"}}',
     '{"http", "Calls the provider protocol"}, {"swift", "Sends messages of SWIFT"}}'),
    ('src/store/rows/guarded_rows.cpp', 'tax_id, address, email, phone"}',
     'tax_id, address, email, phone, tax_residence", !kFinal, "", 1}'),
    ('schema.sql', '(type BETWEEN 0 AND 7)', '(type BETWEEN 0 AND 8)'),
    ('schema.sql', '(driver IN (0, 1))', '(driver IN (0, 1, 2))'),
    ('schema.sql', 'IS NULL OR (driver = 1 AND', 'IS NULL OR (driver IN (1, 2) AND'),
    ('schema.sql', 'IS NULL) = (driver = 1 AND', 'IS NULL) = (driver IN (1, 2) AND'),
]
# The upgrade of files without the columns.
STEP = ('ALTER TABLE wallet_metadata ADD COLUMN tax_residence TEXT;\n'
        'ALTER TABLE connectors ADD COLUMN week_limit INTEGER CHECK (week_limit > 0);\n')


def with_line(text, mark, before, line, name):
    start = text.find(mark)
    if start < 0:
        sys.exit(f'{name} no longer has "{mark}". Update apply.py and the recipe in CONTRIBUTING.md.')
    place = text.find('\n' + before, start)
    if place < 0:
        sys.exit(f'{name} has no line "{before}" after "{mark}". Update apply.py.')
    return text[:place + 1] + line + '\n' + text[place + 1:]


def write(path, text):
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    root, folder = Path(sys.argv[1]), Path(sys.argv[2])
    names = ['schema.sql'] + [str(path.relative_to(root)) for end in ('h', 'cpp', 'inc')
                              for path in sorted((root / 'src').rglob('*.' + end))]
    for name in names:
        text = (root / name).read_text()
        for file, mark, before, line in RECIPES:
            if file == name:
                text = with_line(text, mark, before, line, name)
        for file, old, new in CHANGED:
            if file != name:
                continue
            if text.count(old) != 1:
                sys.exit(f'{name} must contain "{old}" exactly once. Update apply.py.')
            text = text.replace(old, new)
        write(folder / name, text)
    for path in sorted((folder / 'src').rglob('*.*')):
        if not (root / path.relative_to(folder)).exists():
            path.unlink()
    write(folder / 'step.sql', STEP)


main()
