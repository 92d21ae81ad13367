#include "support/wire.h"

#include <cstdlib>

#include "http/message.h"
#include "unit/http/raw_client.h"

namespace coffer::test {
namespace {

std::string without_chunks(std::string_view body) {
  std::string out;
  while (!body.empty()) {
    const std::size_t size = std::strtoul(std::string(body.substr(0, 16)).c_str(), nullptr, 16);
    const std::size_t line = body.find("\r\n");
    if (size == 0 || line == std::string_view::npos) break;
    out += body.substr(line + 2, size);
    body.remove_prefix(std::min(body.size(), line + 2 + size + 2));
  }
  return out;
}

Reply parsed(const std::string& bytes) {
  Reply reply;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.1 ") || end == std::string::npos) return reply;
  reply.status = std::atoi(bytes.c_str() + 9);
  std::size_t at = bytes.find("\r\n");
  while (at < end) {
    const std::size_t next = bytes.find("\r\n", at + 2);
    const std::string line = bytes.substr(at + 2, next - at - 2);
    const std::size_t colon = line.find(": ");
    reply.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    at = next;
  }
  reply.body = bytes.substr(end + 4);
  if (reply.header("Transfer-Encoding") == "chunked") reply.body = without_chunks(reply.body);
  return reply;
}

}  // namespace

Reply send_raw(int port, std::string_view bytes) {
  http::test::RawClient client(port);
  client.send(bytes);
  return parsed(client.read_all());
}

Reply send_over_wire(int port, const HttpCall& call) {
  std::string head = call.method + " " + call.target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  for (const auto& [name, value] : call.headers) head += name + ": " + value + "\r\n";
  if (!call.body.empty() || call.method == "POST" || call.method == "PUT") {
    head += "Content-Length: " + std::to_string(call.body.size()) + "\r\n";
  }
  return send_raw(port, head + "Connection: close\r\n\r\n" + call.body);
}

}  // namespace coffer::test
