"""docs/tls.md, "Bare": coffer with its own certificate on port 443, and its renewal."""

import pathlib
import re
import tempfile

from harness.report import check
from harness.tls import NAME, certificate, connect, fingerprint, rejected, trusting

TLS = "docs/tls.md"


def bare_tls(life):
    with tempfile.TemporaryDirectory() as scratch:
        bare(life, pathlib.Path(scratch))


def bare(life, scratch):
    # certbot needs a public name, so the test runs only its hook.
    hook = re.search(r"--deploy-hook '([^']*)'", life.says(TLS, "certbot certonly"))[1]
    lineage = life.path("root/lineage")

    def renew():
        """Renews the certificate like certbot, and returns a context that trusts only the new one."""
        trusted = trusting(certificate(lineage, NAME)[0])
        life.type(f"export RENEWED_LINEAGE=/root/lineage\n{hook}")
        return trusted

    certificate(lineage, NAME)
    life.type("install -d -m 0755 /etc/coffer/tls\n" + hook.replace(
        '"$RENEWED_LINEAGE"', "/root/lineage").partition(" && ")[0])
    first = trusting(str(lineage / "fullchain.pem"))
    good = life.settings.read_text()
    headers = life.shop.login().headers
    life.settings.write_text(good + life.says(TLS, "listen_http"))
    life.type(life.says(TLS, "systemctl edit coffer\n"), edited=life.says(TLS, "[Service]"))
    kept = connect(first, headers)
    check("serves a payment over its own TLS, on port 443",
          life.shop.pay("bare-tls", connection=kept))
    check("a certificate of another authority is rejected", rejected(trusting(certificate(scratch, NAME)[0])))
    before = fingerprint(first)
    second = renew()
    life.until("a renewed certificate is used after the hook", lambda: rejected(first))
    check("and verifies", fingerprint(second) != before)
    check("an existing connection stays open", life.shop.status_of("bare-tls", kept) is not None
          and kept.http.sock is not None)
    life.path("etc/coffer/tls/fullchain.pem").write_bytes((scratch / "fullchain.pem").read_bytes())
    life.type(life.says(TLS, "systemctl reload coffer"))
    life.until("a pair that does not match is rejected, and the journal says why",
               lambda: "could not be reloaded" in life.journal())
    check("the old certificate stays in use", not rejected(second))
    life.settings.write_text(good)
    life.systemctl("revert", "coffer")
    life.systemctl("restart", "coffer")
    life.type("rm -r /etc/coffer/tls /root/lineage")
    check("without a certificate, the server serves HTTP again",
          life.serves("http://127.0.0.1:8080"), life.shows("StatusText"))
