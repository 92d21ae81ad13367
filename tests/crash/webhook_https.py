#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Over TLS, events are sent only to servers that prove their name. A private authority is trusted only with
--ca-bundle. A server whose certificate is expired, self-signed, for another name or from an unknown authority gets
nothing. Production rejects http URLs. Runs in separate network and mount namespaces."""

import os
import ssl
import subprocess
import sys
import tempfile
import warnings

from harness.calls import fetch
from harness.machine import in_namespaces
from harness.names import Names
from harness.receiver import Receiver, contract_verifies, standard_signers
from harness.report import fail, judge_faults
from webhook_network import PUBLIC, Network, prepare_namespace

NAME = "hook.test"
PAST = ("20200101000000Z", "20200201000000Z")
FUTURE = ("20990101000000Z", "20990201000000Z")


class Authority:
    """A private certification authority, made by openssl."""

    def __init__(self, folder, name, parent=None):
        self.folder, self.name = folder, name
        self.key, self.cert = self.path(name + ".key"), self.path(name + ".pem")
        with open(self.path(name + ".cnf"), "w", encoding="ascii") as file:
            file.write(f"[ca]\ndefault_ca=d\n[d]\ndatabase={self.path(name)}.index\n"
                       f"serial={self.path(name)}.serial\nnew_certs_dir={folder}\ndefault_md=sha256\npolicy=p\n"
                       "unique_subject=no\ncopy_extensions=none\n[p]\ncommonName=supplied\n")
        for suffix, text in ((".index", ""), (".serial", "1000\n")):
            with open(self.path(name + suffix), "w", encoding="ascii") as file:
                file.write(text)
        if parent:
            self.cert = parent.issue(name, "basicConstraints=critical,CA:true", key=self.key)
        else:
            openssl("req", "-x509", *NEW_KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key,
                    "-out", self.cert)

    def path(self, name):
        return os.path.join(self.folder, name)

    def issue(self, name, extensions, dates=None, key=None):
        """The path of the certificate; its key is next to it."""
        key, request, cert = key or self.path(name + ".key"), self.path(name + ".csr"), self.path(name + ".pem")
        openssl("req", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        with open(self.path(name + ".ext"), "w", encoding="ascii") as file:
            file.write(extensions + "\n")
        when = ("-startdate", dates[0], "-enddate", dates[1]) if dates else ("-days", "2")
        openssl("ca", "-batch", "-notext", "-config", self.path(self.name + ".cnf"), "-cert", self.cert,
                "-keyfile", self.key, "-in", request, "-out", cert, "-extfile", self.path(name + ".ext"), *when)
        return cert


NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"openssl {' '.join(words)}: {done.stderr}")


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def context(cert, key, chain=()):
    """The TLS context of a server."""
    whole = cert + ".chain"
    with open(whole, "w", encoding="ascii") as file:
        file.write("".join(map(read, (cert, *chain))))
    out = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    out.load_cert_chain(whole, key)
    return out


def old_protocol(server):
    warnings.simplefilter("ignore", DeprecationWarning)  # old protocols are intended here
    server.minimum_version = ssl.TLSVersion.TLSv1
    server.maximum_version = ssl.TLSVersion.TLSv1_1
    server.set_ciphers("DEFAULT@SECLEVEL=0")
    return server


def servers(folder, authority):
    """Name -> (TLS context of the server, requested name, whether it is trustworthy)."""
    ours = f"subjectAltName=DNS:{NAME}"
    stranger = Authority(folder, "stranger")
    middle = Authority(folder, "middle", authority)

    def shown(name, extensions=ours, by=authority, dates=None, chain=()):
        cert = by.issue(name, extensions, dates)
        return context(cert, cert.removesuffix(".pem") + ".key", chain)
    self_signed, key = os.path.join(folder, "self.pem"), os.path.join(folder, "self.key")
    openssl("req", "-x509", *NEW_KEY, "-days", "2", "-subj", f"/CN={NAME}", "-addext", ours, "-keyout", key,
            "-out", self_signed)
    return {
        "good": (shown("good"), NAME, True),
        "good by its address": (shown("address", f"subjectAltName=IP:{PUBLIC}"), PUBLIC, True),
        "good with its chain": (shown("chained", by=middle, chain=[middle.cert]), NAME, True),
        "without its chain": (shown("unchained", by=middle), NAME, False),
        "for another name": (shown("other", "subjectAltName=DNS:other.test"), NAME, False),
        "for a subdomain": (shown("below", f"subjectAltName=DNS:*.{NAME}"), NAME, False),
        "for the name, requested by address": (shown("named"), PUBLIC, False),
        "expired": (shown("expired", dates=PAST), NAME, False),
        "not valid yet": (shown("early", dates=FUTURE), NAME, False),
        "self-signed": (context(self_signed, key), NAME, False),
        "of an unknown authority": (shown("strange", by=stranger), NAME, False),
        "for clients only": (shown("client", ours + "\nextendedKeyUsage=clientAuth"), NAME, False),
        "with an old protocol": (old_protocol(shown("old")), NAME, False),
        "without TLS": (None, NAME, False),
    }


def try_all(server, receivers, faults):
    """Tests each server in production, where the rules are strict."""
    for what, (receiver, host, believed) in receivers.items():
        before = len(receiver.snapshot())
        end, steps = server.try_out(receiver.url(host, "https"), 2, "production")
        arrived = receiver.snapshot()[before:]
        if believed and (end != "delivered" or len(arrived) != 1):
            faults.append(f"{what}: {end}, {steps}")
        if not believed and (end != "dead" or arrived):
            faults.append(f"{what}: {end}, {steps}, {len(arrived)} requests arrived")


def try_plain_http(server, plain, faults):
    status, answer = server.register(plain.url(NAME), "production")
    if (status, (answer or {}).get("code")) != (422, "webhook_target_refused"):
        faults.append(f"http in production: {status} {answer}")
    end, _ = server.try_out(plain.url(NAME), 2, "sandbox")
    if end != "delivered":
        faults.append(f"http in the sandbox: {end}")
    status, webhook = server.register(f"https://{NAME}/", "production")
    changed, _ = server.call("PATCH", f"/v1/webhooks/{webhook['id']}", {"url": plain.url(NAME)}, "production")
    if changed != 422:
        faults.append(f"an update to http in production: {changed}")
    server.call("DELETE", f"/v1/webhooks/{webhook['id']}", environment="production")


def check_signed(server, receiver):
    status, webhook = server.register(receiver.url(NAME), "production")
    server.send_test(webhook, 1, "production")
    delivery = receiver.snapshot()[-1]
    return (status == 201 and contract_verifies(delivery.headers, delivery.body, delivery.arrived * 1000)
            and standard_signers(delivery.headers, delivery.body, [webhook["secret"]])[0] == [webhook["secret"]]
            and delivery.event()["environment"] == "production")


def check_control(receivers):
    """A client without verification reaches every server, so only the certificate stops coffer."""
    careless = ssl._create_unverified_context()  # pylint: disable=protected-access
    careless.minimum_version = ssl.TLSVersion.TLSv1
    careless.set_ciphers("DEFAULT@SECLEVEL=0")
    reached = 0
    for what, (receiver, _, believed) in receivers.items():
        if believed:
            continue
        url = receiver.url(PUBLIC)
        try:
            reached += fetch(url, "POST", b"{}", tls=careless).status == 204
        except OSError as error:
            fail(f"a client without verification does not reach the server {what}: {error}")
    return reached


def main():
    in_namespaces("net", "mount")
    with tempfile.TemporaryDirectory() as folder:
        prepare_namespace(folder)
        Names({NAME: lambda kind, before: [PUBLIC]})
        authority = Authority(folder, "authority")
        receivers = {what: (Receiver(host="0.0.0.0", tls=shown), host, believed)
                     for what, (shown, host, believed) in servers(folder, authority).items()}
        plain = Receiver(host="0.0.0.0")
        settings = {"COFFER_WEBHOOK_ATTEMPTS": "2", "COFFER_WEBHOOK_ALLOW_PORTS": ",".join(
            str(receiver.port) for receiver in [plain, *(receiver for receiver, _, _ in receivers.values())])}
        faults = []
        server = Network(folder, "trusting", {"COFFER_CA_BUNDLE": authority.cert, **settings}).start()
        try_all(server, receivers, faults)
        try_plain_http(server, plain, faults)
        if not check_signed(server, receivers["good"][0]):
            faults.append("the signature of a delivery over TLS does not verify")
        server.stop()
        # The system's CA bundle does not contain the authority.
        server = Network(folder, "plain", settings).start()
        try_all(server, {what: (receiver, host, False)
                         for what, (receiver, host, good) in receivers.items() if good}, faults)
        server.stop()
        judge_faults(faults)
        reached = check_control(receivers)
    believed = sum(good for _, _, good in receivers.values())
    print(f"count: delivered to {believed} servers, nothing sent to {len(receivers) - believed} without a valid"
          f" certificate, {believed} rejected without the CA bundle")
    print(f"control: a client without verification reaches {reached} of {len(receivers) - believed}")


if __name__ == "__main__":
    main()
