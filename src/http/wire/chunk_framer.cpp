#include "http/wire/chunk_framer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/text/ascii.h"
#include "http/gate.h"
#include "http/message.h"

namespace coffer::http {
namespace {

// Leading zeros are permitted, and 16 hexadecimal digits cannot overflow 64 bits.
constexpr std::size_t kSizeDigitsMax = 16;
// Limit for the extensions and trailers of one body, which nothing reads.
constexpr std::size_t kExtraBytesMax = 4 * 1024;
constexpr const char* kExtraTooLong = "Chunk extensions and trailers are limited to 4096 bytes.";

// Fields that are invalid after the body, because they determine its framing, routing,
// interpretation or authorisation (RFC 9110 section 6.5.1).
constexpr std::array<std::string_view, 13> kNeverTrailers = {
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "expect",
    "host",
    "te",
    "trailer",
    "upgrade",
    "x-svc-auth",
    "transfer-encoding",
};

}  // namespace

Problem body_too_large(std::uint64_t bytes_max) {
  return Problem(Slug::payload_too_large,
                 "The body is larger than the limit of " + std::to_string(bytes_max) + " bytes.");
}

ChunkFramer::Part ChunkFramer::next(std::string_view bytes) {
  Part part;
  while (!problem_ && state_ != State::complete) {
    const std::string_view rest = bytes.substr(part.framing);
    if (state_ == State::data) {
      part.data = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
      body_bytes_ += part.data;
      left_ -= part.data;
      if (left_ == 0) state_ = State::data_end;
      break;
    }
    const std::size_t used = framing(rest);
    if (used == 0) break;
    part.framing += used;
  }
  return part;
}

/// Bytes of framing at the beginning; 0 if more bytes are needed or the body is rejected.
std::size_t ChunkFramer::framing(std::string_view bytes) {
  constexpr std::string_view kLineEnd = "\r\n";
  if (state_ == State::data_end) {
    if (!kLineEnd.starts_with(bytes.substr(0, 2))) return fail("A chunk does not end with CRLF.");
    if (bytes.size() < kLineEnd.size()) return 0;
    state_ = State::size;
    return kLineEnd.size();
  }
  const auto text = line(bytes);
  if (!text) return 0;
  state_ == State::size ? size_line(*text) : trailer_line(*text);
  return problem_ ? 0 : text->size() + kLineEnd.size();
}

/// The first line without its CRLF; nullopt while it is incomplete.
std::optional<std::string_view> ChunkFramer::line(std::string_view bytes) {
  const std::size_t most = kExtraBytesMax - extra_bytes_ + kSizeDigitsMax;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\r') {
      if (i + 1 == bytes.size()) return std::nullopt;
      if (bytes[i + 1] == '\n') return bytes.substr(0, i);
    }
    if (ascii::is_control(c) && c != '\t') {
      fail("A line of the chunked body contains a control character or does not end with CRLF.");
      return std::nullopt;
    }
    if (i >= most) {
      fail(kExtraTooLong);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void ChunkFramer::size_line(std::string_view line) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (error == std::errc::invalid_argument) {
    fail("A chunk does not start with its size in hexadecimal digits.");
  } else if (digits > kSizeDigitsMax) {
    fail("A chunk size has more than 16 digits.");
  } else if (digits < line.size() && line[digits] != ';') {
    fail("A chunk size is followed by neither CRLF nor an extension.");
  } else if (size > body_bytes_max_ - body_bytes_) {
    fail(body_too_large(body_bytes_max_));
  } else {
    extra_bytes_ += line.size() - digits;
    left_ = size;
    state_ = size == 0 ? State::trailers : State::data;
  }
  if (extra_bytes_ > kExtraBytesMax) fail(kExtraTooLong);
}

/// Checks and discards a trailer line.
void ChunkFramer::trailer_line(std::string_view line) {
  if (line.empty()) {
    state_ = State::complete;
    return;
  }
  extra_bytes_ += line.size();
  const auto field = parse_field_line(line);
  if (extra_bytes_ > kExtraBytesMax) {
    fail(kExtraTooLong);
  } else if (!field) {
    fail(field.error());
  } else if (std::any_of(kNeverTrailers.begin(), kNeverTrailers.end(),
                         [&](std::string_view name) { return same_name(field->name, name); })) {
    fail(Problem(Slug::malformed_request,
                 "The trailer " + std::string(field->name) + " belongs in the header."));
  }
}

std::size_t ChunkFramer::fail(Problem problem) {
  if (!problem_) problem_ = std::move(problem);
  return 0;
}

std::size_t ChunkFramer::fail(const char* detail) {
  return fail(Problem(Slug::malformed_request, detail));
}

}  // namespace coffer::http
