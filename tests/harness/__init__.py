"""Shared by all tests of the running program. Uses only Python's standard library.

    server    `coffer demo` and `coffer serve` as processes, and commands on their files
    calls     HTTP: a keep-alive Connection, one `fetch`, tokens, certificates
    tenant    an association with an application, keys and wallets
    clients   clients that pay and retry until they get a response; a wait until all payments are settled
    receiver  webhook receivers with correct and faulty behaviour; checks of a delivery's signatures
    provider  `coffer provider-sim` as a process, connectors and beneficiaries
    auditor   checks the ledger in a coffer file without using coffer
    report    checks, lists of faults, time limits
    machine   binaries, programs, privileges, namespaces, ports, and skipping a test with a reason
    node      runs tests in JavaScript, each with its own demo, and judges in JavaScript
    terminal  a user's shell with `coffer` on the path
    names     a name server
    tls       certificates
    load      wrk
    process   memory and processor time of a process

A test is an executable file `tests/<folder>/<name>.py` (or `.mjs`, `.sh`), and its ctest name is `<folder>.<name>`.
It runs from the top folder. It exits with 0 if it passed, and with 77 if it was skipped, after printing the reason.
tests/CMakeLists.txt explains `# ctest:` lines. Code that two tests need belongs here.
"""
