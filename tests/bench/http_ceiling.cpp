// The HTTP library alone: reads the same request, answers with the same bytes, does nothing between.
// Prints its port. Ends with its standard input.
#include <httplib.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

int main() {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1'000'000'000);
  const std::string body =
      R"({"transactionRecordId":"01a1fca7-9dff-73d1-a1bb-3f6135d45d0c","status":"accepted",)"
      R"("isIdempotent":false,"message":"Accepted for settlement"})";
  server.Post("/v1/payments/p2p/own", [&](const httplib::Request&, httplib::Response& response) {
    response.status = 202;
    response.set_header("X-Request-Id", "01a1fca7-9dff-72b1-8d9a-7a7fbb246b0d");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "no-store");
    response.set_content(body, "application/json");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::printf("%d\n", port);
  std::fflush(stdout);
  std::thread listener([&] { server.listen_after_bind(); });
  std::cin.get();
  server.stop();
  listener.join();
}
