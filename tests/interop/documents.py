#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The commands of the documents, and the test that runs each.

    tests/interop/documents.py                checks that every block has one runner, or a reason for having none
    documents.py text RUNNER DOCUMENT START   prints a block, for runners that are shell scripts

A runner takes its blocks from the documents and runs them unchanged except for a few placeholders (`ID`,
`TIME`, a version). So a changed document is tested as changed, and a document with a wrong command fails
its test.
"""

import os
import re
import sys

from harness.machine import ROOT

README_DEBIAN = "packaging/debian/coffer.README.Debian"
INLINE = "`"      # the language of a command inside a sentence
INDENTED = "  "   # and of the blocks of a plain text
ANY = "any"       # each document that has no row of its own for the block
NOT_RUN = "not run: "
POSTGRES = NOT_RUN + "needs three machines; crash/postgres_machines sets up such servers in folders"
LIBRARY = NOT_RUN + "a call of the library, as its own documentation shows; the library is fetched from elsewhere"

# First words of commands inside sentences. One word alone is a name, not a command.
PROGRAMS = ("./dev", "apt", "apt-get", "certbot", "coffer", "composer", "curl", "docker", "echo", "find",
            "go", "journalctl", "node", "npm", "php", "pip", "python3", "runuser", "sha256sum", "ssh",
            "systemctl", "systemd-analyze", "systemd-creds")

# Document, language of its fence, start of the text ("": any), and the test that runs it.
CLAIMS = [
    (ANY, INLINE, "coffer", "interop/operating"),
    (ANY, INLINE, "./dev", NOT_RUN + "each takes long, or runs the tests"),

    ("README.md", "sh", "./dev demo\n", "interop/readme"),
    ("README.md", "sh", "KEY=", "interop/readme"),
    ("README.md", "sh", "curl -s http", "interop/readme"),
    ("README.md", "sh", "curl -s 'http", "interop/readme"),
    ("README.md", "sh", "coffer listen", "interop/readme"),
    ("README.md", "sh", "coffer trigger", "interop/readme"),
    ("README.md", "sh", "build/release-static/coffer init", "interop/readme"),
    ("README.md", INLINE, "./dev demo --json", "interop/readme"),
    ("README.md", INLINE, "./dev demo --env", "interop/cli"),
    ("README.md", INLINE, "./dev demo --seed 7 --db week.db", "interop/cli"),
    ("README.md", "sh", "./dev package", "package/lifecycle"),
    ("README.md", "sh", "./dev test\n", NOT_RUN + "it runs the tests"),

    ("docs/install.md", "sh", "apt install ./coffer_0.1.0_amd64.deb", "package/lifecycle"),
    ("docs/install.md", "sh", "coffer association create", "package/lifecycle"),
    ("docs/install.md", "sh", "coffer asset add", "interop/readme"),
    ("docs/install.md", "sh", "BASE=", "interop/readme"),
    ("docs/install.md", "sh", "coffer wallet fund", "interop/readme"),
    ("docs/install.md", "sh", "RECORD=", "interop/readme"),
    ("docs/install.md", INLINE, "coffer serve", "interop/readme"),
    ("docs/install.md", INLINE, "coffer connector add", NOT_RUN + "a name; interop/provider_protocol adds one"),
    ("docs/install.md", INLINE, "coffer init", "interop/readme"),
    ("docs/install.md", "sh", "runuser -u _coffer -- coffer verify", "package/lifecycle"),
    ("docs/install.md", "sh", "install -d -m 0700 /etc/credstore", "package/lifecycle"),
    ("docs/install.md", "toml", "listen_http", "package/lifecycle"),
    ("docs/install.md", "sh", "apt install ./coffer_0.2.0_amd64.deb", "package/lifecycle"),
    ("docs/install.md", "sh", "systemctl stop coffer\nmkdir", "package/lifecycle"),
    ("docs/install.md", "sh", "apt remove coffer", "package/lifecycle"),
    ("docs/install.md", "sh", "skopeo copy", NOT_RUN + "needs an engine and a registry; package/image reads the file"),
    ("docs/install.md", INLINE, "coffer doctor", "interop/cli"),
    ("docs/install.md", INLINE, "systemctl", "package/lifecycle"),
    ("docs/install.md", INLINE, "journalctl", "package/lifecycle"),
    ("docs/install.md", INLINE, "echo coffer", "package/lifecycle"),
    ("docs/install.md", "sh", "sha256sum -c", "package/reproducible"),
    ("docs/install.md", "sh", "openssl pkeyutl -verify", "package/signature"),
    ("docs/install.md", INLINE, "./dev release", "package/reproducible"),
    ("docs/install.md", INLINE, "./dev release aarch64", "package/aarch64"),
    ("docs/install.md", INLINE, "systemd-creds encrypt", NOT_RUN + "a name; it requires a TPM"),

    ("docs/tls.md", "", "pay.example.com {", "interop/proxies"),
    ("docs/tls.md", "toml", "trusted_proxies", "interop/proxies"),
    ("docs/tls.md", "toml", "listen_http", "package/lifecycle"),
    ("docs/tls.md", "toml", "tls_client_ca", "interop/client_certificates"),
    ("docs/tls.md", "sh", "openssl x509 -noout -fingerprint", "interop/client_certificates"),
    ("docs/tls.md", "ini", "[Service]", "package/lifecycle"),
    ("docs/tls.md", "sh", "systemctl edit coffer\n", "package/lifecycle"),
    ("docs/tls.md", "sh", "certbot certonly", "package/lifecycle"),
    ("docs/tls.md", INLINE, "systemctl reload coffer", "package/lifecycle"),
    ("docs/tls.md", INLINE, "ssh -L", NOT_RUN + "needs another machine"),

    ("docs/operating.md", "sh", "ls -l /proc/PID/fd", "interop/moved"),
    ("docs/operating.md", "sh", "coffer wallet list", "interop/operating"),
    ("docs/operating.md", "sh", "coffer reconcile import", "interop/operating"),
    ("docs/operating.md", "sh", "coffer payment bulk", "interop/operating"),
    ("docs/operating.md", "csv", "transactionId,sourceWalletId", "interop/operating"),
    ("docs/operating.md", "sh", "coffer apply", "interop/operating"),
    ("docs/operating.md", "json", '{\n  "association"', "interop/operating"),
    ("docs/operating.md", "sh", "coffer backup /srv", "interop/operating"),
    ("docs/operating.md", "sh", "coffer restore", "interop/operating"),
    ("docs/operating.md", "sh", "coffer archive", "interop/operating"),
    ("docs/operating.md", "toml", "archive = ", NOT_RUN + "needs another disk; interop/operating sets a folder"),
    ("docs/operating.md", "sh", "coffer verify", "interop/operating"),
    ("docs/operating.md", "sh", "coffer checkpoint", NOT_RUN + "needs another machine; unit tests run the commands"),
    ("docs/operating.md", "sh", "coffer period close", "interop/books"),
    ("docs/operating.md", "sh", "coffer report settlement", "interop/books"),
    ("docs/operating.md", "sh", "coffer limit set", "interop/operating"),
    ("docs/operating.md", "sh", "coffer export", "interop/operating"),
    ("docs/operating.md", "json", '{\n  "id"', "interop/alerts"),
    ("docs/operating.md", "sh", "export COFFER_METRICS_TOKEN_FILE", "interop/operating"),
    ("docs/operating.md", "sh", "coffer serve --log-file", "interop/operating"),
    ("docs/operating.md", "yaml", "rule_files:", "interop/metrics"),
    ("docs/operating.md", INLINE, "sha256sum -c", "interop/operating"),
    ("docs/operating.md", "sh", "systemctl stop coffer\ncd", "package/lifecycle"),
    ("docs/operating.md", "sql", "CREATE ROLE coffer", POSTGRES),
    ("docs/operating.md", "text", "hostssl", POSTGRES),
    ("docs/operating.md", "sh", "systemctl stop postgresql", POSTGRES),
    ("docs/operating.md", INLINE, "ssh -L", NOT_RUN + "needs another machine"),

    ("docs/scaling.md", "haproxy", "defaults", NOT_RUN + "HAProxy is not among the packages of the tests"),

    ("docs/integrator-guide.md", "sh", "", "interop/guides"),
    ("docs/integrator-guide.md", "console", "", "interop/guides"),
    ("docs/sandbox.md", "console", "$ coffer sandbox", "interop/sandbox"),
    ("docs/sandbox.md", "console", "$ coffer demo", "interop/sandbox"),
    ("docs/sandbox.md", "sh", "", "interop/guides"),
    ("docs/sandbox.md", INLINE, "coffer demo --json", "interop/guides"),
    ("docs/sandbox.md", INLINE, "coffer demo --env", "interop/cli"),
    ("docs/sandbox.md", INLINE, "coffer demo --seed 7 --db week.db", "interop/cli"),
    ("docs/webhooks.md", "sh", "", "interop/guides"),
    ("docs/webhooks.md", "console", "", "interop/guides"),
    ("docs/webhooks.md", "js", "", "interop/webhook_consumers"),
    ("docs/webhooks.md", "python", '"""A consumer', "interop/webhook_consumers"),
    ("docs/webhooks.md", "go", "// A consumer", "interop/webhook_consumers"),
    ("docs/webhooks.md", "php", "<?php", "interop/webhook_consumers"),
    ("docs/webhooks.md", INLINE, "node consumer.mjs", "interop/webhook_consumers"),
    ("docs/webhooks.md", INLINE, "python3 consumer.py", "interop/webhook_consumers"),
    ("docs/webhooks.md", INLINE, "go run consumer.go", "interop/webhook_consumers"),
    ("docs/webhooks.md", INLINE, "php", "interop/webhook_consumers"),

    ("docs/webhooks.md", "python", "from standardwebhooks", LIBRARY),
    ("docs/webhooks.md", "go", "import standardwebhooks", LIBRARY),
    ("docs/webhooks.md", "php", "function is_genuine", LIBRARY),
    ("docs/webhooks.md", INLINE, "npm install standardwebhooks", LIBRARY),
    ("docs/webhooks.md", INLINE, "pip install", LIBRARY),
    ("docs/webhooks.md", INLINE, "go get", LIBRARY),
    ("docs/webhooks.md", INLINE, "composer require", LIBRARY),
    ("docs/webhooks.md", INLINE, "find inbox/done", "interop/operating"),
    ("docs/webhooks.md", "sql", "CREATE TABLE", "interop/operating"),
    ("docs/webhooks.md", "http", "POST /hooks", NOT_RUN + "an example; the webhook tests check deliveries"),

    ("docs/provider-protocol.md", "", "", "interop/provider_protocol"),
    ("docs/provider-protocol.md", "sh", "printf %s", "interop/operating"),

    (README_DEBIAN, INDENTED, "coffer admin link", "package/lifecycle"),
    (README_DEBIAN, INDENTED, "install -d", "package/lifecycle"),

    ("SECURITY.md", INLINE, "systemd-analyze security coffer", "package/lifecycle"),
    ("docs/install.md", "sh", "install -d -m 0755", "package/publish"),
    ("docs/install.md", INLINE, "./dev publish", "package/publish"),
    ("ARCHITECTURE.md", "", "src/", NOT_RUN + "a tree of folders"),
    ("packaging/Dockerfile", "#", "docker", NOT_RUN + "needs an engine; package/files runs its steps"),
]


class Block:
    """One fenced block, or one command inside a sentence."""

    def __init__(self, document, line, language, text):
        self.document, self.line, self.language, self.text = document, line, language, text

    def says_the_same(self, other):
        return (self.document, self.language, self.text) == (other.document, other.language, other.text)

    def __str__(self):
        return f"{self.document}:{self.line}: {self.text.splitlines()[0]}"


def read(document):
    with open(os.path.join(ROOT, document), encoding="utf-8") as file:
        return file.read()


def documents():
    """Every document with commands."""
    found = sorted(name for name in os.listdir(ROOT) if name.endswith(".md"))
    found += sorted("docs/" + name for name in os.listdir(os.path.join(ROOT, "docs"))
                    if name.endswith(".md"))
    return [*found, README_DEBIAN, "packaging/Dockerfile"]


def inline(document, text, offset):
    """Commands between backquotes, which may span two lines."""
    for match in re.finditer(r"`([^`]+)`", text):
        words = match[1].split()
        if len(words) > 1 and words[0] in PROGRAMS:
            line = offset + text.count("\n", 0, match.start())
            yield Block(document, line, INLINE, " ".join(words))


def of_markdown(document, text):
    """Fenced blocks, and the commands in the sentences between them."""
    out, fence, start, lines = [], None, 1, []
    for number, line in enumerate(text.splitlines(), 1):
        opening = re.fullmatch(r"```(\S*)", line)
        if not opening or (fence is not None and opening[1]):
            lines.append(line)
            continue
        content = "\n".join(lines) + "\n"
        if fence is None:
            out += inline(document, content, start)
        else:
            out.append(Block(document, start, fence, content))
        fence, start, lines = opening[1] if fence is None else None, number + 1, []
    assert fence is None, f"{document}: a fence is open at the end"
    return out + list(inline(document, "\n".join(lines), start))


def of_plain(document, text):
    """Indented blocks, without the explanations to the right of the commands."""
    out = list(inline(document, text, 1))
    for match in re.finditer(r"(?:^  \S.*\n)+", text, re.M):
        lines = [re.split(r"\s{2,}", line.strip())[0] for line in match[0].splitlines()]
        line = text.count("\n", 0, match.start()) + 1
        out.append(Block(document, line, INDENTED, "\n".join(lines) + "\n"))
    return out


def of_comments(document, text):
    """Commands in comments."""
    return [Block(document, number, "#", line.lstrip("# "))
            for number, line in enumerate(text.splitlines(), 1) if re.match(r"#\s+docker ", line)]


def blocks_of(document, text=None):
    """All blocks in order; `output` belongs to the block before it."""
    text = read(document) if text is None else text
    other = of_plain if document == README_DEBIAN else of_comments
    parse = of_markdown if document.endswith(".md") else other
    return [block for block in parse(document, text) if block.language != "output"]


def claims_on(block, claims):
    """The rows that claim a block. For a command inside a sentence, only the most specific row counts, because many
    commands begin with `coffer`."""
    rows = [row for row in claims if row[0] in (block.document, ANY) and row[1] == block.language
            and block.text.startswith(row[2])]
    if block.language == INLINE and rows:
        return [max(rows, key=lambda row: (row[0] != ANY, len(row[2])))]
    return rows


def faults(blocks, claims):
    """Blocks claimed by no test or by two, and rows that claim no block."""
    out, used = [], set()
    for block in blocks:
        rows = claims_on(block, claims)
        used.update(rows)
        if len(rows) != 1:
            out.append(f"{block}: {len(rows)} tests run it; see CLAIMS in tests/interop/documents.py")
    out += [f"{row}: the block no longer exists" for row in claims if row not in used]
    for row in claims:
        scripts = [os.path.join(ROOT, "tests", row[3] + suffix) for suffix in (".py", ".sh", ".mjs")]
        if not row[3].startswith(NOT_RUN) and not any(os.access(script, os.X_OK) for script in scripts):
            out.append(f"{row}: not found: tests/{row[3]}")
    return out


class Mine:
    """The blocks of one runner. `end` fails if a block was not taken."""

    def __init__(self, runner):
        self.left = []
        for document in documents():
            for block in blocks_of(document):
                rows = claims_on(block, CLAIMS)
                if len(rows) == 1 and rows[0][3] == runner:
                    self.left.append(block)
        if not self.left:
            sys.exit(f"{runner} has no block")

    def take(self, document, start, language=None):
        """The text of the first block that begins with `start`."""
        for block in self.left:
            if (block.document == document and block.text.startswith(start)
                    and language in (None, block.language)):
                self.left = [one for one in self.left if not one.says_the_same(block)]
                return block.text
        sys.exit(f"{document} has no block that begins with: {start}")

    def take_all(self, language, document=None):
        """All remaining blocks of a language."""
        taken = [block for block in self.left
                 if block.language == language and document in (None, block.document)]
        self.left = [block for block in self.left if block not in taken]
        return taken

    def end(self):
        if self.left:
            sys.exit("claimed but not run: " + ", ".join(map(str, self.left)))


def replaced(text, table):
    """`text` with each placeholder replaced. A placeholder that is not in the text ends the test."""
    for old, new in table.items():
        if old not in text:
            sys.exit(f"{old} is not in: {text}")
        text = text.replace(old, new)
    return text


def comments_in(text):
    """The comments in shell commands, which zsh of a terminal runs as words, so that a pasted line fails. Not those in
    quotes and in what a command reads (<<WORD), which belong to another program."""
    out, quote, end, blank = [], "", None, True
    for line in text.splitlines():
        if end is not None:
            end = None if line.strip() == end else end
            continue
        here = None
        for at, one in enumerate(line):
            if quote:
                quote = "" if one == quote and (quote == "'" or line[at - 1:at] != "\\") else quote
            elif one in "'\"" and line[at - 1:at] != "\\":
                quote = one
            elif one == "#" and blank:
                out.append(line)
                break
            elif line.startswith("<<", at):
                here = re.match(r"<<-?\s*['\"]?(\w+)", line[at:])
                end = here[1] if here else None
            blank = one in " \t;|&("
        blank = True
    return out


def comment_faults(blocks):
    """Every block of commands that a reader pastes."""
    return [f"{block}: a comment, which zsh does not take from a terminal: {line.strip()}"
            for block in blocks if block.language == "sh" for line in comments_in(block.text)]


def controls(blocks):
    """The check must detect a planted block, a planted sentence, a block run twice and a row without a block."""
    for planted in ("\n```sh\ncoffer fly --high\n```\n", "\nThen `docker run it` does.\n",
                    "\n```\nlisten: all\n```\n"):
        text = read("docs/install.md") + planted
        rest = [block for block in blocks if block.document != "docs/install.md"]
        found = faults(rest + blocks_of("docs/install.md", text), CLAIMS)
        assert len(found) == 1 and "0 tests run it" in found[0], (planted, found)
    twice = ("docs/install.md", "sh", "apt remove", "interop/readme")
    assert any("2 tests run it" in one for one in faults(blocks, [*CLAIMS, twice])), "two runners"
    none = ("docs/install.md", "sh", "coffer fly", "interop/readme")
    assert any("no longer exists" in one for one in faults(blocks, [*CLAIMS, none])), "a row without a block"
    for planted in ("# first\nx\n", "x  # y\n", "x 'a' # y\n", "x |\n  # y\n  z\n", "x\nPY\n#\n"):
        assert len(comments_in(planted)) == 1, planted
    for fine in ("x '# y'\n", 'x "a # b"\n', "x http://a/#b\n", "x <<'PY'\n# y\nPY\n", "x \\\n  'a\n# b'\n"):
        assert not comments_in(fine), fine
    absent = (*none[:3], "interop/absent")
    assert any("not found: tests/" in one for one in faults(blocks, [*CLAIMS, absent])), "no runner"


def check():
    blocks = [block for document in documents() for block in blocks_of(document)]
    found = faults(blocks, CLAIMS) + comment_faults(blocks)
    for fault in found:
        print("FAILED   " + fault)
    if found:
        sys.exit(1)
    controls(blocks)
    excused = sum(claims_on(block, CLAIMS)[0][3].startswith(NOT_RUN) for block in blocks)
    print(f"ok       {len(blocks)} blocks and commands, {excused} of them exempt, the others run by tests")


def main(*words):
    if not words:
        check()
    else:
        _, runner, document, start = words
        print(Mine(runner).take(document, start), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
