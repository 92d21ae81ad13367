// A request over a socket pair, through the gate and the adapter, without a server.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "http/gate.h"
#include "http/wire/adapter.h"

namespace coffer::test {

struct Served {
  bool ok = false;     // false: the connection must be closed
  std::string answer;  // the response's bytes
  std::string left;    // of the input
};

/// The request at the beginning of `bytes`, whose head the gate has read, as `handler` sees it, and
/// the response. Both must fit into the buffers of a socket.
inline Served serve(std::string_view bytes, http::RequestHead head, const http::Handler& handler) {
  std::array<int, 2> ends{};
  Served out;
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return out;
  static_cast<void>(::send(ends[1], bytes.data(), bytes.size(), MSG_DONTWAIT));
  http::Connection connection;
  connection.open(ends[0], "192.0.2.1", 0, 0);
  connection.claim_parked();
  while (connection.channel.input().size() < bytes.size()) {
    if (connection.channel.receive(16 * 1024) != http::IoState::done) break;
  }
  connection.channel.consume(head.head_bytes);
  if (head.chunked) {
    http::ChunkFramer framer(bytes.size());
    connection.channel.join_chunks(framer);
    head.content_length = framer.body_bytes();
  }
  const http::ServerLimits limits;
  const std::atomic<bool> abort{false};
  http::Adapter adapter(limits, abort, handler,
                        [&](http::Connection&, std::string_view id, const http::Response&) {
                          return http::ResponseFrame{id, true, head.http_1_0, 0, 0};
                        });
  http::Request request = http::request_of(head, connection.peer());
  request.body = connection.channel.take_input(head.content_length);
  out.ok = adapter.serve(connection, request);
  connection.channel.flush();
  std::array<char, 4096> piece;
  for (ssize_t got = 1; got > 0;) {
    got = ::recv(ends[1], piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) out.answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  out.left = connection.channel.input();
  connection.close();
  ::close(ends[1]);
  return out;
}

}  // namespace coffer::test
