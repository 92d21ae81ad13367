/* Configuration of PostgreSQL's client library (libpq) alone, without GSSAPI and LDAP. Its own checks take longer than
   compiling it, and their result is the same on all 64-bit Linux and macOS systems. cmake/ThirdParty.cmake defines the
   version and what differs. */
#define ALIGNOF_DOUBLE 8
#define ALIGNOF_INT 4
#define ALIGNOF_LONG 8
#define ALIGNOF_SHORT 2
#define BLCKSZ 8192
#define DEF_PGPORT 5432
#define DEF_PGPORT_STR "5432"
#define ENABLE_THREAD_SAFETY 1
#define HAVE_ASN1_STRING_GET0_DATA 1
#define HAVE_BIO_METH_NEW 1
#define HAVE_CLOCK_GETTIME 1
#define HAVE_FUNCNAME__FUNC 1
#define HAVE_GETADDRINFO 1
#define HAVE_GETPWUID_R 1
#define HAVE_HMAC_CTX_FREE 1
#define HAVE_HMAC_CTX_NEW 1
#define HAVE_INET_ATON 1
#define HAVE_INTTYPES_H 1
#define HAVE_IPV6 1
#define HAVE_LANGINFO_H 1
#define HAVE_LONG_INT_64 1
#define HAVE_NETINET_TCP_H 1
#define HAVE_OPENSSL_INIT_SSL 1
#define HAVE_POLL 1
#define HAVE_POLL_H 1
#define HAVE_PTHREAD 1
#define HAVE_SETENV 1
#define HAVE_SSL_CTX_SET_CERT_CB 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRERROR_R 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_STRNLEN 1
#define HAVE_DECL_STRNLEN 1
#define HAVE_DECL_STRTOLL 1
#define HAVE_DECL_STRTOULL 1
#define HAVE_STRSIGNAL 1
#define HAVE_STRTOF 1
#define HAVE_STRTOLL 1
#define HAVE_STRTOULL 1
#define HAVE_STRUCT_ADDRINFO 1
#define HAVE_STRUCT_SOCKADDR_STORAGE 1
#define HAVE_STRUCT_SOCKADDR_STORAGE_SS_FAMILY 1
#define HAVE_STRUCT_SOCKADDR_UN 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_UN_H 1
#define HAVE_SYMLINK 1
#define HAVE_UNISTD_H 1
#define HAVE_UNSETENV 1
#define HAVE_X509_GET_SIGNATURE_INFO 1
#define HAVE_X509_GET_SIGNATURE_NID 1
#define HAVE__BUILTIN_BSWAP16 1
#define HAVE__BUILTIN_BSWAP32 1
#define HAVE__BUILTIN_BSWAP64 1
#define HAVE__BUILTIN_CONSTANT_P 1
#define HAVE__BUILTIN_TYPES_COMPATIBLE_P 1
#define HAVE__BUILTIN_UNREACHABLE 1
#define HAVE__STATIC_ASSERT 1
#define INT64_MODIFIER "l"
#define MAXIMUM_ALIGNOF 8
#define MEMSET_LOOP_LIMIT 1024
#define OPENSSL_API_COMPAT 0x10001000L
#define PACKAGE_NAME "PostgreSQL"
#define PACKAGE_VERSION PG_VERSION
#define PG_CXX_PRINTF_ATTRIBUTE printf
#define PG_C_PRINTF_ATTRIBUTE printf
#define PG_INT64_TYPE long int
#define PG_KRB_SRVNAM "postgres"
#define PG_MAJORVERSION "15"
#define PG_MAJORVERSION_NUM 15
#define PG_USE_STDBOOL 1
#define RELSEG_SIZE 131072
#define SIZEOF_BOOL 1
#define SIZEOF_LONG 8
#define SIZEOF_OFF_T 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define STDC_HEADERS 1
#define USE_OPENSSL 1
#define XLOG_BLCKSZ 8192
#define pg_restrict __restrict
#define restrict __restrict

/* A connection is what coffer's settings say: libpq sees neither PG* variables nor files in the home folder. */
#include <stdlib.h>
#include <string.h>
#define getenv(name) (strcmp(name, "HOME") == 0 ? (char *) "/nonexistent" : (char *) NULL)
