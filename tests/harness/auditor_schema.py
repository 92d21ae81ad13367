"""The auditor's comparison of a file's schema with schema.sql."""

import os
import sqlite3

from harness.machine import ROOT


def check_schema(audit):
    """The file must have exactly the objects of schema.sql, with the same text."""
    with open(os.path.join(ROOT, "schema.sql"), encoding="utf-8") as file:
        model = sqlite3.connect(":memory:")
        model.executescript(file.read())
    objects = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"
    wanted, found = (sorted((*row[:3], row[3].split()) for row in db.execute(objects)) for db in (model, audit.db))
    for row in wanted:
        if row not in found:
            audit.fault("schema", f"missing or different: {row[:2]}")
    for row in found:
        if row not in wanted:
            audit.fault("schema", f"foreign or different: {tuple(row[:2])}")
