// The permitted targets of deliveries, with every notation and disguise of an address.
#include "outbound/wire/target_guard.h"

#include <catch2/catch.hpp>
#include <map>

using namespace coffer;
using namespace coffer::outbound;

namespace target_guard_test {
namespace {

/// Resolves names to the test's addresses, and numeric hosts like the real resolver.
class FakeResolver final : public Resolver {
 public:
  Result<std::vector<std::string>> resolve(const std::string& name, int) override {
    ++asked;
    const auto it = names.find(name);
    if (it != names.end()) return it->second;
    if (is_public_address(name) ||
        name.find_first_not_of("0123456789.:abcdef") == std::string::npos) {
      return std::vector<std::string>{name};
    }
    return unexpected(Slug::provider_unavailable, "no address");
  }
  std::map<std::string, std::vector<std::string>> names;
  int asked = 0;
};

struct World {
  explicit World(const std::vector<std::string>& allowed = {})
      : guard(resolver, AllowedTargets::parse(allowed).value()) {}
  bool takes(const std::string& url, Environment environment = Environment::sandbox) {
    const auto parsed = guard.check_url(url, environment);
    if (!parsed) {
      CHECK(parsed.error().slug == Slug::webhook_target_refused);
      return false;
    }
    const auto found = guard.addresses(*parsed, 100);
    if (!found) CHECK(found.error().slug == Slug::webhook_target_refused);
    return found.has_value();
  }

  FakeResolver resolver;
  TargetGuard guard;
};

}  // namespace

TEST_CASE("guard: addresses of the public internet, and those that are not") {
  for (const char* address :
       {"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255",
        "100.128.0.0", "192.167.255.255", "11.0.0.0", "223.255.255.255", "2606:4700::1111",
        "2a00:1450:4001:81b::200e", "2001:4860:4860::8888"}) {
    INFO(address);
    CHECK(is_public_address(address));
  }
  for (const char* address : {"0.0.0.0",
                              "0.1.2.3",
                              "10.0.0.1",
                              "100.64.0.1",
                              "100.127.255.255",
                              "127.0.0.1",
                              "127.255.255.254",
                              "169.254.0.1",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.0.0.1",
                              "192.0.2.1",
                              "192.88.99.1",
                              "192.168.0.1",
                              "198.18.0.1",
                              "198.19.255.255",
                              "198.51.100.1",
                              "203.0.113.1",
                              "224.0.0.1",
                              "239.255.255.255",
                              "240.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "::ffff:127.0.0.1",
                              "::ffff:8.8.8.8",
                              "::127.0.0.1",
                              "::8.8.8.8",
                              "64:ff9b::7f00:1",
                              "64:ff9b::808:808",
                              "64:ff9b:1::1",
                              "100::1",
                              "2001::1",
                              "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                              "2001:2::1",
                              "2001:10::1",
                              "2001:20::1",
                              "2001:db8::1",
                              "2002:7f00:1::",
                              "2002:808:808::1",
                              "3fff::1",
                              "5f00::1",
                              "fc00::1",
                              "fd00:ec2::254",
                              "fdff::1",
                              "fe80::1",
                              "fec0::1",
                              "ff02::1",
                              "4000::1"}) {
    INFO(address);
    CHECK_FALSE(is_public_address(address));
  }
  for (const char* text : {"", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1",
                           "1.1.1.1 ", "1.1.1.1/32", "::1%lo", "[::1]"}) {
    INFO(text);
    CHECK_FALSE(is_public_address(text));
  }
}

TEST_CASE("guard: URLs that are rejected by their text") {
  World world;
  world.resolver.names["hooks.example"] = {"93.184.216.34"};
  CHECK(world.takes("https://hooks.example/a?b=c"));
  CHECK(world.takes("https://HOOKS.example./"));
  CHECK(world.takes("https://93.184.216.34:443/"));
  CHECK(world.takes("https://[2606:4700::1111]/"));
  CHECK(world.takes("http://hooks.example/"));
  CHECK_FALSE(world.takes("http://hooks.example/", Environment::production));
  CHECK(world.takes("https://hooks.example/", Environment::production));
  for (const char* url : {"",
                          "hooks.example",
                          "ftp://hooks.example/",
                          "file:///etc/passwd",
                          "gopher://hooks.example/",
                          "https://",
                          "https:///path",
                          "https://user@hooks.example/",
                          "https://a:b@hooks.example/",
                          "https://hooks.example@10.0.0.1/",
                          "https://hooks.example\\@10.0.0.1/",
                          "https://hooks.example:0/",
                          "https://hooks.example:65536/",
                          "https://hooks.example:80:80/",
                          "https://127.0.0.1/",
                          "https://127.0.0.1./",
                          "https://127.1/",
                          "https://127.0.1/",
                          "https://2130706433/",
                          "https://0x7f000001/",
                          "https://0x7f.1/",
                          "https://0177.0.0.1/",
                          "https://017700000001/",
                          "https://127.0.0.1.0x1/",
                          "https://10.0.0.1/",
                          "https://169.254.169.254/latest/meta-data",
                          "https://[::1]/",
                          "https://[::]/",
                          "https://[::ffff:127.0.0.1]/",
                          "https://[::ffff:7f00:1]/",
                          "https://[::127.0.0.1]/",
                          "https://[64:ff9b::7f00:1]/",
                          "https://[2002:7f00:1::]/",
                          "https://[fe80::1]/",
                          "https://[fe80::1%25eth0]/",
                          "https://[fd00:ec2::254]/",
                          "https://localhost/",
                          "https://LOCALHOST/",
                          "https://localhost./",
                          "https://a.localhost/",
                          "https://.example/",
                          "https://a..b/",
                          "https://hooks.example../",
                          "https://hooks%2eexample/",
                          "https://\xe2\x93\x9bo.example/",
                          "https://hooks.example/\r\nX: y"}) {
    INFO(url);
    CHECK_FALSE(world.takes(url));
  }
  CHECK_FALSE(world.takes("https://hooks.example/" + std::string(2'048, 'x')));
}

TEST_CASE("guard: ports other than those of HTTPS and HTTP need the operator's permission") {
  World world({"10.1.2.0/24", "build.internal"});
  world.resolver.names["hooks.example"] = {"93.184.216.34"};
  world.resolver.names["build.internal"] = {"172.16.0.9"};
  world.resolver.names["inside.example"] = {"10.1.2.3"};
  for (const char* url :
       {"https://hooks.example/", "https://hooks.example:443/", "http://hooks.example:80/",
        "https://10.1.2.3:8443/", "https://build.internal:8443/", "https://inside.example:9443/"}) {
    INFO(url);
    CHECK(world.takes(url));
  }
  for (const char* url :
       {"https://hooks.example:8443/", "https://hooks.example:22/", "https://hooks.example:80/",
        "http://hooks.example:443/", "http://93.184.216.34:8080/", "https://[2606:4700::1]:25/"}) {
    INFO(url);
    CHECK_FALSE(world.takes(url));
  }
  const TargetGuard open(world.resolver, AllowedTargets::parse({}, {"8443"}).value());
  const auto takes = [&](const std::string& text) {
    const auto url = open.check_url(text, Environment::production);
    return url && open.addresses(*url, 100).has_value();
  };
  CHECK(takes("https://hooks.example:8443/"));
  CHECK_FALSE(takes("https://hooks.example:9443/"));
  CHECK_FALSE(takes("https://10.1.2.3:8443/"));
  for (const char* port : {"", "0", "65536", "http", "443 "}) {
    CHECK_FALSE(AllowedTargets::parse({}, {port}));
  }
}

TEST_CASE("guard: the text of a URL is judged without resolving its name") {
  World world;
  world.resolver.names["private.example"] = {"10.0.0.1"};
  world.resolver.names["public.example"] = {"93.184.216.34"};
  for (const char* host : {"private.example", "public.example", "missing.example"}) {
    INFO(host);
    const std::string url = "https://" + std::string(host);
    CHECK(world.guard.check_url(url + "/", Environment::production));
    CHECK_FALSE(world.guard.check_url(url + ":8443/", Environment::production));
  }
  CHECK(world.resolver.asked == 0);
  // A name may have one of the permitted addresses, at any port.
  const World open({"10.0.0.0/8"});
  CHECK(open.guard.check_url("https://missing.example:8443/", Environment::production));
}

TEST_CASE("guard: every address of a name is checked at every attempt") {
  World world;
  world.resolver.names["private.example"] = {"10.0.0.1"};
  world.resolver.names["mixed.example"] = {"93.184.216.34", "::ffff:10.0.0.1"};
  world.resolver.names["rebinding.example"] = {"93.184.216.34"};
  CHECK_FALSE(world.takes("https://private.example/"));
  CHECK_FALSE(world.takes("https://mixed.example/"));
  const Url url =
      world.guard.check_url("https://rebinding.example/", Environment::production).value();
  CHECK(world.guard.addresses(url, 100).value() == std::vector<std::string>{"93.184.216.34"});
  world.resolver.names["rebinding.example"] = {"127.0.0.1"};
  const auto rebound = world.guard.addresses(url, 100);
  REQUIRE_FALSE(rebound);
  CHECK(rebound.error().slug == Slug::webhook_target_refused);
}

TEST_CASE("guard: exactly the targets that the operator permits") {
  World world({"10.1.2.0/24", "127.0.0.0/8", "::1", "Build.Internal.", "fd00::/8", "0.0.0.0/0"});
  world.resolver.names["build.internal"] = {"172.16.0.9"};
  world.resolver.names["other.internal"] = {"fe80::9"};
  world.resolver.names["localhost"] = {"127.0.0.1", "::1"};
  CHECK(world.takes("http://10.1.2.3/"));
  CHECK(world.takes("http://127.9.9.9:3000/hooks"));
  CHECK(world.takes("http://localhost:3000/"));
  CHECK(world.takes("http://[::1]:3000/"));
  CHECK(world.takes("http://build.internal/"));
  CHECK(world.takes("http://[fd12::1]/"));
  CHECK_FALSE(world.takes("http://other.internal/"));
  // A range never permits a metadata service, nor IPv4 addresses embedded in IPv6.
  CHECK_FALSE(world.takes("http://169.254.169.254/"));
  CHECK_FALSE(world.takes("http://[fd00:ec2::254]/"));
  CHECK_FALSE(world.takes("http://[::ffff:10.1.2.3]/"));
  World exactly({"169.254.169.254", "fd00:ec2::254/128"});
  CHECK(exactly.takes("http://169.254.169.254/"));
  CHECK(exactly.takes("http://[fd00:ec2::254]/"));
  CHECK_FALSE(exactly.takes("http://169.254.169.253/"));
  CHECK_FALSE(exactly.takes("http://[::ffff:169.254.169.254]/"));
  World mapped({"::ffff:0:0/96"});
  CHECK_FALSE(mapped.takes("http://[::ffff:169.254.169.254]/"));
}

TEST_CASE("guard: loopback addresses are used as far as they are permitted") {
  World world({"127.0.0.1"});
  world.resolver.names["localhost"] = {"127.0.0.1", "::1"};
  const Url url = world.guard.check_url("http://localhost:3000/", Environment::sandbox).value();
  CHECK(world.guard.addresses(url, 100).value() == std::vector<std::string>{"127.0.0.1"});
}

TEST_CASE("guard: entries that are neither names nor ranges") {
  for (const char* entry : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "::/129", "a b", "10.0.0",
                            "http://a", "*.example", "127.0.0.0x1"}) {
    INFO(entry);
    const auto parsed = AllowedTargets::parse({entry});
    CHECK_FALSE(parsed);
  }
}

}  // namespace target_guard_test
