#!/usr/bin/env python3
"""Lays out the JSON documents that people edit: a value that fits into a line is on one line.

json_layout.py [--check] FILE...   rewrites the files; with --check, lists the files to rewrite
"""

import json
import sys

WIDTH = 120


class Number(float):
    """A number that keeps the digits of its source."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def on_one_line(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {on_one_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    return value.text if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def laid_out(value, indent, before):
    """`before`: number of characters before the value in its line, including the comma after it."""
    line = on_one_line(value)
    if not isinstance(value, (dict, list)) or not value or len(indent) + before + len(line) <= WIDTH:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        names = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        rows = [inner + name + laid_out(item, inner, len(name) + 1) for name, item in zip(names, value.values())]
        return "{\n" + ",\n".join(rows) + "\n" + indent + "}"
    return "[\n" + ",\n".join(inner + laid_out(item, inner, 1) for item in value) + "\n" + indent + "]"


def main():
    files = [name for name in sys.argv[1:] if name != "--check"]
    wrong = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        wanted = laid_out(json.loads(text, parse_float=Number), "", 0) + "\n"
        if text == wanted:
            continue
        wrong.append(name)
        if "--check" not in sys.argv:
            with open(name, "w", encoding="utf-8") as file:
                file.write(wanted)
    for name in wrong if "--check" in sys.argv else ():
        print(f"{name}: wrong layout. Run ./dev format")
    sys.exit(bool(wrong) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
