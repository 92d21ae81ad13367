// Answers of strangers to what coffer sends: the first byte says how the rest is read (to HEAD or
// not, at once or in pieces, how it ends), and however it arrives it is the same answer.
#include "fuzz/property.h"
#include "http/response_parser.h"

namespace coffer::fuzz {
namespace {

using http::ClientResponse;
using http::ResponseParser;
using State = ResponseParser::State;

constexpr std::size_t kBodyMax = 256;

struct Outcome {
  State state;
  bool usable = false;
  ClientResponse response;
};

Outcome read(std::string_view bytes, bool head_request, bool in_order, std::size_t piece) {
  ResponseParser parser(head_request, kBodyMax);
  State state = State::header;
  for (std::size_t at = 0; at < bytes.size() && (state == State::header || state == State::body);
       at += piece) {
    state = parser.feed(bytes.substr(at, piece));
  }
  // Asked before the end: afterwards there is no connection.
  const bool usable = parser.leaves_connection_usable();
  if (state == State::header || state == State::body) state = parser.end(in_order);
  return {state, usable, parser.take()};
}

void check_outcome(const Outcome& outcome, bool head_request) {
  HOLDS(outcome.state == State::complete || outcome.state == State::broken);
  if (outcome.state == State::broken) return;
  HOLDS(outcome.response.status >= 100 && outcome.response.status <= 999);
  HOLDS(outcome.response.body.size() <= kBodyMax);
  HOLDS(!head_request || outcome.response.body.empty());
  HOLDS(!outcome.usable || !outcome.response.truncated);
  for (const auto& [name, value] : outcome.response.headers) {
    HOLDS(!name.empty());
    HOLDS((name + value).find_first_of("\r\n") == std::string::npos);
  }
}

void check(std::string_view input) {
  const unsigned char how = static_cast<unsigned char>(input.front());
  const std::string_view bytes = input.substr(1);
  const bool head_request = (how & 1) != 0;
  const bool in_order = (how & 2) != 0;
  const Outcome whole = read(bytes, head_request, in_order, std::max<std::size_t>(bytes.size(), 1));
  check_outcome(whole, head_request);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2} + (how >> 2) % 31}) {
    const Outcome other = read(bytes, head_request, in_order, piece);
    check_outcome(other, head_request);
    HOLDS(other.state == whole.state);
    if (other.state != State::complete) continue;
    HOLDS(other.response.status == whole.response.status);
    HOLDS(other.response.headers == whole.response.headers);
    HOLDS(other.response.body == whole.response.body);
    HOLDS(other.response.truncated == whole.response.truncated);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
