"""Reference measurements: the HTTP library alone, SQLite alone, and PostgreSQL with the same ledger."""

import glob
import os
import re
import shutil
import subprocess

from machine import FOLDER, Helper, Load, say, wrk

CLIENTS = (8, 16, 32, 64, 128)
PAYMENTS = 100_000


def http_library(bench, path, legs):
    """Requests a second of the library, which returns the same bytes and does nothing else."""
    with Helper(bench, "bench_http_ceiling") as library:
        url = f"http://127.0.0.1:{library.port}{path}"
        return Load(wrk(url, bench.seconds, bench.connections, "pay.lua", "http", legs, "key", "token", "one", "two"))


def sqlite(bench):
    """Payments a second and bytes per payment, in batches of the number of connections."""
    done = subprocess.run([os.path.join(bench.programs, "bench_sqlite_ceiling"), bench.path("ceiling.db"),
                           str(PAYMENTS), str(bench.connections)], capture_output=True, text=True, check=True)
    rate, size = (float(word) for word in done.stdout.split())
    return rate, size


class Postgres:
    """A separate server in the folder of this run, as a user other than root."""

    def __init__(self, bench):
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = bins[-1] if bins else None
        self.bench, self.home, self.user = bench, bench.path("pg"), []
        if self.bin and os.geteuid() == 0:
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "env",
                         f"HOME={self.home}"]

    def run(self, program, *words, user=()):
        return subprocess.run([*user, os.path.join(self.bin, program), *words], cwd=self.home,
                              capture_output=True, text=True, check=True).stdout

    def __enter__(self):
        os.mkdir(self.home)
        if self.user:
            os.chmod(os.path.dirname(self.home), 0o755)
            shutil.chown(self.home, "postgres")
        data = os.path.join(self.home, "data")
        self.run("initdb", "-D", data, "-A", "trust", "-U", "bench", user=self.user)
        # Not through `run`: the server stays, and would keep its pipes open.
        subprocess.run([*self.user, os.path.join(self.bin, "pg_ctl"), "-D", data, "-w", "-l",
                        os.path.join(self.home, "log"), "-o", f"-h '' -k {self.home} -c max_connections=200",
                        "start"], cwd=self.home, stdout=subprocess.DEVNULL, check=True)
        self.run("psql", "-q", *self.where(), "-f", os.path.join(FOLDER, "postgres.sql"))
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", os.path.join(self.home, "data"), "-m", "fast", "stop", user=self.user)

    def where(self):
        return ["-h", self.home, "-U", "bench", "-d", "postgres"]

    def payments(self, clients, seconds):
        out = self.run("pgbench", "-n", *self.where(), "-M", "prepared", "-c", str(clients), "-j", "1", "-T",
                       str(seconds), "-f", os.path.join(FOLDER, "postgres_payment.sql"))
        return float(re.search(r"^tps = ([\d.]+)", out, re.MULTILINE).group(1))


def postgres(bench):
    """Payments a second with the best number of clients, and that number; None if PostgreSQL is not installed."""
    server = Postgres(bench)
    if not server.bin:
        say("PostgreSQL is not installed: no row for it")
        return None
    best = (0.0, 0)
    with server:
        for clients in CLIENTS:
            best = max(best, (server.payments(clients, max(2, bench.seconds // 2)), clients))
        return best
