// Reads one HTTP response from bytes as they arrive; for the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/client.h"

namespace coffer::http {

class ResponseParser {
 public:
  enum class State { header, body, complete, broken };

  ResponseParser(bool head_request, std::size_t body_bytes_max)
      : head_request_(head_request), body_bytes_max_(body_bytes_max) {}

  /// `broken` only while there is no header; a body that breaks off is `complete` and truncated.
  State feed(std::string_view bytes);
  /// The peer has closed: the end of a body without a length if it was `in_order`, else a break.
  State end(bool in_order);
  /// After `complete`: nothing of this response is left to come, and the peer keeps the connection.
  bool leaves_connection_usable() const;
  ClientResponse take() { return std::move(response_); }

 private:
  enum class Framing { until_close, length, chunked };

  void parse_header();
  bool parse_lines(std::string_view header);
  void frame_body();
  void parse_body();
  bool parse_chunk_size();
  void append(std::string_view piece);
  void truncate();

  const bool head_request_;
  const std::size_t body_bytes_max_;
  State state_ = State::header;
  Framing framing_ = Framing::until_close;
  std::string pending_;
  std::uint64_t remaining_ = 0;  // of the length, or of the present chunk
  bool in_chunk_ = false;
  bool persistent_ = false;  // HTTP/1.1
  ClientResponse response_;
};

}  // namespace coffer::http
