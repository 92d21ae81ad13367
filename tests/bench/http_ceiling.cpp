// The HTTP library alone: reads the same requests, for a payment or a wallet, and returns the same
// bytes, without any other work. Prints its port. Exits when its standard input closes.
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
  const std::string balance =
      R"({"assetCode":"USDC","issuer":"GAAIHYZQXMFLWDQFTX554U7G5XYSEJKD4CO224T2S2IRGNSTMDM52MRG",)"
      R"("decimals":7,"balance":"1000000.00","available":"1000000.00","held":"0.00"})";
  const std::string wallet =
      R"({"id":"01a1fca7-9dff-73d1-a1bb-3f6135d45d0c","walletName":"Treasury",)"
      R"("accountNumber":"3917763506214580",)"
      R"("publicKey":"GCVANNHLUNCLD3UHRHEFSQAC2OLCLDKC5X5RCFRPZRQIJMYRGZTQ3REJ",)"
      R"("networkName":"COFFER","assetCode":"USDC","ownAccount":true,"status":"Verified","balances":[)" +
      balance + "," + balance + "," + balance + "," + balance +
      R"(],"createdAt":"2026-01-31T12:00:00.000Z","updatedAt":"2026-01-31T12:00:00.000Z"})";
  const auto reply = [](int status, const std::string& text) {
    return [status, text](const httplib::Request&, httplib::Response& response) {
      response.status = status;
      response.set_header("X-Request-Id", "01a1fca7-9dff-72b1-8d9a-7a7fbb246b0d");
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_header("Cache-Control", "no-store");
      response.set_content(text, "application/json");
    };
  };
  server.Post("/v1/payments/p2p/own", reply(202, body));
  server.Get(R"(/v1/wallets/([^/]+))", reply(200, wallet));
  const int port = server.bind_to_any_port("127.0.0.1");
  std::printf("%d\n", port);
  std::fflush(stdout);
  std::thread listener([&] { server.listen_after_bind(); });
  std::cin.get();
  server.stop();
  listener.join();
}
