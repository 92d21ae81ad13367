#include "http/gate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text/next_part.h"
#include "base/text/trimmed.h"
#include "http/router.h"

namespace coffer::http {
namespace {

// 20 digits do not fit into 64 bits, and such a length exceeds every limit.
constexpr std::size_t kLengthDigitsMax = 18;
constexpr std::uint64_t kLengthTooLarge = ~std::uint64_t{0};
constexpr std::string_view kSpace = " \t";  // OWS of RFC 9110, section 5.6.3

/// Which of the 256 bytes are permitted.
using CharTable = std::array<bool, 256>;

template <class Allowed>
constexpr CharTable table_of(Allowed allowed) {
  CharTable table{};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = allowed(c);
  return table;
}

constexpr CharTable alphanumeric_and(std::string_view punctuation) {
  return table_of([punctuation](std::size_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c < 0x80 && punctuation.find(static_cast<char>(c)) != std::string_view::npos);
  });
}

constexpr CharTable kDigits = table_of([](std::size_t c) { return c >= '0' && c <= '9'; });
constexpr CharTable kLineChars =
    table_of([](std::size_t c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
constexpr CharTable kTargetChars =
    table_of([](std::size_t c) { return c > 0x20 && c < 0x7f && c != '#'; });
constexpr CharTable kTokenChars = alphanumeric_and("!#$%&'*+-.^_`|~");  // RFC 9110, 5.6.2
// uri-host with port (RFC 3986, without user information).
constexpr CharTable kHostChars = alphanumeric_and("-._~!$&'()*+,;=:[]%");
constexpr CharTable kRequestIdChars = alphanumeric_and("._-");

bool is_in(const CharTable& table, char c) { return table[static_cast<unsigned char>(c)]; }

bool all_in(const CharTable& table, std::string_view text) {
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_in(table, c); });
}

Problem malformed(std::string detail) {
  return Problem(Slug::malformed_request, std::move(detail));
}

Problem fields_too_large(const GateLimits& limits) {
  return Problem(Slug::headers_too_large,
                 "The header is limited to " + std::to_string(limits.header_count_max) +
                     " fields and " + std::to_string(limits.header_bytes_max) + " bytes.");
}

Problem target_too_long(const GateLimits& limits) {
  return malformed("The request target is longer than " + std::to_string(limits.target_bytes_max) +
                   " bytes.");
}

/// Finds the end of the header, and rejects invalid bytes as soon as they arrive.
class Scanner {
 public:
  Scanner(std::string_view bytes, const GateLimits& limits, GateProgress& progress)
      : bytes_(bytes), limits_(limits), at_(progress) {}

  /// Length of the header including its empty line; 0 while incomplete.
  std::size_t header_end() {
    const std::size_t end = std::min(bytes_.size(), limits_.header_bytes_max);
    while (at_.scanned < end) {
      at_.scanned = next_special(at_.scanned, end);
      // 64 bytes are enough for any method and the version; the target itself is measured later.
      if (at_.lines == 0 && at_.scanned - at_.line_start > limits_.target_bytes_max + 64) {
        return fail(target_too_long(limits_));
      }
      if (at_.scanned == end) break;
      const std::string_view special = bytes_.substr(at_.scanned, 2);
      if (special == "\r" || (special == "\r\n" && at_.scanned + 1 == end)) break;
      if (special != "\r\n") return fail(malformed(fault_of(special.front())));
      at_.scanned += 2;
      if (end_line()) return at_.scanned;
      if (problem_) return 0;
    }
    return bytes_.size() > limits_.header_bytes_max ? fail(fields_too_large(limits_)) : 0;
  }

  std::optional<Problem>& problem() { return problem_; }

 private:
  std::size_t fail(Problem problem) {
    problem_ = std::move(problem);
    return 0;
  }

  std::size_t next_special(std::size_t from, std::size_t end) const {
    while (from < end && is_in(kLineChars, bytes_[from])) ++from;
    return from;
  }

  static const char* fault_of(char c) {
    if (c == '\n') return "A line of the header ends with a bare line feed; send CRLF.";
    if (c == '\r') return "The header contains a carriage return without a line feed.";
    return "The header contains a control character.";
  }

  /// True at the empty line that ends the header.
  bool end_line() {
    const bool is_empty = at_.scanned - at_.line_start == 2;
    at_.line_start = at_.scanned;
    if (is_empty) return at_.lines > 0;  // empty lines before a request are skipped (RFC 9112, 2.2)
    ++at_.lines;
    if (at_.lines > limits_.header_count_max + 1) fail(fields_too_large(limits_));
    return false;
  }

  std::string_view bytes_;
  const GateLimits& limits_;
  GateProgress& at_;
  std::optional<Problem> problem_;
};

/// Reads a complete header, line by line.
class HeadParser {
 public:
  explicit HeadParser(const GateLimits& limits) : limits_(limits) {}

  /// Also reads an incomplete header as far as possible, to respond with the caller's request ID.
  void parse(std::string_view header) {
    while (header.starts_with("\r\n")) header.remove_prefix(2);
    for (bool first = true; !header.empty(); first = false) {
      const std::size_t end = header.find("\r\n");
      if (first && end == std::string_view::npos) note_path(header);
      if (end == 0 || end == std::string_view::npos) break;
      first ? request_line(header.substr(0, end)) : field(header.substr(0, end));
      header.remove_prefix(end + 2);
    }
  }

  void check_as_a_whole();

  RequestHead& head() { return head_; }
  std::optional<Problem>& problem() { return problem_; }

 private:
  void fail(Problem problem) {
    if (!problem_) problem_ = std::move(problem);
  }
  void fail(const char* detail) { fail(malformed(detail)); }

  void note_path(std::string_view line);
  void request_line(std::string_view line);
  void target(std::string_view text);
  void field(std::string_view line);
  void content_length(std::string_view value);
  void transfer_encoding(std::string_view value);
  void connection(std::string_view value);

  const GateLimits& limits_;
  RequestHead head_;
  std::optional<Problem> problem_;
  std::size_t hosts_ = 0;
  std::size_t lengths_ = 0;
  std::size_t ids_ = 0;
  bool close_asked_ = false;
  bool keep_asked_ = false;
};

/// Notes the path in a request line that may be invalid or incomplete: the format of a rejection
/// depends on it.
void HeadParser::note_path(std::string_view line) {
  line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  const std::string_view path = line.substr(0, line.find_first_of(" ?"));
  const bool is_path = path.starts_with('/') && path.size() <= limits_.target_bytes_max;
  if (is_path && all_in(kTargetChars, path)) head_.target = path;
}

void HeadParser::request_line(std::string_view line) {
  note_path(line);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) {
    return fail("The request line needs a method, a target and a version.");
  }
  const std::string_view method = line.substr(0, first);
  if (!is_token(method)) return fail("The method is not a token.");
  const std::string_view version = line.substr(last + 1);
  constexpr std::string_view kMajor = "HTTP/1.";
  // A later minor version is served as HTTP/1.1 (RFC 9110 section 2.5).
  if (version.size() != kMajor.size() + 1 || !version.starts_with(kMajor) ||
      !is_in(kDigits, version.back())) {
    return fail("The HTTP version is not supported. Send HTTP/1.1 or HTTP/1.0.");
  }
  head_.http_1_0 = version.back() == '0';
  head_.method = method;
  target(line.substr(first + 1, last - first - 1));
}

/// The forms that RFC 9112 section 3.2 defines for a server that is no proxy.
void HeadParser::target(std::string_view text) {
  if (text.size() > limits_.target_bytes_max) return fail(target_too_long(limits_));
  if (!all_in(kTargetChars, text)) {
    return fail("The request target contains a fragment or a character that must be escaped.");
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    head_.authority = text.substr(0, end);
    if (end == 0 || !all_in(kHostChars, head_.authority)) {
      return fail("The URL in the request line has no valid host.");
    }
    text.remove_prefix(end);
    head_.target = text.starts_with('/') ? "" : "/";
    head_.target += text;
    return;
  }
  if (!text.starts_with('/') && !(text == "*" && head_.method == "OPTIONS")) {
    return fail("The request target must be a path that starts with `/`, or an http URL.");
  }
  head_.target = text;
}

void HeadParser::field(std::string_view line) {
  const auto parsed = parse_field_line(line);
  if (!parsed) return fail(parsed.error());
  const auto [name, value] = *parsed;
  const bool is_host = same_name(name, "host");
  head_.fields.emplace_back(name, is_host && !head_.authority.empty() ? head_.authority : value);
  if (is_host) {
    ++hosts_;
    if (!all_in(kHostChars, value)) fail("The Host header is not a valid host.");
  } else if (same_name(name, "content-length")) {
    content_length(value);
  } else if (same_name(name, "transfer-encoding")) {
    transfer_encoding(value);
  } else if (same_name(name, "connection")) {
    connection(value);
  } else if (same_name(name, "expect")) {
    head_.expect_continue = same_name(value, "100-continue");
  } else if (same_name(name, "x-request-id")) {
    if (++ids_ == 1 && is_acceptable_request_id(value)) head_.request_id = value;
  } else if (same_name(name, "content-encoding")) {
    if (!value.empty() && !same_name(value, "identity")) {
      fail(Problem(Slug::unsupported_media_type, "Send the body without Content-Encoding."));
    }
  }
}

void HeadParser::content_length(std::string_view value) {
  if (++lengths_ > 1) return fail("There is more than one Content-Length.");
  if (value.empty() || !all_in(kDigits, value)) return fail("Content-Length is not a number.");
  if (value.size() > kLengthDigitsMax) {
    head_.content_length = kLengthTooLarge;
  } else {
    std::from_chars(value.data(), value.data() + value.size(), head_.content_length);
  }
}

void HeadParser::transfer_encoding(std::string_view value) {
  // A second field would be a second coding.
  if (head_.chunked || !same_name(value, "chunked")) {
    return fail("Transfer-Encoding of a request must be `chunked`, sent once.");
  }
  head_.chunked = true;
}

void HeadParser::connection(std::string_view list) {
  while (!list.empty()) {
    const std::string_view option = next_part(list, ',');
    close_asked_ = close_asked_ || same_name(option, "close");
    keep_asked_ = keep_asked_ || same_name(option, "keep-alive");
  }
}

void HeadParser::check_as_a_whole() {
  if (hosts_ == 0 && !head_.authority.empty()) head_.fields.emplace_back("Host", head_.authority);
  if (head_.http_1_0 ? hosts_ > 1 : hosts_ != 1) fail("Send exactly one Host header.");
  if (head_.chunked && lengths_ > 0) {
    fail("Send either Content-Length or Transfer-Encoding, not both.");
  }
  if (head_.chunked && head_.http_1_0) fail("Transfer-Encoding is not valid in HTTP/1.0.");
  head_.keep_alive = !close_asked_ && (!head_.http_1_0 || keep_asked_);
  const bool has_body = head_.chunked || head_.content_length > 0;
  head_.expect_continue = head_.expect_continue && !head_.http_1_0 && has_body;
}

}  // namespace

bool is_token(std::string_view text) { return !text.empty() && all_in(kTokenChars, text); }

bool is_field_value(std::string_view text) { return all_in(kLineChars, text); }

bool is_acceptable_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && all_in(kRequestIdChars, text);
}

Result<FieldLine> parse_field_line(std::string_view line) {
  const auto malformed = [](const char* detail) {
    return unexpected(Slug::malformed_request, detail);
  };
  if (line.starts_with(' ') || line.starts_with('\t')) {
    return malformed("A header field is folded over several lines.");
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("A header line has no colon.");
  const std::string_view name = line.substr(0, colon);
  if (name.ends_with(' ') || name.ends_with('\t')) {
    return malformed("There is white space between a header name and its colon.");
  }
  if (!is_token(name)) return malformed("A header name is not a token.");
  return FieldLine{name, trimmed(line.substr(colon + 1), kSpace)};
}

Request request_of(RequestHead& head, std::string peer) {
  Request out;
  out.method = std::move(head.method);
  out.path = head.path();
  out.bad_query = !read_query(head.target, out.query);
  out.headers = std::move(head.fields);
  out.request_id = std::move(head.request_id);
  out.peer = std::move(peer);
  return out;
}

GateResult inspect_header(std::string_view buffered, const GateLimits& limits,
                          GateProgress& progress) {
  Scanner scanner(buffered, limits, progress);
  const std::size_t end = scanner.header_end();
  const bool incomplete = end == 0 && !scanner.problem();
  // A client of another protocol sends one line and then waits for a response.
  if (incomplete && (progress.line_passed || progress.lines == 0)) return Incomplete{};
  HeadParser parser(limits);
  // The lines after an error are only for the response to it.
  parser.parse(buffered.substr(0, end != 0            ? end
                                  : scanner.problem() ? limits.header_bytes_max
                                                      : progress.line_start));
  RequestHead& head = parser.head();
  if (scanner.problem()) return Rejection{*std::move(scanner.problem()), std::move(head)};
  progress.line_passed = true;
  if (incomplete && !parser.problem()) return Incomplete{};
  if (!incomplete) parser.check_as_a_whole();
  if (parser.problem()) return Rejection{*std::move(parser.problem()), std::move(head)};
  head.head_bytes = end;
  return std::move(head);
}

}  // namespace coffer::http
