"""Deliberately faulty servers: every flood test must fail against one of them."""

import socket
import threading


class WrongServer:
    """A pool of threads, each with one connection at a time. `serve` handles a connection."""

    def __init__(self, threads, backlog):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.host, self.port = self.listener.getsockname()
        for _ in range(threads):
            threading.Thread(target=self.work, daemon=True).start()

    def serve(self, connection):
        raise NotImplementedError

    def work(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self.serve(connection)
                except OSError:
                    pass

    def stop(self):
        self.listener.close()


class PoolServer(WrongServer):
    """A simple server: a pool of threads, each reading from one connection until a request is complete, without a
    deadline. It never closes a slow connection."""

    def __init__(self, threads=8):
        self.threads = threads
        self.taken = threading.Semaphore(0)
        super().__init__(threads, 4096)

    def wait_until_taken(self, within_s):
        """Waits until as many connections as threads are or have been served."""
        for _ in range(self.threads):
            self.taken.acquire(timeout=within_s)

    def serve(self, connection):
        self.taken.release()
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(4096)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            length = 0
            for line in head.split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            while len(data) < length:
                more = connection.recv(4096)
                if not more:
                    return
                data += more
            data = data[length:]
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


class LaxServer(WrongServer):
    """Parses chunked bodies leniently: any number that Python accepts, any line end, and any bytes after the data."""

    def __init__(self, threads=16):
        super().__init__(threads, 1024)

    def serve(self, connection):
        lines = connection.makefile("rb")
        while lines.readline():
            while lines.readline().strip():
                pass
            while True:
                text = lines.readline().split(b";")[0].strip()
                try:
                    size = int(text or b"0", 16) % 2 ** 32
                except ValueError:
                    return
                if size == 0:
                    break
                lines.read(size)
                lines.readline()
            while lines.readline().strip():
                pass
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


class AnsweringServer(WrongServer):
    """Responds to any first bytes with the same response. `then`: "close" the connection, keep it "open", or
    respond "again" before closing it."""

    def __init__(self, answer, then="close", threads=16):
        self.answer, self.then = answer, then
        super().__init__(threads, 1024)

    def serve(self, connection):
        connection.recv(65536)
        connection.sendall(self.answer)
        if self.then == "again":
            connection.sendall(self.answer)
        while self.then == "open" and connection.recv(65536):
            pass
        connection.shutdown(socket.SHUT_WR)
