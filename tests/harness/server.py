"""The program as processes: `coffer demo` and `coffer serve` on a file, and commands on the file."""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time

from harness.calls import Connection
from harness.machine import held_port
from harness.tls import trusting

# Processes to kill at exit, so that a failed test leaves none running.
RUNNING = set()


@atexit.register
def kill_what_is_left():
    for process in RUNNING:
        if process.poll() is None:
            process.kill()
            process.wait()


def run_command(binary, db, *words):
    """Runs `coffer WORDS` on a file, served or not, and returns the finished process. Its output is JSON."""
    return subprocess.run([binary, *words, "--db", db, "--json"], capture_output=True, text=True, check=False)


def rows_of(text):
    """The result in the JSON of a command; of a list in pages, the rows of the page."""
    found = json.loads(text)
    return found["data"] if isinstance(found, dict) and found.keys() == {"data", "nextCursor"} else found


def command(binary, db, *words):
    """The result of `coffer WORDS`; of a list in pages, its rows. Ends the test if the command fails."""
    done = run_command(binary, db, *words)
    if done.returncode:
        sys.exit(f"coffer {' '.join(words)}: {done.stderr}")
    return rows_of(done.stdout)


class Elsewhere:
    """A server that was started elsewhere: its address, and a way to run its commands."""

    def __init__(self, host, port, run):
        """`run` takes a command's words and returns its result."""
        self.host, self.port, self.command = host, port, run

    def connect(self, timeout_s=10.0):
        return Connection(self.host, self.port, timeout_s)


class Server(Elsewhere):
    """A file and the process that serves it, which can be restarted. Its log is the file `log`."""

    def __init__(self, binary, db, log, host, port):
        super().__init__(host, port, lambda *words: command(binary, db, *words))
        self.binary, self.db, self.log = binary, db, log
        self.process, self.ready_s = None, None

    def spawn(self, words, wrapper=(), env=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*wrapper, self.binary, *words], stdout=subprocess.PIPE, stderr=log,
                                            stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        RUNNING.add(self.process)
        return self.process

    def kill(self):
        self.process.kill()
        return self.wait()

    def wait(self, timeout_s=10.0):
        """The exit code; a negative number is the signal that ended the process."""
        code = self.process.wait(timeout_s)
        RUNNING.discard(self.process)
        self.process.stdout.close()
        return code

    def stop(self, timeout_s=10.0):
        os.kill(self.server_pid(), signal.SIGTERM)
        return self.wait(timeout_s)

    def server_pid(self):
        """The process ID of the server itself, not of a wrapper."""
        with open(self.db + ".lock", encoding="ascii") as lock:
            return int(lock.readline())

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


class Demo(Server):
    """`coffer demo`: a sandbox whose `facts` name its credentials, wallets and connectors."""

    def __init__(self, binary, folder, db="ledger.db", port=0, options=()):
        """`port`: from held_port(), to keep the port after a restart; 0: a new port at each start. `options`:
        additional words of the command line."""
        super().__init__(binary, os.path.join(folder, db), os.path.join(folder, "server.log"), None, port)
        self.listen, self.options, self.facts = str(port), options, None

    def words(self):
        return ["demo", "--db", self.db, "--port", self.listen, "--json", *self.options]

    def start(self, wrapper=(), env=None, ready_within_s=30.0):
        """Returns when the server responds, and sets `ready_s`, in seconds. Raises if it is not ready in time."""
        began = time.monotonic()
        process = self.spawn(self.words(), wrapper, env)
        # Ends the wait for the first line if the process hangs.
        watchdog = threading.Timer(ready_within_s, process.kill)
        watchdog.start()
        line = process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise RuntimeError(f"the server exited with {process.wait()} before it was ready")
        self.facts = json.loads(line)
        self.host, port = self.facts["baseUrl"].partition("://")[2].rsplit(":", 1)
        self.port = int(port)
        status, _ = self.connect().call("GET", "/healthz")
        if status != 200:
            raise RuntimeError(f"/healthz responds with {status}")
        self.ready_s = time.monotonic() - began
        return self

    def start_and_kill(self, after_s, env=None):
        """Kills a starting process after `after_s`. Returns whether it had not yet reported that it is ready."""
        process = self.spawn(self.words(), env=env)
        time.sleep(after_s)
        process.kill()
        RUNNING.discard(process)
        said, _ = process.communicate()
        return not said

    def login(self):
        """A connection that is allowed to pay."""
        return self.connect().log_in(self.facts)

    def wallet(self, name):
        return next(wallet["id"] for wallet in self.facts["wallets"] if wallet["name"] == name)


class Service(Server):
    """`coffer serve` on a file that `coffer init` created, on its own port. `settings`: environment variables;
    `tls`: paths of the certificate and the key."""

    def __init__(self, binary, db, host="127.0.0.1", port=None, settings=None, tls=None):
        super().__init__(binary, db, db + ".log", host, port or held_port())
        self.settings, self.tls = settings or {}, tls

    def start(self, *words, ready="/healthz", ready_within_s=30.0, pause_s=0.01):
        """Adds `words` to the command line. Returns when `ready` responds with 200, and sets `ready_s`, in seconds,
        with a resolution of `pause_s`. Ends the test if the server is not ready in time."""
        began = time.monotonic()
        tls = ["--tls-cert", self.tls[0], "--tls-key", self.tls[1]] if self.tls else []
        self.spawn(["serve", "--db", self.db, "--listen-http", f"{self.host}:{self.port}", *tls, *words],
                   env=self.settings)
        while not self.answers(ready):
            if self.process.poll() is not None or time.monotonic() - began > ready_within_s:
                sys.exit("the server does not start: " + self.said()[-500:])
            time.sleep(pause_s)
        self.ready_s = time.monotonic() - began
        return self

    def connect(self, timeout_s=10.0):
        return Connection(self.host, self.port, timeout_s, tls=trusting(self.tls[0]) if self.tls else None)

    def answers(self, path):
        try:
            return self.connect().call("GET", path)[0] == 200
        except ConnectionError:
            return False
