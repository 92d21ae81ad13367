#!/usr/bin/python3 -B
"""OpenStack Swift with its interface of S3: a store that coffer did not write, for tests. One process, one copy.

    tests/support/swift_store.py FOLDER [conditional]

Its interface of S3 refuses If-None-Match. With `conditional`, it leaves the header to Swift's own interface, which has
it. Prints the port when it serves on 127.0.0.1, and ends with its standard input. The key is test:tester, its secret is
testing, the region is us-east-1, and there is a bucket `archive`, which lists 20 objects at once. Exit code 77:
python3-swift is not installed, or no folder has extended attributes."""

import os
import sys
import tempfile

try:
    import eventlet
    eventlet.monkey_patch()
    import eventlet.wsgi
    from swift.common.ring import RingBuilder
    from swift.common.storage_policy import reload_storage_policies
    from swift.common import utils
    from swift.common.internal_client import InternalClient
    from swift.common.middleware.s3api.s3request import S3Request
    from swift.common.wsgi import loadapp
except ImportError:
    sys.exit(77)

SERVERS = ("account", "container", "object")
# Without authentication, to create the bucket.
INSIDE = """
[DEFAULT]
swift_dir = {0}
[pipeline:main]
pipeline = proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""
PROXY = """
[DEFAULT]
swift_dir = {0}
[pipeline:main]
pipeline = catch_errors proxy-logging cache listing_formats s3api tempauth proxy-logging proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
max_bucket_listing = 20
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
"""
SERVER = """
[DEFAULT]
swift_dir = {0}
devices = {0}/devices
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = server
[app:server]
use = egg:swift#{1}
"""


def with_attributes(folder):
    """The folder, or another one if its file system has no extended attributes."""
    for place in (folder, "/var/tmp", "/tmp"):
        made = tempfile.mkdtemp(prefix="swift-", dir=place)
        try:
            os.setxattr(made, "user.test", b"x")
            return made
        except OSError:
            os.rmdir(made)
    sys.exit(77)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def serve(app):
    listener = eventlet.listen(("127.0.0.1", 0))
    eventlet.spawn(eventlet.wsgi.server, listener, app, open(os.devnull, "w", encoding="ascii"))
    return listener.getsockname()[1]


def let_conditions_pass():
    check = S3Request._validate_headers

    def check_others(request):
        condition = request.headers.pop("If-None-Match", None)
        check(request)
        if condition:
            request.headers["If-None-Match"] = condition

    S3Request._validate_headers = check_others


def main():
    if "conditional" in sys.argv:
        let_conditions_pass()
    folder = with_attributes(sys.argv[1])
    os.makedirs(folder + "/devices/one")
    write(folder + "/swift.conf", "[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n"
          "[storage-policy:0]\nname = one\ndefault = true\n")
    utils.SWIFT_CONF_FILE = folder + "/swift.conf"
    utils.HASH_PATH_PREFIX, utils.HASH_PATH_SUFFIX = b"test", b"test"
    reload_storage_policies()
    for server in SERVERS:
        write(f"{folder}/{server}.conf", SERVER.format(folder, server))
        builder = RingBuilder(4, 1, 0)
        port = serve(loadapp(f"{folder}/{server}.conf"))
        builder.add_dev({"region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": port, "device": "one"})
        builder.rebalance()
        builder.get_ring().save(f"{folder}/{server}.ring.gz")
    write(folder + "/inside.conf", INSIDE.format(folder))
    InternalClient(folder + "/inside.conf", "tests", 1).create_container("AUTH_test", "archive")
    write(folder + "/proxy.conf", PROXY.format(folder))
    print(serve(loadapp(folder + "/proxy.conf")), flush=True)
    eventlet.tpool.execute(sys.stdin.read)


main()
