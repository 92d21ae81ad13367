// Chunked request bodies: the first byte determines how the rest is split into pieces. The body,
// its end and the result must not depend on the pieces, and a second parser must read a complete
// body alike.
#include <algorithm>

#include "fuzz/property.h"
#include "http/wire/chunk_framer.h"

namespace coffer::fuzz {
namespace {

using http::ChunkFramer;

constexpr std::uint64_t kBodyMax = 256;

struct Outcome {
  std::string body;
  std::size_t used = 0;
  bool complete = false;
  int status = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  ChunkFramer framer(kBodyMax);
  Outcome out;
  for (std::size_t size = 0; size < bytes.size();) {
    size = std::min(size + piece, bytes.size());
    for (;;) {
      const std::string_view rest = bytes.substr(out.used, size - out.used);
      const auto part = framer.next(rest);
      HOLDS(part.framing + part.data <= rest.size());
      if (part.framing + part.data == 0) break;
      out.body += rest.substr(part.framing, part.data);
      out.used += part.framing + part.data;
    }
    HOLDS(framer.body_bytes() == out.body.size() && out.body.size() <= kBodyMax);
  }
  out.complete = framer.is_complete();
  if (framer.problem()) out.status = framer.problem()->status();
  HOLDS(!out.complete || out.status == 0);
  HOLDS(out.status == 0 || out.status == 400 || out.status == 413);
  return out;
}

/// Parses a complete chunked message by the grammar alone, and returns the body.
std::string read_again(std::string_view bytes) {
  std::string body;
  for (;;) {
    const std::size_t end = bytes.find("\r\n");
    const std::string_view size_text = bytes.substr(0, std::min(end, bytes.find(';')));
    HOLDS(!size_text.empty() && size_text.size() <= 16);
    HOLDS(size_text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos);
    const std::size_t size = std::stoull(std::string(size_text), nullptr, 16);
    bytes.remove_prefix(end + 2);
    if (size == 0) break;
    body += bytes.substr(0, size);
    HOLDS(bytes.substr(size, 2) == "\r\n");
    bytes.remove_prefix(size + 2);
  }
  // Trailers: lines with a colon, up to an empty line.
  for (;;) {
    const std::size_t end = bytes.find("\r\n");
    const std::string_view line = bytes.substr(0, end);
    HOLDS(line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    bytes.remove_prefix(end + 2);
    if (line.empty()) break;
    HOLDS(line.find(':') != std::string_view::npos && line.front() != ' ');
  }
  HOLDS(bytes.empty());
  return body;
}

void check(std::string_view input) {
  const std::string_view bytes = input.substr(1);
  const Outcome whole = read(bytes, std::max<std::size_t>(bytes.size(), 1));
  if (whole.complete) HOLDS(read_again(bytes.substr(0, whole.used)) == whole.body);
  const auto how = static_cast<unsigned char>(input.front());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2} + how % 31}) {
    HOLDS(read(bytes, piece) == whole);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
