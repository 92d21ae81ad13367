#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Each kind of mistake in a configuration gives one sentence with the setting or file and what to do, and an exit code
after which a supervisor does not restart (2, 77 or 78).
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

from harness.machine import binary, skip

STRANGER = 65534
TIMEOUT_S = 60
GOOD = 'db = "coffer.db"\nlisten_http = "127.0.0.1:0"\nadmin_off = true\n'
KEY = "0123456789abcdef" * 4 + "\n"


class World:
    """A folder with a valid configuration, into which a case inserts a mistake."""

    def __init__(self, folder, taken):
        self.folder, self.taken = pathlib.Path(folder), taken
        self.settings = self.folder / "coffer.toml"
        self.settings.write_text(GOOD)
        self.arguments = []

    def setting(self, line):
        """Appends a line to the file, and returns its number."""
        self.settings.write_text(self.settings.read_text() + line + "\n")
        return len(self.settings.read_text().splitlines())

    def file(self, name, text, mode=0o600, owner=STRANGER):
        path = self.folder / name
        path.write_text(text)
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path


def unknown_key(world):
    world.setting('log_levle = "info"')


def bad_value(world):
    world.setting("workers = 0")


def bad_text(world):
    world.setting('log_level = "loud"')


def bad_address(world):
    world.settings.write_text(GOOD.replace("127.0.0.1:0", "8080"))


def no_quotes(world):
    world.setting("log_level = info")


def secret_in_file(world):
    world.setting('metrics_token = "abc"')


def no_file(world):
    world.settings.unlink()


def unreadable_file(world):
    world.settings.chmod(0)


def unreadable_key(world):
    world.setting(f'master_key_file = "{world.file("master.key", KEY, 0o600, owner=0)}"')


def open_key(world):
    world.setting(f'master_key_file = "{world.file("master.key", KEY, 0o644)}"')


def bad_key(world):
    world.setting(f'master_key_file = "{world.file("master.key", "secret")}"')


def half_tls(world):
    world.setting(f'tls_cert = "{world.file("cert.pem", "")}"')


def unreadable_tls(world):
    world.setting('tls_cert = "/nowhere/cert.pem"')
    world.setting(f'tls_key = "{world.file("key.pem", "")}"')


def port_taken(world):
    world.settings.write_text(GOOD.replace("127.0.0.1:0", f"127.0.0.1:{world.taken}"))


def port_taken_by_flag(world):
    world.arguments = ["--listen-http", f"127.0.0.1:{world.taken}"]


def low_port(world):
    world.settings.write_text(GOOD.replace("127.0.0.1:0", "127.0.0.1:81"))


def foreign_folder(world):
    (world.folder / "data").mkdir(mode=0o755)
    os.chown(world.folder / "data", 0, 0)
    world.settings.write_text(GOOD.replace("coffer.db", "data/coffer.db"))


def foreign_database(world):
    world.file("coffer.db", "", 0o600, owner=0)


def database_is_a_folder(world):
    (world.folder / "coffer.db").mkdir()


def bad_flag(world):
    world.arguments = ["--workers", "many"]


# (function that makes the mistake, exit code, texts that the sentence must contain)
CASES = [
    (unknown_key, 78, ["coffer.toml:4", "log_levle", "did you mean log_level"]),
    (bad_value, 78, ["coffer.toml:4", "workers", "from 1 to"]),
    (bad_text, 78, ["coffer.toml:4", "log_level", "write debug"]),
    (bad_address, 78, ["coffer.toml:2", "listen_http", "HOST:PORT"]),
    (no_quotes, 78, ["coffer.toml:4", "log_level", "quotes"]),
    (secret_in_file, 78, ["coffer.toml:4", "metrics_token", "metrics_token_file"]),
    (no_file, 2, ["--config", "coffer.toml", "Set a file that exists"]),
    (unreadable_file, 2, ["--config", "coffer.toml", "Permission denied", "is readable"]),
    (unreadable_key, 77, ["master.key", "readable by the user"]),
    (open_key, 77, ["master.key", "chmod 600"]),
    (bad_key, 78, ["master.key", "64 hex"]),
    (half_tls, 78, ["coffer.toml:4", "tls_cert", "tls_key"]),
    (unreadable_tls, 78, ["coffer.toml:4", "tls_cert", "PEM file"]),
    (port_taken, 75, ["coffer.toml:2", "listen_http", "in use", "free"]),
    (port_taken_by_flag, 75, ["--listen-http", "in use", "free"]),
    (low_port, 78, ["coffer.toml:2", "listen_http", "Permission denied"]),
    (foreign_folder, 77, ["data", "Permission denied", "Run as the user"]),
    (foreign_database, 77, ["coffer.db", "Permission denied", "Run as the user"]),
    (database_is_a_folder, 78, ["coffer.toml:1", "Set a file in it"]),
    (bad_flag, 2, ["--workers", "whole number"]),
]


def run(world, timeout_s=TIMEOUT_S):
    """Returns (exit code, standard error) for the service's user."""
    command = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "--", binary(),
               "serve", "--init", "--config", str(world.settings), *world.arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout_s, check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    return done.returncode, done.stderr


def said_by(error):
    """The error sentences, without log lines."""
    return [line for line in error.splitlines() if line.startswith("coffer: ")]


def main():
    if os.geteuid() != 0:
        skip("needs root, to run as another user")
    taken = socket.create_server(("127.0.0.1", 0))
    failures = 0
    for spoil, code, names in CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, STRANGER, STRANGER)
            world = World(folder, taken.getsockname()[1])
            os.chown(world.settings, STRANGER, STRANGER)
            spoil(world)
            found, error = run(world)
            said = said_by(error)
            wrong = [name for name in names if not any(name in line for line in said)]
            good = found == code and len(said) == 1 and not wrong
            failures += not good
            text = re.sub(re.escape(folder), "DIR", said[0] if said else error)
            print(f"{'ok     ' if good else 'FAILED '} {spoil.__name__}: {found}: {text.strip()}")
            if not good:
                print(f"        expected {code}, one sentence with {names}; missing {wrong}; {len(said)} sentences")
    # Control: a valid configuration has no error.
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, STRANGER, STRANGER)
        world = World(folder, 0)
        try:
            run(world, timeout_s=2)
            failures += 1
            print("FAILED  the server exits with the valid configuration")
        except subprocess.TimeoutExpired:
            print("ok      the server runs with the valid configuration")
    sys.exit(1 if failures else 0)


main()
