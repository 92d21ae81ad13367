"""Tests of the runtime without a server: python3 -m unittest discover -s test -p '*_test.py'"""

import datetime
import json
import pathlib
import sys
import threading
import unittest
from decimal import Decimal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import coffer  # noqa: E402
from coffer.runtime import NotConnected, Response, decode, encode  # noqa: E402

TOKEN = Response(200, {}, b'{"accessToken": "T", "expiresIn": 3600}')


class Server:
    """A transport that takes its responses from a list, and a clock that only `sleep` moves."""

    def __init__(self, *responses, **options):
        self.responses, self.requests, self.sleeps, self.now = list(responses), [], [], 0.0
        self.lock = threading.Lock()
        self.client = coffer.Client(
            "https://pay.example.com/gw/", client_secret="SECRET-1", api_key="SECRET-2", transport=self.send,
            monotonic=lambda: self.now, sleep=self.sleep, **options)

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds

    def send(self, request):
        with self.lock:
            self.requests.append(request)
            if request.url.endswith("/v1/auth/token"):
                return TOKEN
            response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        if isinstance(response, Exception):
            raise response
        return response


class RuntimeTest(unittest.TestCase):
    def test_threads_share_one_token(self):
        server = Server(Response(200, {}, b'{"code": "USDC"}'))
        threads = [threading.Thread(target=server.client.get_asset, args=("USDC",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(21, len(server.requests))

    def test_waits_grow_and_end_at_the_deadline(self):
        server = Server(Response(503, {}, b""), retry_delay=0.5, deadline=60)
        with self.assertRaises(coffer.ProblemError):
            server.client.get_asset("USDC")
        for number, wait in enumerate(server.sleeps):
            most = min(0.5 * 2**number, 8)
            self.assertTrue(most / 2 <= wait <= most, server.sleeps)
        self.assertLessEqual(server.now, 60)
        self.assertGreater(server.now, 60 - 8)

    def test_retry_after_is_the_least_wait(self):
        server = Server(Response(429, {"retry-after": "30"}, b""), Response(200, {}, b'{"code": "USDC"}'))
        self.assertEqual("USDC", server.client.get_asset("USDC").code)
        self.assertEqual([30.0], server.sleeps)

    def test_a_creation_is_repeated_only_if_it_was_not_sent(self):
        new = coffer.types.NewWallet(wallet_name="a", asset_code="USDC")
        server = Server(NotConnected("refused"), Response(201, {}, b'{"id": "1"}'))
        self.assertEqual("1", server.client.create_wallet(new).id)
        server = Server(ConnectionResetError("reset"))
        with self.assertRaises(coffer.ConnectionLost):
            server.client.create_wallet(new)
        self.assertEqual(2, len(server.requests))

    def test_an_address_with_a_path_stays(self):
        server = Server(Response(200, {}, b'{"code": "USDC"}'))
        server.client.get_asset("US/DC")
        self.assertEqual("https://pay.example.com/gw/v1/assets/US%2FDC", server.requests[-1].url)

    def test_an_object_in_a_query_has_a_parameter_per_member(self):
        server = Server(Response(200, {}, b"{}"))
        server.client.request("GET", "/v1/x", None, query={"metadata": {"order": "a b"}, "limit": 1, "cursor": None})
        self.assertEqual("https://pay.example.com/gw/v1/x?metadata%5Border%5D=a+b&limit=1", server.requests[-1].url)

    def test_secrets_are_not_printed(self):
        server = Server(Response(200, {}, b'{"code": "USDC"}'))
        server.client.get_asset("USDC")
        printed = f"{server.client.logins} {server.requests}"
        self.assertNotIn("SECRET", printed)
        self.assertNotIn("Bearer", printed)
        self.assertNotIn("SECRET", repr(coffer.types.TokenRequest(client_id="a", client_secret="SECRET")))

    def test_values_are_exact_or_refused(self):
        self.assertEqual("1000", encode(Decimal("1E+3")))
        self.assertEqual("0.0000001", encode(Decimal("1E-7")))
        noon = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=3)))
        self.assertEqual("2026-01-31T09:00:00.000Z", encode(noon))
        for value in (Decimal("NaN"), Decimal("Infinity"), noon.replace(tzinfo=None)):
            self.assertRaises(ValueError, encode, value)
        for value in (0.1, [0.1], {"a": 0.1}):
            self.assertRaises(TypeError, encode, value)

    def test_values_of_a_later_version_are_kept(self):
        event = decode(json.loads('{"id": "1", "type": "payment.split", "associationId": "2", "data": {"id": "3"}}'),
                       coffer.types.Event)
        self.assertEqual(("payment.split", "2", {"id": "3"}), (event.type, event.association_id, event.data))
        asset = decode({"code": "USDC", "colour": "green"}, coffer.types.Asset)
        self.assertEqual(("USDC", None), (asset.code, asset.issuer))


if __name__ == "__main__":
    unittest.main()
