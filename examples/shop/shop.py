"""An example shop: it takes an order, collects the price, pays the supplier, and shows the webhooks that it receives.

    coffer demo --env
    PYTHONPATH=clients/python python3 examples/shop/shop.py

It needs only Python 3.10 and the client in clients/python. Orders are in memory; a real shop stores them, and the events
that it has processed, in its database.
"""

import html
import os
import queue
import threading
import time
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from coffer import Client, ProblemError, WebhookError, types, verify_webhook

ENV_FILE = os.environ.get("ENV_FILE", ".env")
if os.path.exists(ENV_FILE):
    with open(ENV_FILE, encoding="utf-8") as env_file:
        for line in env_file:
            name, is_pair, value = line.strip().partition("=")
            if is_pair and not name.startswith("#"):
                os.environ.setdefault(name, value)

HOST, PORT = os.environ.get("SHOP_HOST", "127.0.0.1"), int(os.environ.get("SHOP_PORT", "3000"))
HOOK_URL = os.environ.get("HOOK_URL", f"http://127.0.0.1:{PORT}/hooks")
PRICE, SUPPLIER_SHARE = Decimal("50000"), Decimal("20")  # naira from the customer, USDC to the supplier
BODY_BYTES_MAX = 1024 * 1024

client = Client(os.environ["BASE_URL"], client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"],
                api_key=os.environ["API_KEY"])


class Shop:
    def __init__(self):
        self.orders, self.events, self.refused = {}, {}, 0
        self.arrived = queue.Queue()  # verified events, to process after the response
        self.wallet = next(wallet for wallet in client.list_wallets(asset_code="USDC", status="Verified")
                           if wallet.own_account and wallet.balances[0].available >= SUPPLIER_SHARE)
        self.collecting = next(iter(client.list_connectors(flow="BESPOKE")))
        phone = types.NewMobileMoneyDetails(provider="M-PESA", phone_number=os.environ.get("SUPPLIER", "+254712345678"))
        self.supplier = client.create_beneficiary(types.NewBeneficiary(
            business=types.NewCompany(company_name="Supplier Ltd"),
            payment_destinations=[types.NewDestination(method="MOBILE_MONEY", country_iso_code2="KE",
                                                       currency_iso_code3="KES", mobile_money=phone)])).id
        wanted = os.environ.get("PAYOUT_CONNECTOR")
        self.paying = next(each for each in client.list_connectors_for_beneficiary(self.supplier, "MOMO")
                           if wanted in (None, each.name))
        for webhook in client.list_webhooks(status="active"):  # of an earlier run, whose secret is lost
            if webhook.url == HOOK_URL:
                client.deactivate_webhook(webhook.id)
        self.secret = client.create_webhook(types.NewWebhook(url=HOOK_URL, event_types=["*"])).secret
        threading.Thread(target=self.work, daemon=True).start()

    def order(self, item):
        """The customer pays to a reference that belongs to this order alone."""
        number = uuid.uuid4().hex[:12]
        reference = client.register_reference(types.NewReference(
            connector_id=self.collecting.id, settlement_account=self.wallet.public_key, customer_id=f"order-{number}-x"))
        self.orders[number] = {"item": item, "reference": reference.reference, "collected": "waiting", "supplier": "-"}
        return number

    def simulate_payment(self, number):
        """Sandbox only: what the customer's bank does in production."""
        client.sandbox_pay_reference(self.orders[number]["reference"], types.ReferencePayment(
            amount=PRICE, provider_payment_id=f"bank-{number}"))

    def receive(self, headers, body):
        """Verifies a delivery. Each event is processed once, however often it is delivered."""
        try:
            event = verify_webhook(body, headers, self.secret)
        except WebhookError:
            self.refused += 1
            raise
        if event.id not in self.events:
            self.events[event.id] = event
            self.arrived.put(event)

    def work(self):
        while True:
            event = self.arrived.get()
            while True:
                try:
                    self.process(event)
                    break
                except Exception as error:  # of the network, or of coffer: try again
                    print(f"{event.type} {event.id}: {error}", flush=True)
                    if isinstance(error, ProblemError) and error.status < 500 and error.status != 429:
                        break
                    time.sleep(1)

    def process(self, event):
        if event.test or not event.type.startswith("payment."):
            return
        record = client.get_transaction(event.data.id)  # it can be newer than the event
        for number, order in self.orders.items():
            if record.type == "onramp_reference" and record.to_ref == order["reference"]:
                order["collected"] = record.status
                if record.status == "succeeded":
                    self.pay_supplier(number)
            elif record.transaction_id == f"supplier-{number}":
                order["supplier"] = record.status

    def pay_supplier(self, number):
        """The transaction ID comes from the order, so a repetition pays nothing."""
        if any(client.list_transactions(transaction_id=f"supplier-{number}")):
            return
        quote = client.create_quote(types.NewQuote(
            amount=SUPPLIER_SHARE, connector_id=self.paying.id, beneficiary_id=self.supplier))
        client.execute_offramp(types.Offramp(
            transaction_id=f"supplier-{number}", quote_id=quote.quote_id, source_wallet_id=self.wallet.id,
            beneficiary_id=self.supplier, purpose_of_payment="SUPPLIER_PAYMENT", source_of_funds="BUSINESS_INCOME",
            relationship="SUPPLIER"))
        self.orders[number]["supplier"] = "accepted"

    def page(self):
        text = lambda value: html.escape(str(value))
        orders = "".join(
            f"<tr id='{number}'><td>{number}<td>{text(order['item'])}<td>{text(order['reference'])}"
            f"<td>{order['collected']}<td>{order['supplier']}<td><form method=post action=/orders/{number}/pay>"
            "<button>Pay as the customer</button></form>" for number, order in self.orders.items())
        events = "".join(f"<tr><td>{event.sequence}<td>{event.type}<td>{text(event.id)}"
                         for event in list(self.events.values())[::-1])
        return (f"<!doctype html><meta charset=utf-8><title>Shop</title><h1>Shop</h1><form method=post action=/orders>"
                f"<input name=item value=Lamp> <button>Order for {PRICE} NGN</button></form><h2>Orders</h2><table>"
                f"<tr><th>Order<th>Item<th>Customer pays to<th>Collected<th>Supplier<th>{orders}</table>"
                f"<h2>Webhooks</h2><p>Refused: {self.refused}</p><table>{events}</table>")


class Handler(BaseHTTPRequestHandler):
    def respond(self, status, content="", location=""):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content.encode())))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content.encode())

    def do_GET(self):
        self.respond(200, shop.page()) if self.path == "/" else self.respond(404)

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
            return self.respond(411 if not length else 413)
        body = self.rfile.read(int(length))
        match self.path.strip("/").split("/"):
            case ["hooks"]:
                try:
                    shop.receive(self.headers, body)
                except WebhookError as error:
                    return self.respond(400, html.escape(str(error)))
                return self.respond(204)
            case ["orders"]:
                shop.order(parse_qs(body.decode()).get("item", ["Lamp"])[0][:100])
            case ["orders", number, "pay"] if number in shop.orders:
                shop.simulate_payment(number)
            case _:
                return self.respond(404)
        return self.respond(303, location="/")

    def log_message(self, *_):
        pass


shop = Shop()
print(f"The shop is at http://{HOST}:{PORT}", flush=True)
ThreadingHTTPServer((HOST, PORT), Handler).serve_forever()
