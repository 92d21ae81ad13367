#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""The scripts of `coffer completion` in real shells: types half a command and Tab into bash, and into zsh and fish if
they are installed, and checks the completion."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

from harness.machine import binary

# (typed text, words that must be offered or completed, words that must not)
CASES = [
    ("coffer associ", ["association"], []),
    ("coffer association ", ["create", "list", "suspend", "activate"], ["rotate"]),
    ("coffer rate set --env", ["--environment"], []),
    ("coffer rate set --environment ", ["sandbox", "production"], ["--json"]),
    ("coffer rate set A B 1 --environment pro", ["production"], []),
    ("coffer verify --", ["--quick", "--json", "--db", "--log-level"], ["--listen-http"]),
    ("coffer serve --listen", ["--listen-http"], []),
    ("coffer serve --log-level ", ["debug", "warning"], []),
    ("coffer completion ", ["bash", "zsh", "fish"], []),
    ("coffer verify --db here", ["here.db"], []),
    ("coffer --ver", ["--version"], []),
]
# Only bash splits words at `=`.
OF_BASH = [
    ("coffer serve --log-level=de", ["debug"], []),
    ("coffer serve --config=here", ["here.db"], []),
    ("coffer webhook verify --body 'here", ["here.db"], []),
]
PROMPT = "READY>"


class Shell:
    """A shell in its own terminal, in a folder with a file to complete."""

    def __init__(self, words, folder, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, env)
        self.seen = ""

    def read(self, quiet_s, within_s=10.0, until=None):
        """The output until the shell prints nothing for `quiet_s`, or prints `until`."""
        out, end = "", time.monotonic() + within_s
        while time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], quiet_s)
            if not ready:
                if until is None or until in out:
                    break
                continue
            try:
                out += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
            if until and until in out:
                break
        return out

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def plain(text):
    """The text without cursor movements and colours."""
    text = re.sub(r"\x1b\][^\x07]*\x07|\x1b\[[0-9;?>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>78]", "", text)
    return text.replace("\x08", "").replace("\x07", "")


def answer_of(shell, typed, patience=1):
    """The offered words. Ends when the shell prints nothing for `patience` times its usual time."""
    shell.type(typed)
    shell.read(0.3 * patience)
    shell.type("\t\t")
    said = shell.read(0.7 * patience)
    shell.type("\x03")
    shell.read(0.3 * patience)
    return plain(said)


def start(name, folder, coffer):
    env = {**os.environ, "HOME": folder, "PATH": os.path.dirname(coffer) + ":" + os.environ["PATH"], "TERM": "dumb",
           "COLUMNS": "200", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
    script = os.path.join(folder, "coffer." + name)
    with open(script, "wb") as file:
        file.write(subprocess.run([coffer, "completion", name], check=True, capture_output=True).stdout)
    if name == "bash":
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], folder, env)
        setup = f"bind 'set bell-style none'; bind 'set page-completions off'; PS1='{PROMPT[:3]}''{PROMPT[3:]}'; . {script}\n"
    elif name == "zsh":
        shell = Shell(["zsh", "-f", "-i"], folder, env)
        setup = (f"unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; . {script}; "
                 f"LISTMAX=1000; PROMPT='{PROMPT[:3]}''{PROMPT[3:]}'\n")
    else:
        env["TERM"] = "xterm"
        shell = Shell(["fish", "--no-config", "-i"], folder, env)
        setup = f"function fish_prompt; printf '%s%s' {PROMPT[:3]} {PROMPT[3:]}; end; source {script}\n"
    shell.read(1.0, 5.0)
    shell.type(setup)
    shell.read(1.0, 10.0, PROMPT)
    return shell


def judge_fish(folder, coffer, cases):
    """fish prints its completions without a terminal."""
    script = os.path.join(folder, "coffer.fish")
    with open(script, "wb") as file:
        file.write(subprocess.run([coffer, "completion", "fish"], check=True, capture_output=True).stdout)
    faults = []
    for typed, wanted, unwanted in cases:
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], cwd=folder,
                              env={**os.environ, "HOME": folder, "PATH": os.path.dirname(coffer) + ":" + os.environ["PATH"]},
                              capture_output=True, text=True, check=False)
        offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
        faults += faults_of("fish", typed, offered, wanted, unwanted, done.stdout + done.stderr)
    return faults


def lacks(said, wanted, unwanted):
    """(missing words, unexpected words)"""
    return [word for word in wanted if word not in said], [word for word in unwanted if word in said]


def faults_of(name, typed, said, wanted, unwanted, shown):
    missing, extra = lacks(said, wanted, unwanted)
    if not missing and not extra:
        print(f"ok       {name}: {typed}<Tab>")
        return []
    print(f"FAILED   {name}: {typed}<Tab>: missing {missing}, unexpected {extra}: {shown[-400:]!r}")
    return [typed]


def judge(name, folder, coffer, cases):
    if name == "fish":
        return judge_fish(folder, coffer, cases)
    shell, faults = start(name, folder, coffer), []
    try:
        for typed, wanted, unwanted in cases:
            # Give a busy machine more time.
            for patience in (1, 4, 16):
                # With a unique completion, a shell prints only the missing letters.
                said = typed.split(" ")[-1] + answer_of(shell, typed, patience)
                if lacks(said, wanted, unwanted) == ([], []):
                    break
            faults += faults_of(name, typed, said, wanted, unwanted, said)
    finally:
        shell.end()
    return faults


def main():
    coffer, faults = binary(), []
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "bin")
        os.mkdir(link)
        os.symlink(coffer, os.path.join(link, "coffer"))
        with open(os.path.join(folder, "here.db"), "w", encoding="ascii"):
            pass
        coffer = os.path.join(link, "coffer")
        for name in ("bash", "zsh", "fish"):
            if not shutil.which(name):
                print(f"skipped  {name} is not installed")
                continue
            faults += judge(name, folder, coffer, CASES + (OF_BASH if name == "bash" else []))
        # Control: a shell without the script completes nothing.
        control = Shell(["bash", "--norc", "--noprofile", "-i"], folder, {**os.environ, "TERM": "dumb", "HOME": folder})
        control.read(0.5, 5.0)
        if "ation" in answer_of(control, "coffer associ"):
            faults.append("control")
            print("FAILED   the control, a shell without the script, completes words")
        control.end()
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
