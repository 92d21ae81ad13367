// The URL of an archive, the endpoint of its store, and the address of its bucket.
#include "outbound/archive/archive_place.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::outbound;

TEST_CASE("archive place: folders and buckets") {
  struct Good {
    std::string url;
    std::string folder;
    std::string bucket;
    std::string prefix;
  };
  const std::string longest(63, 'b');
  for (const Good& good :
       {Good{"file:///mnt/archive", "/mnt/archive", "", ""},
        Good{"file:///mnt/of ledger//", "/mnt/of ledger", "", ""}, Good{"s3://abc", "", "abc", ""},
        Good{"s3://abc/", "", "abc", ""}, Good{"s3://a.b-1/ledger", "", "a.b-1", "ledger/"},
        Good{"s3://abc/a/B_1.x/", "", "abc", "a/B_1.x/"},
        Good{"s3://" + longest, "", longest, ""}}) {
    INFO(good.url);
    const auto place = parse_archive_url(good.url);
    REQUIRE(place);
    CHECK(place->folder == good.folder);
    CHECK(place->bucket == good.bucket);
    CHECK(place->prefix == good.prefix);
  }
}

TEST_CASE("archive place: other URLs are refused with what to write") {
  struct Wrong {
    std::string url;
    const char* part;
  };
  for (const Wrong& wrong : {Wrong{"", "file:///PATH or s3://BUCKET"},
                             Wrong{"/mnt/archive", "file:///PATH or s3://"},
                             Wrong{"https://s3.amazonaws.com/abc", "file:///PATH or s3://"},
                             Wrong{"file://relative", "absolute"},
                             Wrong{"file:///", "absolute"},
                             Wrong{"file:///a\nb", "absolute"},
                             Wrong{"file:///of%20ledger", "not encoded"},
                             Wrong{"s3://", "bucket"},
                             Wrong{"s3:///a", "bucket"},
                             Wrong{"s3://ab", "bucket"},
                             Wrong{"s3://" + std::string(64, 'b'), "bucket"},
                             Wrong{"s3://Upper", "bucket"},
                             Wrong{"s3://-abc", "bucket"},
                             Wrong{"s3://abc.", "bucket"},
                             Wrong{"s3://a_b", "bucket"},
                             Wrong{"s3://key:secret@abc", "bucket"},
                             Wrong{"s3://abc/a//b", "prefix"},
                             Wrong{"s3://abc/../b", "prefix"},
                             Wrong{"s3://abc/a b", "prefix"},
                             Wrong{"s3://abc/a?b=c", "prefix"},
                             Wrong{"s3://abc/" + std::string(257, 'p'), "prefix"}}) {
    INFO(wrong.url);
    const auto place = parse_archive_url(wrong.url);
    REQUIRE_FALSE(place);
    CHECK(place.error().slug == Slug::validation_failed);
    CHECK(place.error().detail.find(wrong.part) != std::string::npos);
  }
}

TEST_CASE("archive place: an endpoint is https, and http only to this machine") {
  for (const char* good : {"https://store.example", "https://10.0.0.5:9000/", "https://[fd00::5]",
                           "http://127.0.0.1:9000", "http://localhost:9000"}) {
    INFO(good);
    CHECK(check_archive_endpoint(good).empty());
  }
  for (const char* wrong : {"", "store.example", "http://store.example", "http://10.0.0.5:9000",
                            "https://store.example/path", "https://store.example/?a=b",
                            "https://key:secret@store.example", "s3://bucket"}) {
    INFO(wrong);
    CHECK_FALSE(check_archive_endpoint(wrong).empty());
  }
}

TEST_CASE("archive place: where the requests for a bucket go") {
  struct Case {
    const char* bucket;
    ArchiveSettings settings;
    const char* host;
    int port;
    bool tls;
    const char* path;
  };
  const auto in = [](const char* region, const char* endpoint = "") {
    return ArchiveSettings{.endpoint = endpoint, .keys = {.region = region}};
  };
  for (const Case& one :
       {Case{"abc", in("us-east-1"), "abc.s3.us-east-1.amazonaws.com", 443, true, "/"},
        Case{"abc", in("cn-north-1"), "abc.s3.cn-north-1.amazonaws.com.cn", 443, true, "/"},
        Case{"a.bc", in("eu-west-3"), "s3.eu-west-3.amazonaws.com", 443, true, "/a.bc/"},
        Case{"abc", in("us-east-1", "https://store.example:9000"), "store.example", 9000, true,
             "/abc/"},
        Case{"abc", in("us-east-1", "http://[::1]:9000"), "::1", 9000, false, "/abc/"}}) {
    INFO(one.host);
    const BucketAddress address = bucket_address(one.bucket, one.settings);
    CHECK(address.host.host == one.host);
    CHECK(address.host.port == one.port);
    CHECK(address.host.tls == one.tls);
    CHECK(address.path == one.path);
  }
}
