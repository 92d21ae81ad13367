#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Bytes that smuggle a request past a parser, belong to another protocol, or never end: each gets one 4xx and a closed
connection, never a hang or a second response, while valid requests work. Tests the release build and, if it was
built, the address sanitizer build. Faulty servers must fail the test."""

import asyncio
import os
import tempfile

from harness import machine
from harness.report import SLOW, fail, until_in_time
from harness.server import Demo
from chunk_probes import CHUNKS, CODED, HIDDEN, LAST, LAX_TAKES, POST, chunked, post
from flood_double import AnsweringServer, LaxServer, PoolServer

CLOSED_WITHIN_S = 6.0
# For requests with an incomplete body: the deadline of a whole request.
CUT_WITHIN_S = 12.0
PIECE, IN_PIECES_MAX = 7, 2_000  # bytes

H = b"Host: a\r\n"
GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


def get(fields=b"", rest=b""):
    return b"GET /livez HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n" + rest


def line(text, fields=H):
    return text + b"\r\n" + fields + b"\r\n"


# (name, bytes): each gets one 4xx and a closed connection. `MAY_ALSO_BE` lists other permitted statuses.
REJECTED = [
    # Where does the body end?
    ("two lengths", post(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"{}" + HIDDEN)),
    ("the same length twice", post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}" + HIDDEN)),
    ("two lengths, other case", post(b"Content-Length: 2\r\ncontent-LENGTH: 30\r\n", b"{}" + HIDDEN)),
    ("a list of lengths", post(b"Content-Length: 2, 2\r\n", b"{}" + HIDDEN)),
    ("a list of other lengths", post(b"Content-Length: 2,30\r\n", b"{}" + HIDDEN)),
    ("length with plus", post(b"Content-Length: +2\r\n", b"{}" + HIDDEN)),
    ("length with minus", post(b"Content-Length: -2\r\n", b"{}" + HIDDEN)),
    ("length minus zero", post(b"Content-Length: -0\r\n", HIDDEN)),
    ("length with a space inside", post(b"Content-Length: 2 2\r\n", b"{}" + HIDDEN)),
    ("length in hex", post(b"Content-Length: 0x2\r\n", b"{}" + HIDDEN)),
    ("length with exponent", post(b"Content-Length: 2e0\r\n", b"{}" + HIDDEN)),
    ("length with a point", post(b"Content-Length: 2.0\r\n", b"{}" + HIDDEN)),
    ("length with underscore", post(b"Content-Length: 1_0\r\n", b"{}" + HIDDEN)),
    ("length in quotes", post(b'Content-Length: "2"\r\n', b"{}" + HIDDEN)),
    ("length with a comment", post(b"Content-Length: 2;a\r\n", b"{}" + HIDDEN)),
    ("length empty", post(b"Content-Length:\r\n", b"{}" + HIDDEN)),
    ("length of 20 digits", post(b"Content-Length: 18446744073709551618\r\n", b"{}" + HIDDEN)),
    ("length of 30 digits", post(b"Content-Length: " + b"9" * 30 + b"\r\n", b"{}" + HIDDEN)),
    ("length of 2^63", post(b"Content-Length: 9223372036854775808\r\n", b"{}" + HIDDEN)),
    ("length of 10 GB", post(b"Content-Length: 10737418240\r\n", b"{}" + HIDDEN)),
    ("length with Arabic digits", post("Content-Length: ٢\r\n".encode(), b"{}" + HIDDEN)),
    ("length with NUL", post(b"Content-Length: 2\0\r\n", b"{}" + HIDDEN)),
    ("length with vertical tab", post(b"Content-Length: \x0b2\r\n", b"{}" + HIDDEN)),
    ("space before the colon of the length", post(b"Content-Length : 2\r\n", b"{}" + HIDDEN)),
    ("tab before the colon of the length", post(b"Content-Length\t: 2\r\n", b"{}" + HIDDEN)),
    ("length and coding", post(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                               b"0\r\n\r\n" + HIDDEN)),
    ("coding and length", post(b"Transfer-Encoding: chunked\r\nContent-Length: 50\r\n",
                               b"0\r\n\r\n" + HIDDEN)),
    ("length and unknown coding", post(b"Content-Length: 2\r\nTransfer-Encoding: x\r\n", b"{}" + HIDDEN)),
    ("chunked, HTTP/1.0", POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN),
    ("xchunked", post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("chunked in capitals and a length", post(b"Transfer-Encoding: CHUNKED\r\nContent-Length: 5\r\n", LAST + HIDDEN)),
    ("chunked twice, other case", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: CHUNKED\r\n", LAST + HIDDEN)),
    ("chunked twice", post(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("chunked not last", post(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("identity", post(b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n")),
    ("gzip, chunked", post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("two codings", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding empty", post(b"Transfer-Encoding:\r\nContent-Length: 2\r\n", b"{}")),
    ("coding with vertical tab", post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding with NUL", post(b"Transfer-Encoding: chunked\0\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding in quotes", post(b'Transfer-Encoding: "chunked"\r\n', b"0\r\n\r\n" + HIDDEN)),
    ("coding folded", post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding after a folded line", post(b"A: b\r\n Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("space before the colon of the coding", post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("space before the name of the coding", post(b" Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding behind a bare line feed", post(b"A: b\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding behind a bare carriage return", post(b"A: b\rTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding behind NUL", post(b"A: b\0Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + HIDDEN)),
    ("coding with underscore and length", post(b"Transfer-Encoding\xff: chunked\r\nContent-Length: 2\r\n")),
    ("length of zero and coding", post(b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", LAST + HIDDEN)),
    ("coding with a parameter", post(b"Transfer-Encoding: chunked;a=b\r\n", LAST + HIDDEN)),
    ("coding with a comma", post(b"Transfer-Encoding: chunked,\r\n", LAST + HIDDEN)),
    ("the same coding twice", post(b"Transfer-Encoding: chunked\r\n" * 2, LAST + HIDDEN)),
    ("chunked, HTTP/1.0, kept alive", POST.replace(b"1.1", b"1.0") + b"Connection: keep-alive\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n" + LAST + HIDDEN),
    *((f"chunks: {name}", payload) for name, payload in CHUNKS),
    # Where does a line end, and what is a field?
    ("bare line feeds", b"GET /livez HTTP/1.1\nHost: a\n\n" + HIDDEN),
    ("bare line feed after the request line", b"GET /livez HTTP/1.1\nHost: a\r\n\r\n"),
    ("bare line feed ends the header", b"GET /livez HTTP/1.1\r\nHost: a\r\n\n" + HIDDEN),
    ("bare carriage returns", b"GET /livez HTTP/1.1\rHost: a\r\r" + HIDDEN),
    ("bare carriage return in a value", get(b"A: b\rc\r\n")),
    ("two carriage returns", get(b"A: b\r\r\n")),
    ("folded with a space", get(b"A: b\r\n c\r\n")),
    ("folded with a tab", get(b"A: b\r\n\tc\r\n")),
    ("folded first line", b"GET /livez HTTP/1.1\r\n Host: a\r\n\r\n"),
    ("only white space in a line", get(b" \r\n")),
    ("space before a colon", get(b"A : b\r\n")),
    ("no colon", get(b"Abc\r\n")),
    ("no name", get(b": b\r\n")),
    ("a name with a space", get(b"A B: c\r\n")),
    ("a name with a separator", get(b"A(B): c\r\n")),
    ("a name beyond ASCII", get(b"\xc3\xa4: c\r\n")),
    ("NUL in a name", get(b"A\0: b\r\n")),
    ("NUL in a value", get(b"A: b\0c\r\n")),
    ("control character in a value", get(b"A: b\x01\r\n")),
    ("DEL in a value", get(b"A: \x7f\r\n")),
    ("no Host", b"GET /livez HTTP/1.1\r\n\r\n"),
    ("two Hosts", get(b"Host: b\r\n")),
    ("the same Host twice", get(b"Host: a\r\n")),
    ("two Hosts, HTTP/1.0", b"GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
    ("Host with a space", b"GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n"),
    ("Host list", b"GET /livez HTTP/1.1\r\nHost: a b, c/d\r\n\r\n"),
    ("Host with a path", b"GET /livez HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    ("Host with a user", b"GET /livez HTTP/1.1\r\nHost: u@a\r\n\r\n"),
    # Request lines.
    ("HTTP/0.9", b"GET /livez\r\n"),
    ("HTTP/0.9 with Host", line(b"GET /livez")),
    ("HTTP/2.0", line(b"GET /livez HTTP/2.0")),
    ("HTTP/1.10", line(b"GET /livez HTTP/1.10")),
    ("HTTP/1", line(b"GET /livez HTTP/1")),
    ("HTTP/01.1", line(b"GET /livez HTTP/01.1")),
    ("http/1.1", line(b"GET /livez http/1.1")),
    ("HTTP/1.1 and more", line(b"GET /livez HTTP/1.1 HTTP/1.1")),
    ("no version, trailing space", line(b"GET /livez ")),
    ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(64)),
    ("TLS hello", bytes.fromhex("16030100c8010000c40303") + bytes(190) + b"\r\n\r\n"),
    ("SSH", b"SSH-2.0-OpenSSH_9.2\r\n"),
    ("SMTP", b"EHLO a\r\n"),
    ("URL without a host", line(b"GET http:///livez HTTP/1.1")),
    ("URL with a user", line(b"GET http://u@a/livez HTTP/1.1")),
    ("URL of another scheme", line(b"GET ftp://a/livez HTTP/1.1")),
    ("URL with a fragment", line(b"GET http://a/livez#b HTTP/1.1")),
    ("URL and two Hosts", line(b"GET http://a/livez HTTP/1.1", H + H)),
    ("authority form", line(b"CONNECT a:443 HTTP/1.1")),
    ("asterisk form", line(b"GET * HTTP/1.1")),
    ("target without slash", line(b"GET livez HTTP/1.1")),
    ("no target", line(b"GET  HTTP/1.1")),
    ("two spaces", line(b"GET  /livez HTTP/1.1")),
    ("tabs for spaces", line(b"GET\t/livez\tHTTP/1.1")),
    ("leading space", line(b" GET /livez HTTP/1.1")),
    ("space in the target", line(b"GET /li vez HTTP/1.1")),
    ("fragment", line(b"GET /livez#a HTTP/1.1")),
    ("NUL in the target", line(b"GET /livez\0 HTTP/1.1")),
    ("raw bytes in the target", line(b"GET /\xff\xfe HTTP/1.1")),
    ("method with a colon", line(b"GE:T /livez HTTP/1.1")),
    ("method with braces", line(b"{GET} /livez HTTP/1.1")),
    ("empty method", line(b" /livez HTTP/1.1")),
    ("NUL in the method", line(b"G\0T /livez HTTP/1.1")),
    ("method of 10,000 letters", line(b"G" * 10_000 + b" /livez HTTP/1.1")),
    ("target of 9,000 bytes", line(b"GET /" + b"a" * 9_000 + b" HTTP/1.1")),
    ("target of 100,000 bytes", line(b"GET /" + b"a" * 100_000 + b" HTTP/1.1")),
    ("endless first line", b"a" * 200_000),
    # Sizes.
    ("65 fields", get(b"".join(b"A%d: b\r\n" % i for i in range(65)))),
    ("5,000 fields", get(b"A: b\r\n" * 5_000)),
    ("5,000 broken fields", get(b"A b\r\n" * 5_000)),
    ("a field of 200 KB", get(b"A: " + b"b" * 200_000 + b"\r\n")),
    ("a name of 20 KB", get(b"A" * 20_000 + b": b\r\n")),
    ("fields of 17 KB", get(b"".join(b"A%d: %s\r\n" % (i, b"b" * 400) for i in range(42)))),
    ("body of 5 MB", post(b"Content-Length: 5000000\r\n", b" " * 5_000_000)),
    ("body too large, asked first", post(b"Content-Length: 5000000\r\nExpect: 100-continue\r\n", b"")),
    ("gzip", post(b"Content-Encoding: gzip\r\nContent-Length: 20\r\n", bytes(20))),
    # A bad request directly followed by a good one.
    ("bad, then good", line(b"GET /li vez HTTP/1.1") + HIDDEN),
    ("bad field, then good", get(b"A : b\r\n") + HIDDEN),
    ("bad Host, then good", b"GET /livez HTTP/1.1\r\n\r\n" + HIDDEN),
    ("body rejected, then good", post(b"Content-Length: 5000000\r\n", b"{}" + HIDDEN)),
    ("websocket", get(b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\nTransfer-Encoding: a\r\n")),
    ("proxy line before", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + GET),
    ("binary proxy line before", b"\r\n\r\n\x00\r\nQUIT\n" + bytes(16) + GET),
]

# (name, bytes, statuses, open): exactly these complete responses in this order; then the connection is still open
# (True) or closed (False).
ANSWERED = [
    ("good", GET, [200], True),
    ("good and close", get(b"Connection: close\r\n"), [200], False),
    ("HTTP/1.0", b"GET /livez HTTP/1.0\r\n\r\n", [200], False),
    ("empty lines before", b"\r\n\r\n" + GET, [200], True),
    ("two at once", GET + GET, [200, 200], True),
    ("twenty at once", GET * 20, [200] * 20, True),
    ("good, then bad, then good", GET + get(b"A : b\r\n") + HIDDEN, [200, 400], False),
    ("close, then another", get(b"Connection: close\r\n") + HIDDEN, [200], False),
    ("a GET with a body, then another", get(b"Content-Length: 5\r\n", b"hello") + GET, [200, 200], True),
    ("a body that looks like a request", get(b"Content-Length: %d\r\n" % len(HIDDEN), HIDDEN) + GET, [200, 200], True),
    ("a HEAD, then another", b"HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n" + GET, [200, 200], True),
    ("unknown method, then another", line(b"BREW /livez HTTP/1.1") + GET, [405, 200], True),
    ("TRACE", line(b"TRACE /livez HTTP/1.1"), [405], True),
    ("an unknown path, then another", line(b"GET /nothing HTTP/1.1") + GET, [404, 200], True),
    ("a length with leading zeros", get(b"Content-Length: 0005\r\n", b"hello") + GET, [200, 200], True),
    ("a broken body, then another", post(b"Content-Length: 1\r\n", b"{") + GET, [400, 200], True),
    ("chunks, then another", get(CODED, b"5\r\nhello\r\n" + LAST) + GET, [200, 200], True),
    ("no chunks, then another", get(CODED, LAST) + GET, [200, 200], True),
    ("twenty chunked at once", get(CODED, b"2\r\nab\r\n3\r\ncde\r\n" + LAST) * 20, [200] * 20, True),
    ("coding with a tab", get(b"Transfer-Encoding:\tchunked\r\n", LAST) + GET, [200, 200], True),
    ("sizes with zeros and letters", get(CODED, b"00a\r\n0123456789\r\n0A\r\n0123456789\r\n000\r\n\r\n") + GET,
     [200, 200], True),
    ("an extension and trailers", get(CODED, b'5;a="b c"\r\nhello\r\n0;d\r\nA: b\r\nC:\r\n\r\n') + GET, [200, 200], True),
    ("a chunk that looks like a request", get(CODED, b"%x\r\n%s\r\n" % (len(HIDDEN), HIDDEN) + LAST) + GET,
     [200, 200], True),
    ("a chunk that looks like the last", get(CODED, b"5\r\n" + LAST + b"\r\n" + LAST) + GET, [200, 200], True),
    ("60,000 chunks of one byte", get(CODED, b"1\r\n \r\n" * 60_000 + LAST) + GET, [200, 200], True),
    ("a broken chunked body, then another", chunked(b"1\r\n{\r\n" + LAST) + GET, [400, 200], True),
    ("chunks and close, then another", get(CODED + b"Connection: close\r\n", LAST) + HIDDEN, [200], False),
    ("an encoded line break in a field", get(b"A: b%0d%0aHost: c\r\n"), [200], True),
    ("chunked in capitals", get(b"Transfer-Encoding: CHUNKED\r\n", b"5\r\nhello\r\n" + LAST) + GET, [200, 200],
     True),
    # Every form of a request line in RFC 9112.
    ("Host empty", b"GET /livez HTTP/1.1\r\nHost:\r\n\r\n" + GET, [200, 200], True),
    ("HTTP/1.2", line(b"GET /livez HTTP/1.2") + GET, [200, 200], True),
    ("HTTP/1.9 and a body", line(b"GET /livez HTTP/1.9", H + b"Content-Length: 5\r\n") + b"hello" + GET, [200, 200],
     True),
    ("absolute form", line(b"GET http://a/livez HTTP/1.1") + GET, [200, 200], True),
    ("absolute form, other host", line(b"GET HTTPS://b:8443/livez HTTP/1.1") + GET, [200, 200], True),
    ("absolute form without a path", line(b"GET http://a?b HTTP/1.1") + GET, [200, 200], True),
    ("absolute form, chunked", line(b"GET http://a/livez HTTP/1.1", H + CODED) + b"2\r\nab\r\n" + LAST + GET,
     [200, 200], True),
    ("asterisk form of OPTIONS", line(b"OPTIONS * HTTP/1.1") + GET, [204, 200], True),
    ("64 fields", get(b"".join(b"A%d: b\r\n" % i for i in range(63))), [200], True),
]

# (name, bytes): never complete; closed without a response, or with a 4xx.
CUT = [
    ("half a request line", b"GET /liv"),
    ("half a header", b"GET /livez HTTP/1.1\r\nHost: a\r\n"),
    ("half a line break", b"GET /livez HTTP/1.1\r\nHost: a\r"),
    ("nothing but line breaks", b"\r\n\r\n\r\n"),
    ("nothing", b""),
    ("half a body", post(b"Content-Length: 100\r\n")),
    ("no body", post(b"Content-Length: 1\r\n", b"")),
    ("no chunk", chunked(b"")),
    ("half a size", chunked(b"2")),
    ("half a chunk", chunked(b"5\r\n{}")),
    ("half a line end", chunked(b"2\r\n{}\r")),
    ("no last chunk", chunked(b"2\r\n{}\r\n")),
    ("no end of the trailers", chunked(b"2\r\n{}\r\n0\r\nA: b\r\n")),
]


class Outcome:
    def __init__(self):
        self.data, self.closed_s, self.first_s = b"", None, None


async def probe(host, port, payload, wait_s, piece=0):
    """Sends `payload`, in pieces if `piece` is their size, and reads until the server closes the connection or `wait_s`
    have passed."""
    loop = asyncio.get_running_loop()
    outcome, began = Outcome(), loop.time()
    reader, writer = await asyncio.open_connection(host, port)

    async def send():
        try:
            for at in range(0, len(payload), piece or len(payload) or 1):
                writer.write(payload[at:at + (piece or len(payload))])
                await writer.drain()
                await asyncio.sleep(0)
        except OSError:
            pass  # closed before everything was sent; earlier responses still count

    sending = asyncio.ensure_future(send())
    try:
        while True:
            left = began + wait_s - loop.time()
            data = await asyncio.wait_for(reader.read(65536), max(0.01, left))
            if not data:
                outcome.closed_s = loop.time() - began
                break
            outcome.data += data
    except asyncio.TimeoutError:
        pass
    except OSError:
        outcome.closed_s = loop.time() - began  # closed by a reset
    sending.cancel()
    writer.transport.abort()
    return outcome


def answers(data, heads):
    """[status] of the responses in `data`, and the remaining bytes. `heads`: responses without a body."""
    statuses, number = [], 0
    while data:
        head, separator, rest = data.partition(b"\r\n\r\n")
        fields = head.split(b"\r\n")
        words = fields[0].split(b" ")
        if not separator or len(words) < 2 or words[0] != b"HTTP/1.1" or not words[1].isdigit():
            break
        lengths = [field for field in fields if field.lower().startswith(b"content-length:")]
        if len(lengths) != (words[1] != b"204"):
            break
        length = int(lengths[0].split(b":")[1]) if lengths and number not in heads else 0
        if len(rest) < length:
            break
        statuses.append(int(words[1]))
        data, number = rest[length:], number + 1
    return statuses, data


def judge_rejection(outcome):
    statuses, left = answers(outcome.data, ())
    if left:
        return f"bytes follow the response: {left[:60]!r}"
    if len(statuses) != 1:
        return f"{len(statuses)} responses: {statuses}"
    if not 400 <= statuses[0] < 500:
        return f"status {statuses[0]}"
    if outcome.closed_s is None or outcome.closed_s > CLOSED_WITHIN_S:
        return SLOW + "not closed"
    if b"\r\nConnection: close\r\n" not in outcome.data:
        return "the response has no Connection: close"
    return None


def judge_answered(outcome, wanted, stays_open, heads):
    statuses, left = answers(outcome.data, heads)
    if left or statuses != wanted:
        return f"responses {statuses}, expected {wanted}; remaining bytes {left[:60]!r}"
    if stays_open != (outcome.closed_s is None):
        return "closed" if stays_open else "not closed"
    return None


def judge_cut(outcome):
    statuses, left = answers(outcome.data, ())
    if left or len(statuses) > 1 or any(not 400 <= status < 500 for status in statuses):
        return f"response {outcome.data[:80]!r}"
    if outcome.closed_s is None or outcome.closed_s > CUT_WITHIN_S:
        return SLOW + "not closed"
    return None


async def all_probes(host, port):
    """Runs all probes. Returns {name: fault, or None}."""
    limit = asyncio.Semaphore(64)

    async def one(kind, name, payload, wait_s, judge, piece=0):
        async with limit:
            return f"{kind}: {name}", judge(await probe(host, port, payload, wait_s, piece))

    # The slow probes come first, so that the others run while they wait.
    tasks = [one("cut", name, payload, CUT_WITHIN_S + 1, judge_cut) for name, payload in CUT]
    tasks += [one("rejected", name, payload, CLOSED_WITHIN_S + 1, judge_rejection) for name, payload in REJECTED]
    for name, payload, wanted, stays_open in ANSWERED:
        heads = (0,) if payload.startswith(b"HEAD") else ()

        def judge(outcome, wanted=wanted, stays_open=stays_open, heads=heads):
            return judge_answered(outcome, wanted, stays_open, heads)
        tasks.append(one("answered", name, payload, 3.0, judge))
        # The same requests in pieces, as from a slow network. After a close, a reset may discard the response.
        if stays_open and len(payload) < IN_PIECES_MAX:
            tasks.append(one("answered in pieces", name, payload, 3.0, judge, PIECE))
    for name, payload in REJECTED:
        if len(payload) < IN_PIECES_MAX:
            tasks.append(in_pieces(limit, host, port, name, payload))
    return dict(await asyncio.gather(*tasks))


async def in_pieces(limit, host, port, name, payload):
    async with limit:
        reader, writer = await asyncio.open_connection(host, port)
        loop = asyncio.get_running_loop()
        outcome, began, reset = Outcome(), loop.time(), False
        try:
            for at in range(0, len(payload), PIECE):
                writer.write(payload[at:at + PIECE])
                await writer.drain()
                await asyncio.sleep(0)
        except OSError:
            reset = True
        try:
            outcome.data = await asyncio.wait_for(reader.read(-1), CLOSED_WITHIN_S + 1)
            outcome.closed_s = loop.time() - began
        except asyncio.TimeoutError:
            pass
        except OSError:
            outcome.closed_s, reset = loop.time() - began, True
        writer.transport.abort()
        if not outcome.data and reset:
            # More pieces arrived after the close, and the resulting reset discarded the response: permitted.
            return f"in pieces: {name}", None
        return f"in pieces: {name}", judge_rejection(outcome)


def run(binary):
    """Runs all probes against one binary. Returns the faults, and no summary."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary, folder).start(ready_within_s=30.0)
        outcomes = asyncio.run(all_probes(gateway.host, gateway.port))
        # SLOW must stay the first word.
        faults = [f"{fault}, {what}" for what, fault in outcomes.items() if fault]
        status, _ = gateway.connect().call("GET", "/healthz")
        if status != 200:
            faults.append(f"/healthz returns {status} afterwards")
        if gateway.login().call("GET", "/v1/wallets")[0] != 200:
            faults.append("valid requests fail after the probes")
        if gateway.stop() != 0:
            faults.append("the server did not stop cleanly")
    return faults, ""


async def control():
    """The judges must fail servers that are faulty in one way each."""
    good = b"HTTP/1.1 400 \r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    doubles = {
        "returns 200": AnsweringServer(good.replace(b"400", b"200")),
        "returns 500": AnsweringServer(good.replace(b"400", b"500")),
        "responds twice": AnsweringServer(good, "again"),
        "stays open": AnsweringServer(good, "open"),
        "sends garbage": AnsweringServer(b"\x15\x03\x01\x00\x02\x02\x50"),
        "hangs": PoolServer(threads=0),
    }
    sample = dict(REJECTED[::40])
    for what, double in doubles.items():
        outcomes = await asyncio.gather(*(probe(double.host, double.port, payload, 2.0)
                                          for payload in sample.values()))
        double.stop()
        for name, outcome in zip(sample, outcomes):
            if judge_rejection(outcome) is None:
                fail(f"a server that {what} passed the probe `{name}`")
    lax, taken = LaxServer(), []
    for name, payload in CHUNKS:
        outcome = await probe(lax.host, lax.port, payload, 0.2)
        if judge_rejection(outcome) is None:
            fail(f"a server with a lenient chunk parser passed the probe `{name}`")
        if b"200 OK" in outcome.data:
            taken.append(name)
    lax.stop()
    if len(taken) < LAX_TAKES:
        fail(f"the lenient parser accepts only {len(taken)} of the chunked probes: {taken}")
    right = AnsweringServer(good)
    outcome = await probe(right.host, right.port, sample.popitem()[1], 2.0)
    right.stop()
    if judge_rejection(outcome) is not None:
        fail(f"the judge fails a correct server: {judge_rejection(outcome)}")
    return len(doubles) + 1


def main():
    doubles = asyncio.run(control())
    binaries = [machine.binary()]
    sanitized = os.environ.get("COFFER_DEV_BIN", "")
    if os.path.exists(sanitized):
        binaries.append(sanitized)
    for path in binaries:
        name = os.path.basename(os.path.dirname(path))
        until_in_time(lambda: run(path), name)
    count = 2 * len(REJECTED) + 2 * len(ANSWERED) + len(CUT)
    print(f"count: about {count} probes against each of {len(binaries)} binaries")
    print(f"control: {doubles} faulty servers failed the test")
    print(f"wire_probes: {len(REJECTED)} rejected and {len(ANSWERED)} answered, whole and in pieces, {len(CUT)} cut")


if __name__ == "__main__":
    main()
