"""What every test of the running program shares; Python's standard library only.

    server    `coffer demo` and `coffer serve` as processes, and commands on their files
    calls     HTTP: a keep-alive Connection, one `fetch`, tokens, certificates
    tenant    an association with an application, keys and wallets
    clients   clients that pay and repeat until they have a response; waiting until all is settled
    receiver  webhook receivers that respond well or badly, and the checks of a delivery's signatures
    provider  `coffer provider-sim` as a process, connectors and beneficiaries
    auditor   reads a file beside the program and reports what is wrong with its ledger
    report    checks, lists of faults, time limits
    machine   binaries, programs, privileges, namespaces, ports, and skipping a test with a reason
    node      tests in JavaScript, each beside a demo that is started for it; judges in JavaScript
    terminal  a person's shell with `coffer` on the path; names: a name server; tls: certificates; load: wrk;
              process: memory and time of a process

A test is an executable file `tests/<folder>/<name>.py` (or `.mjs`, `.sh`), which ctest knows as `<folder>.<name>`.
It runs from the top folder. Exit code 0: passed, 77: skipped with a reason. What `# ctest:` lines say is explained in
tests/CMakeLists.txt. Names that a test needs and another has too belong here.
"""
