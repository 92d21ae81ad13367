// Answers of a store in XML.
#include "outbound/archive/s3_answers.h"

#include <catch2/catch.hpp>

using namespace coffer::outbound;

namespace s3_answers_test {
namespace {

std::string list_of(const std::string& content) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
         content + "</ListBucketResult>";
}
std::string object_of(const std::string& key, const std::string& size) {
  return "<Contents><Key>" + key + "</Key><ETag>\"x\"</ETag><Size>" + size + "</Size></Contents>";
}
const std::string kEnd = "<IsTruncated>false</IsTruncated>";
const std::string kMore = "<IsTruncated>true</IsTruncated>";

}  // namespace

TEST_CASE("s3 answers: a list, and one that continues") {
  const auto empty = s3_list_from(list_of(kEnd));
  REQUIRE(empty);
  CHECK(empty->objects.empty());
  CHECK_FALSE(empty->is_truncated);
  const auto two = s3_list_from(list_of("<Name>b</Name>" + object_of("a/b", "0") +
                                        object_of("a&amp;&#98;", "9007199254740993") + kMore +
                                        "<NextContinuationToken>1/x+y==</NextContinuationToken>"));
  REQUIRE(two);
  REQUIRE(two->objects.size() == 2);
  CHECK(two->objects[0].name == "a/b");
  CHECK(two->objects[1].name == "a&b");
  CHECK(two->objects[1].bytes == 9'007'199'254'740'993);
  CHECK(two->is_truncated);
  CHECK(two->next == "1/x+y==");
}

TEST_CASE("s3 answers: what is not a list") {
  const std::string good = list_of(object_of("a", "1") + kEnd);
  for (const std::string& wrong :
       {std::string(), std::string("hello"), std::string("<html/>"), list_of(""),
        list_of(object_of("a", "1")), list_of(object_of("a", "-1") + kEnd),
        list_of(object_of("a", "one") + kEnd), list_of("<Contents><Key>a</Key></Contents>" + kEnd),
        list_of(kMore), list_of("<IsTruncated>yes</IsTruncated>"),
        std::string("<Error><Code>AccessDenied</Code></Error>"), good.substr(0, good.size() - 3),
        std::string("<!DOCTYPE x [<!ENTITY e \"1\">]>") + list_of(object_of("a", "&e;") + kEnd)}) {
    INFO(wrong);
    CHECK_FALSE(s3_list_from(wrong));
  }
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "<a>";
  CHECK_FALSE(s3_list_from(deep));
  CHECK(s3_error_code(deep).empty());
}

TEST_CASE("s3 answers: the code of an error, and what to do about it") {
  const auto error_of = [](const std::string& code) {
    return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>m</Message></Error>";
  };
  CHECK(s3_error_code(error_of("AccessDenied")) == "AccessDenied");
  for (const std::string& other :
       {std::string(), std::string("<html>"), error_of(""), error_of("a b"), error_of("a\x1b[2J"),
        error_of(std::string(65, 'a')), std::string("<Code>AccessDenied</Code>")}) {
    INFO(other);
    CHECK(s3_error_code(other).empty());
  }
  CHECK(s3_remedy("RequestTimeTooSkewed").find("clock") != std::string::npos);
  CHECK(s3_remedy("SignatureDoesNotMatch").find("archive_secret_key") != std::string::npos);
  CHECK(s3_remedy("PermanentRedirect").find("archive_region") != std::string::npos);
  CHECK(s3_remedy("SomethingElse").empty());
}

}  // namespace s3_answers_test
