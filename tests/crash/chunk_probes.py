"""Chunked request bodies (RFC 9112 section 7.1) that lenient parsers frame in different ways. See wire_probes.py."""

POST = b"POST /v1/auth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CODED = b"Transfer-Encoding: chunked\r\n"
# Must never get a response: bytes that another parser would treat as a request.
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"


def post(fields, body=b"{}"):
    return POST + fields + b"\r\n" + body


def chunked(body):
    return post(CODED, body)


# The end of a chunked body.
LAST = b"0\r\n\r\n"

# (name, bytes): chunked bodies that lenient parsers frame in different ways, or never finish.
CHUNKS = [
    ("size with plus", chunked(b"+2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size with minus", chunked(b"-1\r\n" + HIDDEN)),
    ("size minus zero", chunked(b"-0\r\n\r\n" + HIDDEN)),
    ("size with prefix", chunked(b"0x2\r\n{}\r\n" + LAST + HIDDEN)),
    ("last size with prefix", chunked(b"2\r\n{}\r\n0x0\r\n\r\n" + HIDDEN)),
    ("size with underscore", chunked(b"1_0\r\n" + b"a" * 16 + b"\r\n" + LAST + HIDDEN)),
    ("size after a space", chunked(b" 2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size after a tab", chunked(b"\t2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size before a space", chunked(b"2 \r\n{}\r\n" + LAST + HIDDEN)),
    ("size before a space and an extension", chunked(b"2 ;a\r\n{}\r\n" + LAST + HIDDEN)),
    ("size after an empty line", chunked(b"\r\n2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size with a comma", chunked(b"2,2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size in quotes", chunked(b'"2"\r\n{}\r\n' + LAST + HIDDEN)),
    ("size in Arabic digits", chunked("\u0662\r\n{}\r\n".encode() + LAST + HIDDEN)),
    ("size with NUL", chunked(b"2\0\r\n{}\r\n" + LAST + HIDDEN)),
    ("size with vertical tab", chunked(b"2\x0b\r\n{}\r\n" + LAST + HIDDEN)),
    ("no size", chunked(b";a\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 17 digits", chunked(b"10000000000000002\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 17 digits, zeros", chunked(b"00000000000000002\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 33 digits", chunked(b"1" + b"0" * 31 + b"2\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 2^64 - 1", chunked(b"ffffffffffffffff\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 2^63", chunked(b"8000000000000000\r\n{}\r\n" + LAST + HIDDEN)),
    ("size of 2^32 and 2", chunked(b"100000002\r\n{}\r\n" + LAST + HIDDEN)),
    ("second size overflows the sum", chunked(b"2\r\n{}\r\nfffffffffffffffe\r\n" + HIDDEN)),
    ("endless size", chunked(b"0" * 70_000)),
    ("line feed after the size", chunked(b"2\n{}\r\n" + LAST + HIDDEN)),
    ("carriage return after the size", chunked(b"2\r{}\r\n" + LAST + HIDDEN)),
    ("two carriage returns after the size", chunked(b"2\r\r\n{}\r\n" + LAST + HIDDEN)),
    ("line feed in an extension", chunked(b"2;\nab\r\n%x\r\n" % (len(HIDDEN) + 9) + LAST + HIDDEN)),
    ("carriage return in an extension", chunked(b"2;a\rb\r\n{}\r\n" + LAST + HIDDEN)),
    ("NUL in an extension", chunked(b"2;a\0\r\n{}\r\n" + LAST + HIDDEN)),
    ("line feed after the last size", chunked(b"2\r\n{}\r\n0\n\r\n" + HIDDEN)),
    ("no line end after the data", chunked(b"2\r\n{}" + LAST + HIDDEN)),
    ("line feed after the data", chunked(b"2\r\n{}\n" + LAST + HIDDEN)),
    ("carriage return after the data", chunked(b"2\r\n{}\r" + LAST + HIDDEN)),
    ("data longer than its size", chunked(b"2\r\n{}{}\r\n" + LAST + HIDDEN)),
    ("data shorter than its size", chunked(b"5\r\n{}\r\n" + LAST + HIDDEN)),
    ("line feed for the end", chunked(b"2\r\n{}\r\n0\r\n\n" + HIDDEN)),
    ("extension of 70 KB", chunked(b"2;" + b"a" * 70_000 + b"\r\n{}\r\n" + LAST)),
    ("5,000 chunks with extensions", chunked(b"1;abcdefgh\r\n \r\n" * 5_000 + LAST)),
    ("endless trailers", chunked(b"0\r\n" + b"A: b\r\n" * 20_000)),
    ("a trailer of 70 KB", chunked(b"0\r\nA: " + b"b" * 70_000 + b"\r\n\r\n")),
    ("a length as trailer", chunked(b"0\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN)),
    ("a coding as trailer", chunked(b"0\r\nTransfer-Encoding: chunked\r\n\r\n" + HIDDEN)),
    ("a host as trailer", chunked(b"0\r\nHost: b\r\n\r\n" + HIDDEN)),
    ("credentials as trailer", chunked(b"0\r\nAuthorization: Bearer a\r\n\r\n" + HIDDEN)),
    ("a folded trailer", chunked(b"0\r\nA: b\r\n c\r\n\r\n" + HIDDEN)),
    ("a trailer with a space before its colon", chunked(b"0\r\nA : b\r\n\r\n" + HIDDEN)),
    ("line feed after a trailer", chunked(b"0\r\nA: b\n\r\n" + HIDDEN)),
    ("a request in place of trailers", chunked(b"2\r\n{}\r\n0\r\n" + HIDDEN)),
    ("a request in place of a chunk", chunked(HIDDEN)),
    ("5 MB in one chunk", chunked(b"4c4b40\r\n" + b" " * 5_000_000 + b"\r\n" + LAST)),
    ("5 MB in many chunks", chunked(b"400\r\n" + (b" " * 1024 + b"\r\n400\r\n") * 5_000)),
    ("70,000 chunks of one byte", chunked(b"1\r\n \r\n" * 70_000 + LAST)),
]

# A lenient parser accepts at least this many of them.
LAX_TAKES = 20
