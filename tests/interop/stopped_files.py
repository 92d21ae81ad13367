"""Part of cli.py: files that another process has locked, that were moved away, or whose disk has too little space."""

import fcntl
import os
import signal
import subprocess
import tempfile

from harness.calls import UNKNOWN_ID
from harness.report import check, wait_for

WAIT_S = 60.0


def without_room(cli, db):
    """With less free space than the floor, commands that only read work, and others say why they do not."""
    env = {"COFFER_DISK_FLOOR_MIB": "1048576"}
    exported = cli.exits(0, "export below the floor", "export", "-", "--db", db, env=env).stdout
    check("it exports everything", "Müller" in exported, exported)
    for words in (("audit", "list"), ("verify",), ("statement", "export", UNKNOWN_ID)):
        done = cli.exits(1 if UNKNOWN_ID in words else 0, " ".join(words), *words, "--db", db, env=env)
        check("not because of the disk", "disk" not in done.stderr, done.stderr)
    change = ("association", "create", "Later", "--db", db)
    cli.says(75, "a change below the floor", "disk is full", *change, env=env)
    server = subprocess.Popen([cli.program, "serve", "--listen-http", "127.0.0.1:0", "--admin-off", "--db", db],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **cli.home, **env})
    wait_for("the server listens", lambda: "listening" in server.stderr.readline(), WAIT_S)
    cli.says(75, "a change in this server", "disk is full", *change)
    cli.says(75, "verify in this server", "stop the server for this command", "verify", "--db", db)
    if os.path.isdir("/dev/shm"):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as disk:
            cli.exits(0, "a backup to another disk", "backup", os.path.join(disk, "backup.db"), "--db", db)
    server.send_signal(signal.SIGTERM)
    server.stderr.read()
    check("the server stops", server.wait(WAIT_S) == 0)


def missing(cli):
    """A database that was moved away is not replaced or confused with another one."""
    db = cli.path("moved", "own.db")
    cli.exits(0, "init", "init", "--db", db)
    os.rename(db, db + ".away")
    for words in (("association", "list"), ("init",), ("serve",)):
        cli.says(74, f"{words[0]} without the database", "contained a ledger", *words, "--db", db)
    check("nothing creates it", not os.path.exists(db))
    done = cli.says(73, "a backup in a missing folder", "the folder .*none does not exist", "export", cli.path("none", "all"),
                    "--db", db + ".away")
    check("the partial file is not mentioned", "partial" not in done.stderr, done.stderr)
    home = {"HOME": cli.path("moved", "home"), "XDG_DATA_HOME": cli.path("moved", "data")}
    own, demo = cli.path("moved", "data", "coffer", "coffer.db"), cli.path("moved", "data", "coffer", "demo.db")
    cli.exits(0, "init at the default path", "init", env=home)
    os.rename(own, demo)
    cli.says(74, "no demo in its place", "contained a ledger", "association", "list", env=home)


def held_by_a_command(cli, db):
    """A starting server waits for a command that has the file open, but not for another server."""
    words = [cli.program, "serve", "--listen-http", "127.0.0.1:0", "--admin-off", "--db", db]
    log = cli.path("held.log")

    def said(text):
        with open(log, encoding="utf-8") as file:
            return text in file.read()

    with open(db + ".lock", "r+", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = [line for line in lock.read().splitlines()[1:] if not line.startswith("command ")]

        def hold(*command):
            lock.seek(0)
            lock.truncate()
            lock.write("".join(line + "\n" for line in (str(os.getpid()), *state, *command)))
            lock.flush()

        hold()
        cli.says(75, "serve while another server has the file open", "in use by another coffer", *words[1:])
        for code, line in ((75, ("association", "list")), (69, ("listen", "--forward-to", "http://127.0.0.1:1/"))):
            cli.says(code, f"{line[0]} beside a server without a control socket", db + ".sock", *line, "--db", db)
        hold("command verify")
        cli.says(75, "a command beside a command", "verify.*wait until that command is complete", "association", "list",
                 "--db", db)
        for stops in (True, False):
            with open(log, "wb") as errors:
                server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                          env={**os.environ, **cli.home})
            wait_for("serve waits for the command, which its log names",
                     lambda: said("waiting for the program") and said("verify"), WAIT_S)
            if stops:
                server.send_signal(signal.SIGTERM)
                check("a server that waits can be stopped", server.wait(WAIT_S) == 0)
        hold()
    wait_for("serve starts when the command has ended", lambda: said("listening"), WAIT_S)
    server.send_signal(signal.SIGTERM)
    check("the server stops", server.wait(WAIT_S) == 0)
    looked_at(cli, db, words[1:])


def looked_at(cli, db, words):
    """A process that only looks at the lock file locks it for an instant. It then names a command that has ended."""
    with open(db + ".lock", "r+", encoding="ascii") as lock:
        state = lock.read()
        lock.write("command verify\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_SH)
        server = subprocess.Popen([cli.program, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **cli.home})
        for line in server.stderr:
            if "waiting for the program" in line:
                fcntl.flock(lock, fcntl.LOCK_UN)
            if "listening" in line:
                break
        server.send_signal(signal.SIGTERM)
        said = server.stderr.read()
        check("serve starts after a look at the lock file", server.wait(WAIT_S) == 0 and "in use" not in said, (state, said))
