#include "http/wire/chunk_framer.h"

#include <catch2/catch.hpp>
#include <string>

using namespace coffer;
using namespace coffer::http;

namespace {

struct Outcome {
  std::string body;
  std::size_t used = 0;  // of the bytes, framing and data
  bool complete = false;
  int status = 0;  // of the rejection; 0: none

  bool operator==(const Outcome&) const = default;
};

/// `bytes` as they arrive in pieces of so many; 0: all at once.
Outcome decode(std::string_view bytes, std::size_t piece = 0,
               std::uint64_t body_bytes_max = 1'000) {
  ChunkFramer framer(body_bytes_max);
  Outcome out;
  for (std::size_t size = piece == 0 ? bytes.size() : std::min(piece, bytes.size());;
       size = std::min(size + piece, bytes.size())) {
    for (;;) {
      const auto part = framer.next(bytes.substr(out.used, size - out.used));
      if (part.framing + part.data == 0) break;
      out.body += bytes.substr(out.used + part.framing, part.data);
      out.used += part.framing + part.data;
    }
    if (size == bytes.size()) break;
  }
  CHECK(framer.body_bytes() == out.body.size());
  out.complete = framer.is_complete();
  if (framer.problem()) out.status = framer.problem()->status();
  return out;
}

}  // namespace

TEST_CASE("chunks: only sizes, extensions and trailers are not part of the body") {
  const auto [bytes, body] = GENERATE(table<std::string, std::string>({
      {"0\r\n\r\n", ""},
      {"3\r\nabc\r\n0\r\n\r\n", "abc"},
      {"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"},
      {"a\r\n0123456789\r\n000\r\n\r\n", "0123456789"},
      {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"0000000000000003\r\nabc\r\n0\r\n\r\n", "abc"},
      {"3;name\r\nabc\r\n0;x=\"y z\"\r\n\r\n", "abc"},
      {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n"},
      {"5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"},
      {"1\r\na\r\n0\r\nX-Checksum: 1\r\nX-Empty:\r\n\r\n", "a"},
  }));
  INFO(bytes);
  const Outcome whole = decode(bytes + "GET / HTTP/1.1\r\n");
  CHECK(whole.complete);
  CHECK(whole.status == 0);
  CHECK(whole.body == body);
  CHECK(whole.used == bytes.size());  // the next request is not touched
  for (const std::size_t piece : {1U, 2U, 3U, 7U}) CHECK(decode(bytes, piece) == decode(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Outcome half = decode(std::string_view(bytes).substr(0, size));
    CHECK_FALSE(half.complete);
    CHECK(half.status == 0);
  }
}

TEST_CASE("chunks: ambiguous framing is rejected") {
  const std::string end = "0\r\n\r\n";
  const auto [name, bytes, status] = GENERATE_COPY(table<std::string, std::string, int>({
      {"no size", "\r\n", 400},
      {"a sign", "+3\r\nabc\r\n" + end, 400},
      {"a minus", "-3\r\nabc\r\n" + end, 400},
      {"minus zero", "-0\r\n\r\n", 400},
      {"a prefix", "0x3\r\nabc\r\n" + end, 400},
      {"a space before", " 3\r\nabc\r\n" + end, 400},
      {"a tab before", "\t3\r\nabc\r\n" + end, 400},
      {"a space after", "3 \r\nabc\r\n" + end, 400},
      {"a space before the extension", "3 ;a\r\nabc\r\n" + end, 400},
      {"an underscore", "1_0\r\n", 400},
      {"no hexadecimal digit", "3g\r\nabc\r\n" + end, 400},
      {"a full-width digit", "\xef\xbc\x93\r\nabc\r\n" + end, 400},
      {"17 digits", "10000000000000003\r\nabc\r\n" + end, 400},
      {"17 digits, zeros", "00000000000000003\r\nabc\r\n" + end, 400},
      {"16 digits, the largest", "ffffffffffffffff\r\nabc\r\n", 413},
      {"more than the limit", "3e9\r\n", 413},
      {"a line feed alone", "3\nabc\r\n" + end, 400},
      {"a carriage return alone", "3\rabc\r\n" + end, 400},
      {"two carriage returns", "3\r\r\nabc\r\n" + end, 400},
      {"a line feed in the extension", "3;a\nabc\r\n" + end, 400},
      {"a NUL in the extension", std::string("3;a\0\r\nabc\r\n", 12) + end, 400},
      {"data without a line end", "3\r\nabc" + end, 400},
      {"data and a line feed", "3\r\nabc\n" + end, 400},
      {"data and a carriage return", "3\r\nabc\r" + end, 400},
      {"data longer than its size", "3\r\nabcd\r\n" + end, 400},
      {"a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", 400},
      {"a trailer without colon", "0\r\nAbc\r\n\r\n", 400},
      {"a trailer without name", "0\r\n: b\r\n\r\n", 400},
      {"space before the colon of a trailer", "0\r\nA : b\r\n\r\n", 400},
      {"a request for a trailer", "0\r\nGET / HTTP/1.1\r\n\r\n", 400},
      {"a line feed after a trailer", "0\r\nA: b\n\r\n", 400},
      {"a line feed at the end", "0\r\n\n", 400},
      {"a length as trailer", "0\r\ncontent-length: 3\r\n\r\n", 400},
      {"a coding as trailer", "0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"a host as trailer", "0\r\nHost: b\r\n\r\n", 400},
      {"credentials as trailer", "0\r\nAuthorization: Bearer a\r\n\r\n", 400},
      {"a key as trailer", "0\r\nX-Svc-Auth: a\r\n\r\n", 400},
      {"a long extension", "3;" + std::string(5'000, 'a') + "\r\nabc\r\n" + end, 400},
      {"a long extension without end", "3;" + std::string(5'000, 'a'), 400},
      {"a long trailer without end", "0\r\nA: " + std::string(5'000, 'a'), 400},
  }));
  INFO(name);
  const Outcome whole = decode(bytes);
  CHECK(whole.status == status);
  CHECK_FALSE(whole.complete);
  for (const std::size_t piece : {1U, 5U}) CHECK(decode(bytes, piece) == whole);
}

TEST_CASE("chunks: the body limit applies to the sum of all chunks") {
  const std::string two = "2\r\nab\r\n2\r\ncd\r\n";
  CHECK(decode(two + "0\r\n\r\n", 0, 4).complete);
  const Outcome over = decode(two + "1\r\n", 0, 4);
  CHECK(over.status == 413);
  CHECK(over.body == "abcd");
  CHECK(decode("0\r\n\r\n", 0, 0).complete);
  CHECK(decode("1\r\n", 0, 0).status == 413);
}

TEST_CASE("chunks: extensions and trailers are limited over the whole body") {
  std::string extensions;
  for (int i = 0; i < 900; ++i) extensions += "1;abcdefgh\r\nx\r\n";
  CHECK(decode(extensions).status == 400);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 900; ++i) trailers += "A: bcdef\r\n";
  CHECK(decode(trailers).status == 400);
  const std::string good =
      "1;" + std::string(2'000, 'a') + "\r\nx\r\n0\r\nA: " + std::string(2'000, 'b');
  CHECK(decode(good + "\r\n\r\n").complete);
}
