from decimal import Decimal

from coffer import Client, types

client = Client("https://pay.example.com", client_id="app_…", client_secret="sk_…", api_key="ak_…")
accepted = client.transfer_between_own_wallets(types.OwnTransfer(
    transaction_id="invoice-2026-0042",
    source_wallet_id="0190a5a0-0000-7000-8000-000000000001",
    destination_wallet_id="0190a5a0-0000-7000-8000-000000000002",
    sending_asset_code="USDC",
    amount=Decimal("12.50"),
))
payment = client.wait_for_payment(accepted.transaction_record_id)
print(payment.status, payment.sending_amount)
