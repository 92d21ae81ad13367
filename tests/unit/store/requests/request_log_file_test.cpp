// The file of the request log: paging, filters, retention, and a damaged file.
#include "store/requests/request_log_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace coffer;
using namespace coffer::store;

namespace request_log_file_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = 1024 * 1024;

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "coffer-requests-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string file() const { return path + "/coffer.requests.db"; }
  std::string path;
};

RequestRow row(int number, int status = 200) {
  RequestRow out;
  out.at = {1'000'000 + number};
  out.duration_us = 250;
  out.request_id = "request-" + std::to_string(number);
  out.method = "GET";
  out.path = number % 2 == 0 ? "/v1/wallets" : "/v1/payments/p2p/own";
  out.operation = number % 2 == 0 ? "listWallets" : "transferBetweenOwnWallets";
  out.status = status;
  return out;
}

std::vector<RequestRow> rows(int count) {
  std::vector<RequestRow> out;
  for (int i = 0; i < count; ++i) out.push_back(row(i));
  return out;
}

std::vector<std::string> ids(const RowPage<RequestRow>& page) {
  std::vector<std::string> out;
  for (const RequestRow& one : page.rows) out.push_back(one.request_id);
  return out;
}

}  // namespace

TEST_CASE("the request log is next to the database") {
  CHECK(request_log_path("/a/coffer.db") == "/a/coffer.requests.db");
  CHECK(request_log_path("/a/ledger") == "/a/ledger.requests.db");
}

TEST_CASE("the request log lists newest first in pages, and nothing without a file") {
  const Folder folder;
  CHECK(newest_requests(folder.file(), {}, {}).rows.empty());
  CHECK(last_request_key(folder.file()) == 0);
  RequestLogFile log(folder.file(), {kDayMs, 64 * kMiB});
  auto all = rows(5);
  log.append(all, {2'000'000});
  auto page = newest_requests(folder.file(), {}, {.limit = 2});
  CHECK(ids(page) == std::vector<std::string>{"request-4", "request-3"});
  REQUIRE(page.next.has_value());
  page = newest_requests(folder.file(), {}, {.key = page.next, .limit = 5});
  CHECK(ids(page) == std::vector<std::string>{"request-2", "request-1", "request-0"});
  CHECK_FALSE(page.next.has_value());
  std::int64_t after = 0;
  CHECK(requests_after(folder.file(), {}, after, 3).size() == 3);
  CHECK(requests_after(folder.file(), {}, after, 3).size() == 2);
  CHECK(after == last_request_key(folder.file()));
}

TEST_CASE("the request log filters by ID, payment, route, status and time") {
  const Folder folder;
  RequestLogFile log(folder.file(), {kDayMs, 64 * kMiB});
  auto all = rows(4);
  all[1].status = 422;
  const auto payment = PaymentId::parse("0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60");
  all[3].payment = payment;
  log.append(all, {2'000'000});
  const auto found = [&](RequestFilter filter) {
    return ids(newest_requests(folder.file(), filter, {}));
  };
  using Ids = std::vector<std::string>;
  CHECK(found({.text = "request-2"}) == Ids{"request-2"});
  CHECK(found({.text = "p2p"}) == Ids{"request-3", "request-1"});
  CHECK(found({.payment = payment}) == Ids{"request-3"});
  CHECK(found({.route = "listWallets"}) == Ids{"request-2", "request-0"});
  CHECK(found({.route = "/v1/payments"}) == Ids{"request-3", "request-1"});
  CHECK(found({.status_class = 4}) == Ids{"request-1"});
  CHECK(found({.from = Timestamp{1'000'002}}) == Ids{"request-3", "request-2"});
  CHECK(found({.to = Timestamp{1'000'001}}) == Ids{"request-0"});
}

TEST_CASE("a repeated request ID finds its newest request, or the one with the key") {
  const Folder folder;
  RequestLogFile log(folder.file(), {kDayMs, 64 * kMiB});
  auto all = rows(2);
  all[1].request_id = all[0].request_id;
  all[1].request_body = "{}";
  log.append(all, {2'000'000});
  const auto newest = find_request(folder.file(), "request-0", std::nullopt);
  REQUIRE(newest.has_value());
  CHECK(newest->request_body == "{}");
  const auto first = find_request(folder.file(), "request-0", all[0].key);
  REQUIRE(first.has_value());
  CHECK_FALSE(first->request_body.has_value());
  CHECK_FALSE(find_request(folder.file(), "request-9", std::nullopt).has_value());
  CHECK_FALSE(find_request(folder.file(), "request-9", all[0].key).has_value());
}

TEST_CASE("requests of the same millisecond keep their order and a clock set back loses none") {
  const Folder folder;
  RequestLogFile log(folder.file(), {kDayMs, 64 * kMiB});
  auto all = rows(3);
  all[1].at = all[0].at;
  all[2].at = {all[0].at.ms - 500};
  log.append(all, {2'000'000});
  CHECK(all[0].key < all[1].key);
  CHECK(all[1].key < all[2].key);
  CHECK(newest_requests(folder.file(), {}, {}).rows.size() == 3);
}

TEST_CASE("the request log yields the processor after each row only beside payments") {
  const Folder folder;
  RequestLogFile log(folder.file(), {kDayMs, 64 * kMiB});
  static int pauses = 0;
  auto beside_payments = rows(5);
  log.append(beside_payments, {2'000'000}, [] { ++pauses; });
  CHECK(pauses == 5);
  auto at_stop = std::vector<RequestRow>{row(3'000)};
  log.append(at_stop, {2'001'000});
  CHECK(pauses == 5);
  CHECK(newest_requests(folder.file(), {}, {}).rows.size() == 6);
}

TEST_CASE("the request log removes requests beyond its age") {
  const Folder folder;
  RequestLogFile log(folder.file(), {1'000, 64 * kMiB});
  auto old = rows(3);
  log.append(old, {1'000'000});
  auto fresh = std::vector<RequestRow>{row(5'000)};
  log.append(fresh, {1'005'000});
  CHECK(ids(newest_requests(folder.file(), {}, {})) == std::vector<std::string>{"request-5000"});
}

TEST_CASE("the request log stays within its size, and keeps the newest requests") {
  const Folder folder;
  RequestLogFile log(folder.file(), {kDayMs, kMiB});
  for (int batch = 0; batch < 40; ++batch) {
    std::vector<RequestRow> some;
    for (int i = 0; i < 100; ++i) {
      some.push_back(row(batch * 100 + i));
      some.back().response_body = std::string(4'000, 'x');
    }
    log.append(some, {1'100'000});
  }
  CHECK(log.used_bytes() < 2 * kMiB);
  CHECK(fs::file_size(folder.file()) < 6 * kMiB);
  const auto newest = newest_requests(folder.file(), {}, {.limit = 1});
  CHECK(ids(newest) == std::vector<std::string>{"request-3999"});
}

TEST_CASE("only the owner can access the request log, with any umask") {
  const Folder folder;
  const mode_t before = ::umask(0);
  RequestLogFile log(folder.file(), {kDayMs, kMiB});
  auto some = rows(1);
  log.append(some, {2'000'000});
  ::umask(before);
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    struct stat status {};
    REQUIRE(::stat(entry.path().c_str(), &status) == 0);
    CAPTURE(entry.path().string());
    CHECK((status.st_mode & 0777) == 0600);
  }
}

TEST_CASE("a damaged request log is renamed and a new one started") {
  const Folder folder;
  std::ofstream(folder.file()) << std::string(8'192, 'x');
  CHECK_THROWS_AS(newest_requests(folder.file(), {}, {}), DamagedRequestLog);
  RequestLogFile log(folder.file(), {kDayMs, kMiB});
  auto some = rows(2);
  log.append(some, {2'000'000});
  CHECK(newest_requests(folder.file(), {}, {}).rows.size() == 2);
  CHECK(fs::exists(folder.file() + ".damaged"));
}

TEST_CASE("a request log that cannot be opened throws, and is opened once it is accessible") {
  const Folder folder;
  fs::create_directory(folder.file());
  RequestLogFile log(folder.file(), {kDayMs, kMiB});
  auto some = rows(1);
  CHECK_THROWS_AS(log.append(some, {2'000'000}), SqlError);
  fs::remove(folder.file());
  log.append(some, {2'000'000});
  CHECK(newest_requests(folder.file(), {}, {}).rows.size() == 1);
}

}  // namespace request_log_file_test
