"""Ports for servers of a test that come and go at one place."""

import socket

HELD = []


def held_port():
    """A port of this machine that nobody is given as long as this test runs: a socket is bound to it that
    never listens. Who asks for this very port, with SO_REUSEADDR as servers do, gets it all the same."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    HELD.append(holder)
    return holder.getsockname()[1]
