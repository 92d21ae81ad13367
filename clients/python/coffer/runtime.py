"""Tokens, retries, decimals, pages, problems, and the verification of webhooks."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime
import functools
import hashlib
import hmac
import http.client
import json
import random
import re
import socket
import ssl
import threading
import time
import typing
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from coffer import types

FINAL = {"succeeded", "failed", "refunded", "refund_failed", "expired"}
LONGEST_WAIT_S = 8.0

P = TypeVar("P")
T = TypeVar("T")


class CofferError(Exception):
    """The base of all errors of this package, except of invalid arguments."""


class ConnectionLost(CofferError):
    """The server did not respond until the deadline. Whether it processed the request is unknown."""


class PaymentTimeout(CofferError, TimeoutError):
    """The payment has no final status yet."""


class WebhookError(CofferError):
    """The delivery is not genuine, or too old. Respond with 400, and do not process it."""


class ProblemError(CofferError):
    """An error response. `slug` identifies the problem; it is empty if the response is not a problem of coffer."""

    def __init__(self, response: Response) -> None:
        body = parsed(response.body)
        self.status = response.status
        prefix, _, slug = str(body.get("type")).rpartition(":")
        self.slug = slug if prefix == "urn:coffer:problem" else ""
        self.title = str(body.get("title", http.client.responses.get(response.status, "")))
        self.detail: str | None = body.get("detail")
        rows = body.get("errors", []) if self.slug else []
        self.errors: dict[str, str] = {row["field"]: row["message"] for row in rows}
        self.request_id: str | None = body.get("requestId") or response.headers.get("x-request-id")
        if "success" in body and ": " in str(body.get("message")):  # the envelope of the business routes
            code, self.detail = body["message"].split(": ", 1)
            self.slug = self.title = code.lower().replace("_", "-")
        super().__init__(f"{self.status} {self.slug or self.title}: {self.detail or self.title}")


@dataclasses.dataclass(frozen=True)
class Request:
    """One HTTP request, as a transport sends it."""

    method: str
    url: str
    headers: dict[str, str] = dataclasses.field(repr=False)
    body: bytes | None = dataclasses.field(repr=False)
    timeout: float


@dataclasses.dataclass(frozen=True)
class Response:
    """One HTTP response; the names of the headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of an operation, and how to send it."""

    method: str
    url: str
    headers: dict[str, str] = dataclasses.field(repr=False)
    data: bytes | None = dataclasses.field(repr=False)
    auth: str
    repeatable: bool = True
    success: Sequence[int] = range(200, 300)
    is_json: bool = True


class NotConnected(OSError):
    """What a transport raises if it did not send the request. For any other failure it raises another OSError."""


class AnyStatus(urllib.request.HTTPErrorProcessor):
    """Returns every response as it is, also errors and redirections."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


OPENER = urllib.request.build_opener(AnyStatus)


def send(request: Request) -> Response:
    """The default transport. It opens one connection per request and respects the environment's proxy settings. A
    certificate that is not valid ends the call without a retry."""
    call = urllib.request.Request(request.url, request.body, request.headers, method=request.method)
    try:
        end = time.monotonic() + request.timeout
        with OPENER.open(call, timeout=request.timeout) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            content = b""
            while part := response.read1(65536):
                content += part
                if time.monotonic() > end:
                    raise TimeoutError("the response took too long")
            if len(content) < int(headers.get("content-length", 0)):
                raise OSError("incomplete response")
            return Response(response.status, headers, content)
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise ConnectionLost(f"The certificate of the server is not valid: {error.reason}") from error
        if isinstance(error.reason, (ConnectionRefusedError, socket.gaierror)):
            raise NotConnected(str(error.reason)) from error
        raise OSError(str(error.reason)) from error
    except http.client.HTTPException as error:
        raise OSError(f"incomplete response: {error!r}") from error


@dataclasses.dataclass
class Login:
    """A token, and how to request a new one."""

    path: str
    body: dict[str, str] = dataclasses.field(repr=False)
    member: str
    secret: str = dataclasses.field(repr=False)
    token: str = dataclasses.field(default="", repr=False)
    renew_at: float = 0.0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)


class Runtime:
    """What the methods of `Client` have in common."""

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str = "",
        client_secret: str = "",
        api_key: str = "",
        connect_secret: str = "",
        public_key: str = "",
        sign_in_secret: str = "",
        scope: str | None = None,
        timeout: float = 20.0,
        deadline: float = 60.0,
        retry_delay: float = 0.5,
        transport: Callable[[Request], Response] = send,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`client_id`, `client_secret` and `api_key` come from the registration of the application; the Connect group
        needs `connect_secret`, `public_key` and `sign_in_secret` instead. `timeout` is the limit of one attempt, and
        `deadline` that of all attempts of a call, in seconds."""
        self.base_url = base_url.rstrip("/")
        credentials = {"clientId": client_id, "clientSecret": client_secret} | ({"scope": scope} if scope else {})
        self.logins = {
            "token": Login("/v1/auth/token", credentials, "accessToken", api_key),
            "connect": Login(
                "/v1/public/auth-connect/sign-in",
                {"publicKey": public_key, "secret": sign_in_secret},
                "idToken",
                connect_secret,
            ),
        }
        self.timeout, self.deadline, self.retry_delay = timeout, deadline, retry_delay
        self.transport, self.monotonic, self.sleep = transport, monotonic, sleep
        self.waiting: list[tuple[str, threading.Event]] = []

    def request(
        self,
        method: str,
        path: str,
        result: Any,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        auth: str = "token",
        repeat: str = "always",
        form: bool = False,
        envelope: bool = False,
        text: bool = False,
        success: Sequence[int] = range(200, 300),
        deadline: float | None = None,
    ) -> Any:
        """Sends a request until there is a response, and returns it as a value of the type `result`."""
        wire: Any = None if body is None else encode(body)
        data = None if body is None else (urllib.parse.urlencode(wire) if form else json.dumps(wire)).encode()
        pairs: dict[str, Any] = {}
        for name, value in (query or {}).items():
            if isinstance(value, Mapping):
                pairs |= {f"{name}[{key}]": encode(each) for key, each in value.items()}
            elif value is not None:
                pairs[name] = encode(value)
        url = self.base_url + path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")
        media = {"Content-Type": "application/x-www-form-urlencoded" if form else "application/json"}
        end = self.monotonic() + (self.deadline if deadline is None else min(deadline, self.deadline))
        call = Call(method, url, media if data else {}, data, auth, repeat != "never", success, not text)
        response = self.attempts(call, end)
        if result is None or text:
            return response.body.decode() if text else None
        content = json.loads(response.body)
        return decode(content["data"] if envelope else content, result)

    def attempts(self, call: Call, end: float) -> Response:
        login, attempt, renewed, lost = self.logins.get(call.auth), 0, False, False
        while True:
            token = self.token(login, end) if login else ""
            headers = {**call.headers, "User-Agent": "coffer-python"}
            if login:
                headers |= {"x-svc-auth": login.secret, "Authorization": f"Bearer {token}"}
            failure: CofferError
            wait = min(self.retry_delay * 2**attempt, LONGEST_WAIT_S) * random.uniform(0.5, 1.0)
            timeout = max(min(self.timeout, end - self.monotonic()), 0.01)
            try:
                response = self.transport(Request(call.method, call.url, headers, call.data, timeout))
                if response.status in call.success and response.body and call.is_json:
                    json.loads(response.body)
            except (OSError, ValueError) as error:
                failure = ConnectionLost(f"{call.method} {call.url.partition('?')[0]}: {error}")
                lost = not isinstance(error, NotConnected)
                again = call.repeatable or not lost
            else:
                if response.status in call.success:
                    return response
                if response.status == 404 and call.method == "DELETE" and lost:
                    return Response(204, {}, b"null")  # an attempt without a response has deleted it
                if response.status == 401 and login and not renewed:
                    renewed = True
                    with login.lock:
                        login.token = "" if login.token == token else login.token
                    continue
                failure = ProblemError(response)
                again = response.status in (429, 503) or (call.repeatable and response.status in (502, 504))
                retry_after = response.headers.get("retry-after", "")
                wait = max(wait, float(retry_after)) if retry_after.isdecimal() else wait
            if not again or self.monotonic() + wait > end:
                raise failure
            self.sleep(wait)
            attempt += 1

    def token(self, login: Login, end: float) -> str:
        if not login.lock.acquire(timeout=max(end - self.monotonic(), 0.01)):
            raise ConnectionLost(f"POST {self.base_url}{login.path}: no token until the deadline")
        try:
            if not login.token or self.monotonic() >= login.renew_at:
                began = self.monotonic()
                media = {"Content-Type": "application/json"}
                call = Call("POST", self.base_url + login.path, media, json.dumps(login.body).encode(), "public")
                reply = json.loads(self.attempts(call, end).body)
                life = float(reply["expiresIn"])
                login.token, login.renew_at = reply[login.member], began + life - min(60.0, life / 10)
            return login.token
        finally:
            login.lock.release()

    def notify(self, event: types.Event) -> None:
        """Passes on a verified event, so that `wait_for_payment` reads its payment at once."""
        record = getattr(event.data, "id", "")
        for waited_for, arrived in list(self.waiting):
            if waited_for == record:
                arrived.set()

    def wait_for_payment(self, record_id: str, *, timeout: float = 60.0, interval: float = 1.0) -> types.Transaction:
        """Returns the transaction when its status is final. Reads it every `interval` seconds, and after each
        `notify`. Raises PaymentTimeout after `timeout` seconds; the payment then continues."""
        end = self.monotonic() + timeout
        entry = (record_id, threading.Event())
        self.waiting.append(entry)
        status = "unknown"
        try:
            while (left := end - self.monotonic()) > 0:
                entry[1].clear()
                path = f"/v1/transactions/{escape(record_id)}"
                try:
                    record: types.Transaction = self.request("GET", path, types.Transaction, deadline=left)
                except ConnectionLost:
                    if left >= self.deadline:
                        raise
                    break
                if record.status in FINAL:
                    return record
                status = record.status
                entry[1].wait(max(min(interval, end - self.monotonic()), 0.0))
        finally:
            self.waiting.remove(entry)
        raise PaymentTimeout(f"Payment {record_id} is {status} after {timeout:g} s.")


class Pages(Generic[P, T]):
    """A list: an iterator over the rows of all pages. `pages()` iterates over the pages, `first()` returns one."""

    def __init__(self, client: Runtime, page: type[P], path: str, query: dict[str, Any], auth: str) -> None:
        self.client, self.page, self.path, self.query, self.auth = client, page, path, query, auth

    def first(self) -> P:
        """The page at `cursor`, or the first page."""
        page: P = self.client.request("GET", self.path, self.page, query=self.query, auth=self.auth)
        return page

    def pages(self) -> Iterator[P]:
        """All pages from this one on. A page can be empty and not the last."""
        rest: Pages[P, T] = self
        while True:
            page: Any = rest.first()
            yield page
            if page.next_cursor is None:
                return
            rest = Pages(self.client, self.page, self.path, {**self.query, "cursor": page.next_cursor}, self.auth)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            rows: Any = page
            yield from rows.data


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: float = 300.0,
    now: Callable[[], float] = time.time,
) -> types.Event:
    """Verifies a delivery by its raw body and headers (Standard Webhooks), and returns the event. Give both secrets
    during a rotation. Raises WebhookError if no signature is valid, or if the time differs by more than `tolerance`
    seconds from this clock."""
    given = {name.lower(): value for name, value in headers.items()}
    id_, stamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not id_ or not re.fullmatch("[0-9]{1,12}", stamp) or not given.get("webhook-signature"):
        raise WebhookError("A webhook header is missing or malformed.")
    if abs(now() - int(stamp)) > tolerance:
        raise WebhookError("The delivery is too old, or a clock is wrong.")
    raw = body.encode() if isinstance(body, str) else body
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = b""
        if not key:
            raise ValueError("A webhook secret must be whsec_ followed by base64.")
        digest = hmac.new(key, f"{id_}.{stamp}.".encode() + raw, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any([hmac.compare_digest(each.encode(), expected) for each in given["webhook-signature"].split(" ")]):
            event: types.Event = decode(json.loads(raw), types.Event)
            return event
    raise WebhookError("No signature of the delivery is valid.")


def escape(value: object) -> str:
    """A value as one segment of a path. An empty one would name another resource."""
    if str(value) in ("", ".", ".."):
        raise ValueError(f'"{value}" is not an ID.')
    return urllib.parse.quote(str(value), safe="")


def parsed(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


@functools.cache
def members(kind: Any) -> list[tuple[str, str, Any, bool]]:
    """Of each field of a dataclass: its name, its name on the wire, its type, and whether it has a default."""
    hints, names = typing.get_type_hints(kind), getattr(kind, "WIRE", {})
    rows = []
    for field in dataclasses.fields(kind):
        camel = "".join(word.title() if number else word for number, word in enumerate(field.name.split("_")))
        rows.append((field.name, names.get(field.name, camel), hints[field.name], field.default is not dataclasses.MISSING))
    return rows


def encode(value: Any, kind: Any = None, name: str = "The value") -> Any:
    """A value as JSON has it. Refuses floats, except where the API takes any JSON value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        rows = [(wire, getattr(value, name), hint, omit) for name, wire, hint, omit in members(typing.cast(Any, type(value)))]
        patch = any(types.Unset in typing.get_args(hint) for _, _, hint, _ in rows)
        return {
            wire: encode(member, hint, wire)
            for wire, member, hint, omit in rows
            if member is not types.UNSET and (member is not None or patch or not omit)
        }
    if isinstance(value, float) and "Any" not in str(kind):
        raise TypeError(f"{name} must be a Decimal or a string, not the float {value!r}, which is not exact.")
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{name} must be a finite number.")
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} must have a time zone.")
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: encode(member, kind, key) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encode(member, kind, name) for member in value]
    return value


def unknown(value: dict[str, Any]) -> SimpleNamespace:
    """A member of a union that a later version adds: an object with the same names, whose values are plain JSON."""
    return SimpleNamespace(**{re.sub("(?<=.)([A-Z])", r"_\1", name).lower(): each for name, each in value.items()})


def decode(value: Any, kind: Any) -> Any:
    """JSON as a value of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if value is None or kind is Any or origin is typing.Literal:
        return value
    if dataclasses.is_dataclass(kind):
        kind = typing.cast(Any, kind)
        rows = members(kind)
        known = {name: decode(value.get(wire), hint) for name, wire, hint, omit in rows if wire in value or not omit}
        return kind(**known)
    if isinstance(value, list):
        return [decode(member, arguments[0]) for member in value]
    if isinstance(value, dict) and origin is not None and len(arguments) == 2 and arguments[0] is str:
        return {key: decode(member, arguments[1]) for key, member in value.items()}
    if arguments:  # a union
        options = [option for option in arguments if option not in (type(None), types.Unset)]
        if len(options) == 1:
            return decode(value, options[0])
        for discriminator, classes in types.UNIONS if isinstance(value, dict) else ():
            if set(classes.values()) == set(options):
                known_class = classes.get(value[discriminator])
                return decode(value, known_class) if known_class else unknown(value)
        return value
    if kind is Decimal:
        return Decimal(value)
    if kind is datetime.datetime:
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return datetime.date.fromisoformat(value) if kind is datetime.date else value
