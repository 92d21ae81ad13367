// Finds the parts of a chunked request body (RFC 9112 section 7.1).
//
// It reads strictly, like the header gate, and rejects what two parsers could frame differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/problem.h"

namespace coffer::http {

/// For a body beyond its maximum size, with any framing.
Problem body_too_large(std::uint64_t bytes_max);

/// One per body. It stores no bytes: the caller decides whether to keep the framing.
class ChunkFramer {
 public:
  explicit ChunkFramer(std::uint64_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  /// First `framing` bytes (sizes, extensions, line ends, trailers), then `data` bytes of the body.
  struct Part {
    std::size_t framing = 0;
    std::size_t data = 0;
  };
  /// The part at the beginning of `bytes`, which must directly follow the previous parts. Empty if
  /// more bytes are needed, and permanently empty once the body is complete or rejected.
  Part next(std::string_view bytes);

  bool is_complete() const { return state_ == State::complete; }
  /// `malformed-request`, or `payload-too-large` as soon as a size exceeds the limit.
  const std::optional<Problem>& problem() const { return problem_; }
  std::uint64_t body_bytes() const { return body_bytes_; }  // of the parts so far
  std::uint64_t body_bytes_max() const { return body_bytes_max_; }

 private:
  enum class State { size, data, data_end, trailers, complete };

  std::size_t framing(std::string_view bytes);
  std::size_t fail(Problem problem);
  std::size_t fail(const char* detail);
  std::optional<std::string_view> line(std::string_view bytes);
  void size_line(std::string_view line);
  void trailer_line(std::string_view line);

  std::uint64_t body_bytes_max_;
  State state_ = State::size;
  std::uint64_t left_ = 0;  // of the present chunk
  std::uint64_t body_bytes_ = 0;
  std::size_t extra_bytes_ = 0;  // extensions and trailers so far
  std::optional<Problem> problem_;
};

}  // namespace coffer::http
