#include "http/gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/trimmed.h"
#include "http/field_line.h"
#include "http/router.h"

namespace coffer::http {
namespace {

// 20 digits do not fit into 64 bits; so long a length is over any cap anyway.
constexpr std::size_t kLengthDigitsMax = 18;
constexpr std::uint64_t kLengthTooLarge = ~std::uint64_t{0};
constexpr std::string_view kSpace = " \t";  // OWS of RFC 9110, section 5.6.3

// uri-host with port (RFC 3986, without user information); our own ids.
constexpr CharTable kHostChars = char_table("-._~!$&'()*+,;=:[]%");
constexpr CharTable kRequestIdChars = char_table("._-");

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Calls `use` for each trimmed element of a comma-separated list.
template <class Use>
void for_each_element(std::string_view list, Use use) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    use(trimmed(list.substr(0, comma), kSpace));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

Problem malformed(std::string detail) {
  return Problem(Slug::malformed_request, std::move(detail));
}

Problem fields_too_large(const GateLimits& limits) {
  return Problem(Slug::headers_too_large,
                 "The header is limited to " + std::to_string(limits.header_count_max) +
                     " fields and " + std::to_string(limits.header_bytes_max) + " bytes.");
}

/// Finds the end of the header and refuses bytes that no header may hold, as early as they arrive.
class Scanner {
 public:
  Scanner(std::string_view bytes, const GateLimits& limits, GateProgress& progress)
      : bytes_(bytes), limits_(limits), at_(progress) {}

  /// Length of the header with its empty line; 0 while incomplete.
  std::size_t header_end() {
    for (; at_.scanned < bytes_.size(); ++at_.scanned) {
      if (at_.scanned >= limits_.header_bytes_max) return fail(fields_too_large(limits_));
      const char c = bytes_[at_.scanned];
      if (after_carriage_return()) {
        if (c != '\n') return fail(malformed("A carriage return in the header stands alone."));
        if (end_line()) return at_.scanned + 1;
        if (problem_) return 0;
      } else if (!check_byte(c)) {
        return 0;
      }
    }
    return 0;
  }

  const std::optional<Problem>& problem() const { return problem_; }

 private:
  std::size_t fail(Problem problem) {
    problem_ = std::move(problem);
    return 0;
  }

  bool after_carriage_return() const {
    return at_.scanned > at_.line_start && bytes_[at_.scanned - 1] == '\r';
  }

  bool check_byte(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      fail(malformed("A line of the header ends with a bare line feed; send CRLF."));
    } else if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f) {
      fail(malformed("The header holds a control character."));
    } else if (at_.lines == 0 && at_.scanned - at_.line_start > limits_.target_bytes_max + 64) {
      // 64 leaves room for any method and the version; the target itself is measured later.
      fail(malformed("The request target is longer than " +
                     std::to_string(limits_.target_bytes_max) + " bytes."));
    }
    return !problem_;
  }

  /// True at the empty line that ends the header.
  bool end_line() {
    const bool is_empty = at_.scanned - at_.line_start == 1;
    at_.line_start = at_.scanned + 1;
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

  /// Also reads what can be read of an incomplete header, to answer with the caller's request id.
  void parse(std::string_view header) {
    while (header.substr(0, 2) == "\r\n") header.remove_prefix(2);
    bool first = true;
    while (!header.empty()) {
      const std::size_t end = header.find("\r\n");
      if (end == 0 || end == std::string_view::npos) break;
      first ? request_line(header.substr(0, end)) : field(header.substr(0, end));
      first = false;
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

  void request_line(std::string_view line);
  void target(std::string_view text);
  void query(std::string_view text);
  void field(std::string_view line);
  void well_known(std::string_view name, std::string_view value);
  void content_length(std::string_view value);
  void transfer_encoding(std::string_view value);
  void connection(std::string_view value);

  const GateLimits& limits_;
  RequestHead head_;
  std::optional<Problem> problem_;
  std::size_t hosts_ = 0;
  std::size_t lengths_ = 0;
  bool close_asked_ = false;
  bool keep_asked_ = false;
};

void HeadParser::request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) {
    return fail("The request line needs a method, a target and a version.");
  }
  const std::string_view method = line.substr(0, first);
  if (!is_token(method)) return fail("The method is not a token.");
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return fail("Send HTTP/1.1 or HTTP/1.0; no other version is spoken here.");
  }
  head_.http_1_0 = version == "HTTP/1.0";
  head_.request.method = method;
  target(line.substr(first + 1, last - first - 1));
}

void HeadParser::target(std::string_view text) {
  if (text.size() > limits_.target_bytes_max) {
    return fail(malformed("The request target is longer than " +
                          std::to_string(limits_.target_bytes_max) + " bytes."));
  }
  if (text.empty() || text.front() != '/') {
    return fail("The request target must be a path that starts with `/`.");
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f)
      return fail("The request target holds a character to escape.");
    if (c == '#') return fail("The request target holds a fragment.");
  }
  const std::size_t mark = text.find('?');
  head_.request.path = text.substr(0, mark);
  if (mark != std::string_view::npos) query(text.substr(mark + 1));
}

void HeadParser::query(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto& [name, value] = head_.request.query.emplace_back();
    const std::string_view raw_value = pair.substr(std::min(equals + 1, pair.size()));
    if (!percent_decode(pair.substr(0, equals), true, name) ||
        !percent_decode(raw_value, true, value)) {
      // The handler answers it: only the pipeline knows which shape the route's errors have.
      head_.request.bad_query = true;
    }
  }
}

void HeadParser::field(std::string_view line) {
  const auto parsed = parse_field_line(line);
  if (!parsed) return fail(parsed.error());
  head_.request.headers.emplace_back(parsed->name, parsed->value);
  well_known(parsed->name, parsed->value);
}

void HeadParser::well_known(std::string_view name, std::string_view value) {
  if (same_name(name, "host")) {
    ++hosts_;
    if (value.empty() || !all_of(value, kHostChars)) fail("The Host header is not a host.");
  } else if (same_name(name, "content-length")) {
    content_length(value);
  } else if (same_name(name, "transfer-encoding")) {
    transfer_encoding(value);
  } else if (same_name(name, "connection")) {
    connection(value);
  } else if (same_name(name, "expect")) {
    head_.expect_continue = same_name(value, "100-continue");
  } else if (same_name(name, "content-encoding")) {
    if (!value.empty() && !same_name(value, "identity")) {
      fail(Problem(Slug::unsupported_media_type, "Send the body without Content-Encoding."));
    }
  }
}

void HeadParser::content_length(std::string_view value) {
  if (++lengths_ > 1) return fail("There is more than one Content-Length.");
  if (!is_digits(value)) return fail("Content-Length is not a number.");
  if (value.size() > kLengthDigitsMax) {
    head_.content_length = kLengthTooLarge;
    return;
  }
  for (const char c : value) {
    head_.content_length = head_.content_length * 10 + static_cast<std::uint64_t>(c - '0');
  }
}

void HeadParser::transfer_encoding(std::string_view value) {
  // A second field would be a second coding. Other spellings are where readers disagree.
  if (head_.chunked || value != "chunked") {
    return fail("The only Transfer-Encoding for a request is `chunked`, sent once.");
  }
  head_.chunked = true;
}

void HeadParser::connection(std::string_view value) {
  for_each_element(value, [this](std::string_view option) {
    close_asked_ = close_asked_ || same_name(option, "close");
    keep_asked_ = keep_asked_ || same_name(option, "keep-alive");
  });
}

void HeadParser::check_as_a_whole() {
  if (head_.http_1_0 ? hosts_ > 1 : hosts_ != 1) fail("Send exactly one Host header.");
  if (head_.chunked && lengths_ > 0) {
    fail("Send either Content-Length or Transfer-Encoding, not both.");
  }
  if (head_.chunked && head_.http_1_0) fail("HTTP/1.0 has no Transfer-Encoding.");
  head_.keep_alive = !close_asked_ && (!head_.http_1_0 || keep_asked_);
  const bool has_body = head_.chunked || head_.content_length > 0;
  head_.expect_continue = head_.expect_continue && !head_.http_1_0 && has_body;
}

}  // namespace

bool is_acceptable_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && all_of(text, kRequestIdChars);
}

Refusal make_refusal(Problem problem, const Request& request) {
  Refusal refusal{std::move(problem), request.path, {}};
  if (const std::string* id = request.header("x-request-id")) {
    if (is_acceptable_request_id(*id)) refusal.request_id = *id;
  }
  return refusal;
}

GateResult inspect_header(std::string_view buffered, const GateLimits& limits,
                          GateProgress& progress) {
  Scanner scanner(buffered, limits, progress);
  const std::size_t end = scanner.header_end();
  const bool incomplete = end == 0 && !scanner.problem();
  // Who speaks another protocol waits for an answer after one line.
  if (incomplete && (progress.line_passed || progress.lines == 0)) return Incomplete{};
  HeadParser parser(limits);
  parser.parse(buffered.substr(0, end != 0 ? end : progress.line_start));
  RequestHead& head = parser.head();
  if (scanner.problem()) return make_refusal(*scanner.problem(), head.request);
  progress.line_passed = true;
  if (incomplete && !parser.problem()) return Incomplete{};
  if (!incomplete) parser.check_as_a_whole();
  if (parser.problem()) return make_refusal(*std::move(parser.problem()), head.request);
  head.head_bytes = end;
  return std::move(head);
}

}  // namespace coffer::http
