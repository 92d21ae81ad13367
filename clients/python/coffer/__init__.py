"""A client of coffer, a payment gateway. Start with `Client`; `types` has the requests and the responses."""

from coffer import types
from coffer.client import Client
from coffer.runtime import (
    CofferError,
    ConnectionLost,
    Pages,
    PaymentTimeout,
    ProblemError,
    WebhookError,
    verify_webhook,
)

__all__ = [
    "Client",
    "CofferError",
    "ConnectionLost",
    "Pages",
    "PaymentTimeout",
    "ProblemError",
    "WebhookError",
    "types",
    "verify_webhook",
]
