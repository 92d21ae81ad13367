#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: timeout=600
"""The books of a demo, judged by hledger and beancount: both accept them, their balances equal those of the ledger,
periods follow each other without a gap, and a period that has ended keeps its bytes. Control: both judges reject books
in which one amount differs."""

import csv
import io
import json
import os
import subprocess
import tempfile
from decimal import Decimal

import documents
from harness.machine import binary, program
from harness.report import check, wait_for
from harness.server import Demo, command
from harness.tenant import Tenant

FORMATS = ("hledger", "beancount", "csv")
WITHIN_S = 60.0


class Books:
    """The exports of one demo."""

    def __init__(self, demo, folder):
        self.demo, self.folder = demo, folder

    def export(self, form, *words):
        path = os.path.join(self.folder, "books." + form)
        if os.path.exists(path):
            os.remove(path)
        books = [] if form == "ndjson" else ["--format", form, "--environment", "sandbox"]
        done = run(self.demo.binary, "export", path, "--db", self.demo.db, *books, *words)
        check(f"the {form} export is written", done.returncode == 0, done.stderr)
        return path

    def text(self, form, *words):
        with open(self.export(form, *words), encoding="utf-8", newline="") as file:
            return file.read()


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def of_ledger(books):
    """{account: balance} from the export of all data, named as in the books and with their sign."""
    owners, out = {}, {}
    with open(books.export("ndjson"), encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["type"] == "wallet":
                owners[row["id"]] = row["association"]
            if row["type"] != "account" or row["environment"] != "sandbox":
                continue
            name = {"wallet": lambda row: f"Liabilities:Wallets:A-{owners[row['walletId']]}:W-{row['walletId']}",
                    "clearing": lambda row: f"Assets:Clearing:C-{row['connectorId']}",
                    "issuance": lambda row: "Assets:Issuance", "fee": lambda row: "Income:Fees",
                    "liquidity": lambda row: "Equity:Liquidity"}[row["kind"]](row)
            out[f"{name}:{row['assetCode']}"] = -Decimal(row["balance"])
    return out


def of_hledger(hledger, path):
    done = run(hledger, "-f", path, "balance", "--flat", "--empty", "--no-total", "-O", "csv")
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return {name: Decimal(amount.split()[0]) for name, amount in rows}


def of_beancount(query, path):
    done = run(query, "-f", "csv", path, "SELECT account, sum(number) AS total GROUP BY account")
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return {name.strip(): Decimal(total.strip()) for name, total in rows}


def rows_of(text, *kinds):
    return [row for row in csv.DictReader(io.StringIO(text))
            if (row["kind"] in ("opening", "closing")) == bool(kinds) and (not kinds or row["kind"] in kinds)]


def sums(rows):
    out = {}
    for row in rows:
        out[row["account"]] = out.get(row["account"], 0) + Decimal(row["amount"])
    return out


def without_zeros(balances):
    return {name: amount for name, amount in balances.items() if amount}


def judge(books, hledger, bean_check, bean_query):
    ledger = of_ledger(books)
    check("the demo has accounts of every kind",
          {"Assets:Clearing", "Assets:Issuance", "Equity:Liquidity", "Income:Fees", "Liabilities:Wallets"}
          <= {":".join(name.split(":")[:2]) for name in ledger}, ledger)
    path = books.export("hledger")
    done = run(hledger, "-f", path, "check", "--strict")
    check("hledger check --strict accepts the books", done.returncode == 0, done.stderr)
    found = of_hledger(hledger, path)
    check(f"hledger has the {len(ledger)} balances of the ledger", found == ledger, (found, ledger))
    path = books.export("beancount")
    done = run(bean_check, path)
    check("bean-check accepts the books", done.returncode == 0 and not done.stdout, done.stdout + done.stderr)
    found = of_beancount(bean_query, path)
    check("beancount has the balances of the ledger", without_zeros(found) == without_zeros(ledger), (found, ledger))
    text = books.text("csv")
    rows = rows_of(text)
    check(f"the sums of {len(rows)} entries of the CSV are the balances of the ledger",
          without_zeros(sums(rows)) == without_zeros(ledger) == without_zeros(sums(rows_of(text, "closing"))))


def judges_are_strict(books, hledger, bean_check):
    for form, accepts in (("hledger", lambda path: run(hledger, "-f", path, "check", "--strict").returncode == 0),
                          ("beancount", lambda path: not run(bean_check, path).stdout + run(bean_check, path).stderr)):
        path = books.export(form)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("  ") and "Liabilities:Wallets" in line)
        lines[at] = lines[at].replace("-", "--", 0).replace(".", "1.", 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        check(f"{form} rejects books in which one amount differs", not accepts(path))


def periods(books, day):
    """The books until a day, and those from it, are the whole books."""
    whole, first, second = (books.text("csv", *words) for words in ((), ("--to", day), ("--from", day)))
    check("two periods have every entry once", rows_of(first) + rows_of(second) == rows_of(whole)
          and rows_of(first) and rows_of(second))
    check("the second period starts with the balances at the end of the first",
          without_zeros(sums(rows_of(first, "closing"))) == sums(rows_of(second, "opening")) != {})


REPORTS = {"settlement": "Assets:Clearing", "fees": "Income:Fees", "conversion": "Equity:Liquidity"}


def reports(books, mine, start, end):
    """The documented reports have the sums of the exported journal, with the opposite sign."""
    block = documents.replaced(mine.take("docs/operating.md", "coffer report settlement"),
                               {"2026-11-01": "END", "2026-10-01": start, "END": end, " --association ID": "",
                                " > conversion.csv": ""})
    text = books.text("csv", "--from", start, "--to", end)
    for line in block.splitlines():
        words = line.split()[1:]
        done = run(books.demo.binary, *words, "--db", books.demo.db, "--environment", "sandbox")
        check(line, done.returncode == 0, done.stderr)
        done = run(books.demo.binary, *[word for word in words if word not in ("--format", "csv")], "--db", books.demo.db,
                   "--environment", "sandbox", "--json")
        opening, moved, closing = {}, {}, {}
        for row in json.loads(done.stdout):
            account = (row.get("connectorId"), row["assetCode"])
            opening.setdefault(account, Decimal(row["opening"]))
            closing[account] = Decimal(row["closing"])
            moved[account] = moved.get(account, 0) + Decimal(row["closing"]) - Decimal(row["opening"])
        name = REPORTS[words[1]]
        mine_of = lambda rows: -sum((Decimal(row["amount"]) for row in rows if row["account"].startswith(name)), Decimal(0))
        check(f"the report {words[1]} has the sums of the exported journal", moved and
              [sum(part.values()) for part in (opening, moved, closing)] ==
              [mine_of(rows_of(text, "opening")), mine_of(rows_of(text)), mine_of(rows_of(text, "closing"))], moved)


def closed_months(books, tenant):
    """The documented commands close the month of the first entry, and later payments change nothing in its books."""
    books.demo.command("sandbox", "advance", "31d")
    month = rows_of(books.text("csv"))[0]["date"][:7]
    after = str(int(month[5:]) % 12 + 1).zfill(2)
    after = f"{int(month[:4]) + (after == '01')}-{after}-01"
    before = {form: books.text(form, "--to", after) for form in FORMATS}
    mine = documents.Mine("interop/books")
    reports(books, mine, month + "-01", after)
    block = documents.replaced(mine.take("docs/operating.md", "coffer period close"), {"2026-10": month})
    mine.end()
    for line in block.splitlines():
        done = run(books.demo.binary, *line.split()[1:], "--db", books.demo.db)
        check(line, done.returncode == 0 and month in done.stdout, done.stdout + done.stderr)
    tenant.login()
    tenant.pay("after-close")
    wait_for("the payment settles", lambda: "after-close" in books.text("csv"), WITHIN_S)
    for form in FORMATS:
        check(f"the {form} books of the closed month are the same bytes", books.text(form, "--to", after) == before[form])
    done = run(books.demo.binary, "period", "close", month, "--db", books.demo.db)
    check("a month is closed once", done.returncode != 0 and "already closed" in done.stderr, done.stderr)
    done = run(books.demo.binary, "verify", "--db", books.demo.db)
    check("verification accepts the file", done.returncode == 0, done.stdout + done.stderr)


def main():
    hledger, bean_check, bean_query = map(program, ("hledger", "bean-check", "bean-query"))
    with tempfile.TemporaryDirectory(prefix="coffer-books-") as folder:
        demo = Demo(binary(), folder, options=("--seed", "150")).start()
        books = Books(demo, folder)
        tenant = Tenant.of_demo(demo)
        sandbox = lambda *words: command(demo.binary, demo.db, "sandbox", *words)
        judge(books, hledger, bean_check, bean_query)
        judges_are_strict(books, hledger, bean_check)
        sandbox("advance", "1d")
        day = sandbox("clock")["now"][:10]
        before = {form: books.text(form, "--to", day) for form in FORMATS}
        tenant.login()
        tenant.pay("next-day", "12.5")
        wait_for("the payment settles", lambda: "next-day" in books.text("csv"), WITHIN_S)
        tenant.make_wallet("Later")
        periods(books, day)
        for form in FORMATS:
            check(f"the {form} books of a period that has ended are the same bytes later",
                  books.text(form, "--to", day) == before[form])
        judge(books, hledger, bean_check, bean_query)
        for form, check_it in (("hledger", lambda path: run(hledger, "-f", path, "check", "--strict")),
                               ("beancount", lambda path: run(bean_check, path))):
            done = check_it(books.export(form, "--from", day))
            check(f"{form} accepts books that start with balances", done.returncode == 0 and not done.stdout,
                  done.stdout + done.stderr)
        closed_months(books, tenant)
        demo.stop()


if __name__ == "__main__":
    main()
