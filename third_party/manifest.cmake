# The only list of third-party components that coffer contains, or that build or test it. Nothing is
# vendored. cmake/ThirdParty.cmake resolves this table, and ./dev setup reads its package names.
#
#   coffer_archive()  compiled from pinned source. CONTENT is the pin: the SHA-256 over the kept files
#                     after PATCHES (coffer_content_digest in cmake/ThirdParty.cmake). The same files
#                     are therefore the same dependency, whichever archive contains them. Every configure
#                     run checks the unpacked copy on disk again. Each source also has the SHA-256 of its
#                     archive, which is checked before unpacking. "-" means that the archive was not
#                     available to us; only CONTENT is then checked.
#                     Sources are tried in this order:
#                       UPSTREAM <url> <sha256|->       the project itself
#                       DEBIAN   <pool path> <sha256>   the mirror configured in this machine's apt
#                       NPM      <name@version> <sha256> the registry configured in this machine's npm
#                     Only builds with tests fetch an archive with the word TESTS; no product contains it.
#   coffer_system()   an unmodified Debian package. ./dev setup installs DEBIAN_PACKAGES.
#
# To change a version, change VERSION and the sources, set CONTENT to 0, and configure: the error message
# contains the digest. Review the changes in the dependency before you record the digest here.

coffer_archive(httplib
  VERSION  0.41.0
  LICENCE  MIT
  HOMEPAGE https://github.com/yhirose/cpp-httplib
  WHY      "HTTP server and client behind coffer's own transport; Debian 12's 0.11 has open CVEs and no static library"
  KEEP     httplib.h LICENSE
  PATCHES  httplib-raw-header-values.patch httplib-raw-query.patch httplib-status-line.patch
           httplib-interim-responses.patch
  CONTENT  b5ce8242d10fd2706da64bbed7f4081a3f188b1d1385e55036d3275485ff826d
  UPSTREAM https://github.com/yhirose/cpp-httplib/archive/refs/tags/v0.41.0.tar.gz -
  DEBIAN   pool/main/c/cpp-httplib/cpp-httplib_0.41.0+ds.orig.tar.xz
           7acb492bffdd95165677d22145c2c4890e6432c5ef53d0f781defe8dec48f567)

# SQLite 3.7.0 to 3.51.2 can corrupt a WAL file (this includes Debian 12 and 13), and 3.52.0 was withdrawn.
# better-sqlite3 contains the unpatched amalgamation of a later version, generated with a few OMIT options,
# which cmake/ThirdParty.cmake must therefore repeat. Only sqlite3.c and sqlite3.h are kept; no code of
# better-sqlite3 is used.
coffer_archive(sqlite
  VERSION  3.54.1
  LICENCE  blessing
  HOMEPAGE https://sqlite.org
  WHY      "the database; the distribution's version has the WAL-reset corruption bug"
  KEEP     deps/sqlite3/sqlite3.c deps/sqlite3/sqlite3.h
  CONTENT  27ef9f38c51dedbd64e205e0de428083b627bbc751232889b083d09eebd60f9f
  UPSTREAM https://github.com/WiseLibs/better-sqlite3/archive/refs/tags/v13.2.0.tar.gz -
  NPM      better-sqlite3@13.2.0
           40487589df3496f2ee0079d22b73c63fccebe7db0e8ee9a2c42421861e321e0b)

# Debian's static libcurl needs libraries that exist only as shared ones (Kerberos, LDAP). Compiled with
# third_party/curl_config.h, which leaves only SMTP.
coffer_archive(curl
  VERSION  8.14.1
  LICENCE  curl
  HOMEPAGE https://curl.se
  WHY      "e-mail: submission to an SMTP server with TLS and authentication"
  KEEP     lib include COPYING
  CONTENT  c67ef4b08609092dce6f1438e6c4e29b9448484aad96cd58fd8aad8ca3199c79
  UPSTREAM https://curl.se/download/curl-8.14.1.tar.gz
           6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4
  DEBIAN   pool/main/c/curl/curl_8.14.1.orig.tar.gz
           6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4)

# Debian's static library has all levels, which take 641 KiB of the binary. cmake/ThirdParty.cmake compiles only the
# fastest one, which takes 84 KiB.
coffer_archive(zstd
  VERSION  1.5.7
  LICENCE  BSD-3-Clause
  HOMEPAGE https://facebook.github.io/zstd
  WHY      "compression of the log that replicates the database"
  KEEP     lib/common lib/compress lib/decompress lib/zstd.h lib/zstd_errors.h LICENSE
  CONTENT  24940f076a4c24893c32f87c9aec7391ac98242c496ea1545a3ee262fdbbe83f
  UPSTREAM https://github.com/facebook/zstd/releases/download/v1.5.7/zstd-1.5.7.tar.gz -
  DEBIAN   pool/main/libz/libzstd/libzstd_1.5.7+dfsg.orig.tar.xz
           0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5)

# Debian's static library needs libraries that exist only as shared ones (Kerberos, LDAP). Compiled with
# third_party/pg_config.h, without them.
coffer_archive(libpq
  VERSION  15.19
  LICENCE  PostgreSQL
  HOMEPAGE https://www.postgresql.org
  WHY      "connections to a PostgreSQL server that keeps the log of a replicated ledger"
  KEEP     src/interfaces/libpq src/common src/port src/include/common src/include/libpq src/include/mb
           src/include/port src/include/c.h src/include/getaddrinfo.h src/include/pg_config_manual.h
           src/include/port.h src/include/postgres_ext.h src/include/postgres_fe.h src/include/utils/ascii.h COPYRIGHT
  CONTENT  b7d304aa94a63167e55e1d4d42660ca7588dc0968cb4336a850b39461767ccf3
  UPSTREAM https://ftp.postgresql.org/pub/source/v15.19/postgresql-15.19.tar.bz2
           e1a64a87a46b825b88c082e4518161a47aab53c45694964f8ba1df28f7859f89
  DEBIAN   pool/updates/main/p/postgresql-15/postgresql-15_15.19.orig.tar.bz2
           e1a64a87a46b825b88c082e4518161a47aab53c45694964f8ba1df28f7859f89)

# Only for the admin page, which shows QR codes for authenticator apps. Served unchanged, as one file.
coffer_archive(qrcode
  VERSION  2.0.4
  LICENCE  MIT
  HOMEPAGE https://github.com/kazuhikoarase/qrcode-generator
  WHY      "QR code of the admin page's enrolment; runs in the browser"
  KEEP     dist/qrcode.mjs
  CONTENT  9c2e6f9f4b0ed6290fe7d27d67fcacc6b8246e40b8fd737d9e0b183517353c39
  NPM      qrcode-generator@2.0.4
           02e2e18a99a90b02dad940851f59b7c3c5fd1ab79cbdece8595cb06328878159)

# Only the list of common passwords is used, at build time, and no code.
coffer_archive(zxcvbn
  VERSION  4.4.2
  LICENCE  MIT
  HOMEPAGE https://github.com/dropbox/zxcvbn
  WHY      "list of the most common passwords, which operators may not use"
  KEEP     src/frequency_lists.coffee LICENSE.txt
  CONTENT  ddef17aecd187f507c0e537c7916473a6c6d1dc0a45f6b3849fcdf1eac1a08c8
  UPSTREAM https://github.com/dropbox/zxcvbn/archive/refs/tags/v4.4.2.tar.gz -
  NPM      zxcvbn@4.4.2
           0b3ebb60ec2df2340e1b8b70e4cb2657a3ceb192781d299310e7aceaa606cd22)

# Debian 12 has version 2; Debian 13 and Ubuntu 24.04 have version 3, whose headers and names differ.
coffer_archive(catch2 TESTS
  VERSION  2.13.10
  LICENCE  BSL-1.0
  HOMEPAGE https://github.com/catchorg/Catch2
  WHY      "test framework"
  KEEP     single_include/catch2/catch.hpp LICENSE.txt
  CONTENT  a379cf375d42631e660563b85390b5acf34efeb77f9b02cbd8be67c7dd0bd88f
  UPSTREAM https://github.com/catchorg/Catch2/archive/refs/tags/v2.13.10.tar.gz -
  DEBIAN   pool/main/c/catch2/catch2_2.13.10.orig.tar.gz
           2f4fe284449cf17394350e027ae21958973a61b9161197d416e2dfca16167686)

coffer_system(openssl
  LICENCE Apache-2.0
  HOMEPAGE https://www.openssl.org
  WHY "cryptography and TLS; a rebuild with Debian's static libraries includes their security updates"
  DEBIAN_PACKAGES libssl-dev)

coffer_system(cares
  LICENCE MIT
  HOMEPAGE https://c-ares.org
  WHY "name resolution without NSS: a static glibc program that uses NSS crashes on some hosts"
  DEBIAN_PACKAGES libc-ares-dev)

coffer_system(json
  LICENCE MIT
  HOMEPAGE https://github.com/nlohmann/json
  WHY "JSON; the SAX parser keeps the source text of amounts"
  DEBIAN_PACKAGES nlohmann-json3-dev)

coffer_system(spdlog
  LICENCE MIT
  HOMEPAGE https://github.com/gabime/spdlog
  WHY "logging; header-only, together with fmt"
  DEBIAN_PACKAGES libspdlog-dev libfmt-dev)

coffer_system(cli11
  LICENCE BSD-3-Clause
  HOMEPAGE https://github.com/CLIUtils/CLI11
  WHY "parsing of command-line flags"
  DEBIAN_PACKAGES libcli11-dev)

coffer_system(tomlplusplus
  LICENCE MIT
  HOMEPAGE https://marzer.github.io/tomlplusplus
  WHY "parsing of the configuration file, with the line of each key"
  DEBIAN_PACKAGES libtomlplusplus-dev)

coffer_system(pugixml
  LICENCE MIT
  HOMEPAGE https://pugixml.org
  WHY "bank statements in XML (camt.053, camt.054); expands no entities but XML's own five"
  DEBIAN_PACKAGES libpugixml-dev)

coffer_system(re2
  LICENCE BSD-3-Clause
  HOMEPAGE https://github.com/google/re2
  WHY "linear-time matching of patterns from operators; std::regex can backtrack without bound"
  DEBIAN_PACKAGES libre2-dev)

coffer_system(utf8proc
  LICENCE MIT
  HOMEPAGE https://juliastrings.github.io/utf8proc
  WHY "Unicode: folding and normalisation for searches, invisible characters in names"
  DEBIAN_PACKAGES libutf8proc-dev)

# Debian's static library, linked with our SQLite instead of Debian's.
coffer_system(sqlitecpp
  LICENCE MIT
  HOMEPAGE https://srombauts.github.io/SQLiteCpp
  WHY "connections, statements, transactions and backups of SQLite as C++ objects"
  DEBIAN_PACKAGES libsqlitecpp-dev)

coffer_system(zlib
  LICENCE Zlib
  HOMEPAGE https://zlib.net
  WHY "gzip compression of documents served from memory; never decompresses client data"
  DEBIAN_PACKAGES zlib1g-dev)

coffer_system(iso_codes
  LICENCE LGPL-2.1-or-later
  HOMEPAGE https://salsa.debian.org/iso-codes-team/iso-codes
  WHY "country and currency tables, read at build time"
  DEBIAN_PACKAGES iso-codes)
