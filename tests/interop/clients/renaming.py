"""A control of interop/clients.py: the Python client, broken so that it retries a payment with a new transactionId."""

import dataclasses
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../clients/python/test"))

import scenarios  # noqa: E402
from coffer.runtime import send  # noqa: E402


def renaming(_):
    """A transport that renames each payment that it has sent before."""
    sent = []

    def transport(request):
        text = request.body or b""
        times = sent.count(text)
        sent.append(text)
        if times and b"transactionId" in text:
            body = json.loads(text)
            body["transactionId"] += f"-{times}"
            request = dataclasses.replace(request, body=json.dumps(body).encode())
        return send(request)

    return transport


scenarios.main(*sys.argv[1:], transport=renaming)
