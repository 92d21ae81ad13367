"""mypy must refuse the marked lines; otherwise the marks are errors."""

from coffer import Client, types


def check(client: Client) -> None:
    types.WalletFunding(asset_code="USDC", amount=12.5)  # type: ignore[arg-type]
    types.WalletFunding(asset_code="USDC")  # type: ignore[call-arg]
    client.get_transaction("0190a5a0-0000-7000-8000-000000000000").sending_amount + 1  # type: ignore[operator]
