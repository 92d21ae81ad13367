#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Every text of the admin page is in its three files of strings, as web/admin/strings.js promises: a translation replaces
these files and nothing else. page_texts_judge.mjs finds literals that people read in the other sources."""

import os
import subprocess
import sys
import json

from harness.machine import ROOT, node_packages

PAGE = os.path.join(ROOT, "web/admin")
FILES = {"strings.js", "strings_screens.js", "strings_setup.js"}

# Each of these has a text, or has none.
TEXTS = ["h('p', {}, 'Nothing here')", "h('p', {}, wanted && 'soft')", "h('p', {}, [`${count} ms`])", "toast('done')",
         "h('input', { 'aria-label': 'find' })", "input.placeholder = 'part of the name'", "list({ title: 'Wallets' })",
         "const row = { key: 'pair', render: (each) => `${each.a} to ${each.b}` }", "action({ about: `${a} to ${b}` })",
         "const caption = 'Result'", "function show(result, caption = 'Result') {}", "throw new Error('Not found')",
         "const words = (a, b) => `${a} to ${b}`", "empty('nothing')", "const text = wait ? 'Please wait.' : ''"]
NO_TEXTS = ["h('p', { class: 'row end' }, S.app.name)", "read('payment list', { status: 'Pending' })", "key === 'Escape'",
            "headers.get('Retry-After')", "h('code', {}, `coffer ${command}`)", "toast(S.done, 'bad')", "import './a b.js'",
            "h('span', { class: `badge ${good ? 'good' : 'bad'}` })", "list({ command: 'wallet list', key: 'Name' })",
            "document.title = `${title} – coffer`", "const key = `${kind}Id`", "all.querySelector('a, button')",
            "const focusable = 'a[href], button'", "list({ fixed: { status: 'Pending' } })", "h('p', {}, '–')"]


def found(sources):
    done = subprocess.run(["node", os.path.join(ROOT, "tests/interop/page_texts_judge.mjs")], input=json.dumps(sources),
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main():
    node_packages("interop", "typescript")
    for cases, wanted in ((TEXTS, True), (NO_TEXTS, False)):
        for case in cases:
            assert bool(found({"case.js": case})) == wanted, f"control: {case} has {'a' if wanted else 'no'} text"
    names = sorted(name for name in os.listdir(PAGE) if name.endswith(".js"))
    strings = {name for name in names if name.startswith("strings")}
    assert strings == FILES, f"the texts are in {', '.join(sorted(strings))}"
    sources = {}
    for name in set(names) - FILES:
        with open(os.path.join(PAGE, name), encoding="utf-8") as file:
            sources[name] = file.read()
    outside = found(sources)
    assert not outside, "texts outside the files of strings:\n" + "\n".join(outside)
    print(f"{len(sources)} files of the page have no text of their own")


sys.exit(main())
