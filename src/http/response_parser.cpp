#include "http/response_parser.h"

#include <algorithm>
#include <charconv>

#include "http/message.h"

namespace coffer::http {
namespace {

constexpr std::size_t kHeaderBytesMax = 16 * 1024;
constexpr std::size_t kChunkLineMax = 256;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, int base, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// Whether what ends at `end` (npos: not there yet) with a mark of so many bytes is longer than it
/// may be; the same answer however it arrives.
bool is_too_long(const std::string& bytes, std::size_t end, std::size_t mark, std::size_t most) {
  return end == std::string::npos ? bytes.size() >= most + mark : end > most;
}

/// Other readers end a line, or a value, at some of these (RFC 9110 section 5.5).
bool has_control_characters(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

}  // namespace

const std::string* ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return &value;
  }
  return nullptr;
}

ResponseParser::State ResponseParser::feed(std::string_view bytes) {
  pending_.append(bytes);
  if (state_ == State::header) parse_header();
  if (state_ == State::body) parse_body();
  return state_;
}

ResponseParser::State ResponseParser::end(bool in_order) {
  if (state_ == State::header) {
    state_ = State::broken;
  } else if (state_ == State::body) {
    response_.truncated = framing_ != Framing::until_close || !in_order;
    state_ = State::complete;
  }
  return state_;
}

bool ResponseParser::leaves_connection_usable() const {
  if (state_ != State::complete || response_.truncated || !persistent_) return false;
  const std::string* connection = response_.header("Connection");
  if (connection != nullptr && !same_name(*connection, "keep-alive")) return false;
  const bool has_body = response_.status != 204 && response_.status != 304 && !head_request_;
  if (has_body && framing_ == Framing::until_close) return false;
  // After the last chunk an empty line ends the trailers; any trailer would still be to be read.
  return framing_ == Framing::chunked ? pending_ == "\r\n" : pending_.empty();
}

void ResponseParser::parse_header() {
  for (;;) {
    const std::size_t end = pending_.find("\r\n\r\n");
    if (is_too_long(pending_, end, 4, kHeaderBytesMax)) state_ = State::broken;
    if (end == std::string::npos || state_ == State::broken) return;
    const std::string header = pending_.substr(0, end + 2);
    pending_.erase(0, end + 4);
    if (!parse_lines(header)) {
      state_ = State::broken;
      return;
    }
    if (response_.status >= 200) return frame_body();
    response_ = ClientResponse();  // 100 Continue, 103 Early Hints: the real one follows
  }
}

bool ResponseParser::parse_lines(std::string_view header) {
  std::size_t end = header.find("\r\n");
  const std::string_view status_line = header.substr(0, end);
  std::uint64_t status = 0;
  if (!status_line.starts_with("HTTP/1.") || status_line.size() < 12 ||
      !parse_number(status_line.substr(9, 3), 10, status) || status < 100) {
    return false;
  }
  response_.status = static_cast<int>(status);
  persistent_ = status_line[7] != '0';
  for (header.remove_prefix(end + 2); !header.empty(); header.remove_prefix(end + 2)) {
    end = header.find("\r\n");
    const std::string_view line = header.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || has_control_characters(line)) return false;
    response_.headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return true;
}

void ResponseParser::frame_body() {
  state_ = State::body;
  const std::string* coding = response_.header("Transfer-Encoding");
  const std::string* length = response_.header("Content-Length");
  if (head_request_ || response_.status == 204 || response_.status == 304) {
    state_ = State::complete;
  } else if (coding != nullptr) {
    framing_ = Framing::chunked;
    if (!same_name(*coding, "chunked")) truncate();
  } else if (length != nullptr) {
    framing_ = Framing::length;
    if (!parse_number(*length, 10, remaining_)) truncate();
    if (remaining_ == 0) state_ = State::complete;
  }
}

void ResponseParser::parse_body() {
  while (state_ == State::body && !pending_.empty()) {
    if (framing_ == Framing::chunked && !in_chunk_) {
      if (!parse_chunk_size()) return;
      continue;
    }
    std::size_t count = pending_.size();
    if (framing_ != Framing::until_close) {
      count = static_cast<std::size_t>(std::min<std::uint64_t>(count, remaining_));
      remaining_ -= count;
    }
    append(std::string_view(pending_).substr(0, count));
    pending_.erase(0, count);
    if (framing_ != Framing::until_close && remaining_ == 0 && state_ == State::body) {
      if (framing_ == Framing::length) state_ = State::complete;
      in_chunk_ = false;
    }
  }
}

/// False: the line is not there yet. The CRLF after a chunk is an empty line here.
bool ResponseParser::parse_chunk_size() {
  const std::size_t end = pending_.find("\r\n");
  if (is_too_long(pending_, end, 2, kChunkLineMax)) truncate();
  if (end == std::string::npos || state_ == State::complete) return false;
  const std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 2);
  if (line.empty()) return true;
  const std::string_view size = trimmed(std::string_view(line).substr(0, line.find(';')));
  if (size.size() > 8 || !parse_number(size, 16, remaining_)) {
    truncate();
  } else if (remaining_ == 0) {
    state_ = State::complete;  // trailers are of no interest
  } else {
    in_chunk_ = true;
  }
  return true;
}

void ResponseParser::append(std::string_view piece) {
  const std::size_t room = body_bytes_max_ - response_.body.size();
  response_.body.append(piece.substr(0, room));
  if (piece.size() > room) truncate();
}

void ResponseParser::truncate() {
  response_.truncated = true;
  state_ = State::complete;
}

}  // namespace coffer::http
