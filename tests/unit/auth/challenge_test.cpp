// The server's side of SEP-10: issued challenges, and accepted responses.
#include "auth/challenge.h"

#include <catch2/catch.hpp>
#include <functional>

#include "support/challenge_signer.h"

using namespace coffer;
using namespace coffer::auth;
using namespace coffer::test;

namespace {

const std::string kPassphrase = "Test Ledger ; 2026";
const ChallengeDomains kDomains{"example.com", "auth.example.com"};

struct World {
  SeededRandom random{7};
  ManualClock clock;
  KeyPair server_keys = generate_key_pair(random);
  KeyPair client_keys = generate_key_pair(random);
  ChallengeServer server{key_of(server_keys.seed_text.reveal()), kPassphrase};

  std::string issue() {
    return server.issue(client_keys.public_key, kDomains, random, clock.now());
  }
  std::string sign(const std::string& challenge) const {
    return sign_challenge(challenge, kPassphrase, client_keys.seed_text.reveal());
  }
  Result<SignedChallenge> verify(const std::string& transaction) const {
    return server.verify(transaction, kDomains, clock.now());
  }
  void rejects(const std::string& transaction, const std::string& why) const {
    const auto result = verify(transaction);
    REQUIRE_FALSE(result);
    CHECK(result.error().slug == Slug::invalid_challenge);
    CHECK_THAT(result.error().detail, Catch::Matchers::Contains(why));
  }
  /// A challenge that is changed before both sides sign it, as if the server had issued it.
  std::string forged(const std::function<void(Transaction&)>& change) {
    Transaction transaction = envelope_of(issue()).transaction;
    change(transaction);
    const std::string xdr = write_transaction(transaction);
    return to_base64(write_envelope(
        xdr, {decorated_signature(key_of(server_keys.seed_text.reveal()), xdr, kPassphrase),
              decorated_signature(key_of(client_keys.seed_text.reveal()), xdr, kPassphrase)}));
  }
};

}  // namespace

TEST_CASE("a challenge has the content that SEP-10 requires", "[challenge]") {
  World world;
  const Envelope envelope = envelope_of(world.issue());
  const Transaction& transaction = envelope.transaction;
  const auto now_s = static_cast<std::uint64_t>(world.clock.now().ms / 1000);
  CHECK(transaction.source == world.server_keys.public_key);
  CHECK(transaction.sequence == 0);
  CHECK(transaction.min_time_s == now_s);
  CHECK(transaction.max_time_s == now_s + 900);
  REQUIRE(transaction.operations.size() == 2);
  CHECK(transaction.operations[0].source == world.client_keys.public_key);
  CHECK(transaction.operations[0].name == "example.com auth");
  CHECK(transaction.operations[0].value.size() == 64);
  CHECK(from_base64(transaction.operations[0].value)->size() == 48);
  CHECK(transaction.operations[1] ==
        ManageData{world.server_keys.public_key, "web_auth_domain", "auth.example.com"});
  REQUIRE(envelope.signatures.size() == 1);
  CHECK(verify(world.server_keys.public_key,
               signature_payload(envelope.transaction_xdr, kPassphrase),
               envelope.signatures[0].signature));
  CHECK(world.issue() != world.issue());
}

TEST_CASE("a challenge signed by its client is accepted", "[challenge]") {
  World world;
  const std::string challenge = world.issue();
  const auto result = world.verify(world.sign(challenge));
  REQUIRE(result);
  CHECK(result->client == world.client_keys.public_key);
  CHECK(result->expires_at.ms == world.clock.now().ms + 901'000);
  CHECK(as_text(result->hash) ==
        signature_payload(envelope_of(challenge).transaction_xdr, kPassphrase));
}

TEST_CASE("the order of the signatures does not matter", "[challenge]") {
  World world;
  Envelope envelope = envelope_of(world.sign(world.issue()));
  std::swap(envelope.signatures[0], envelope.signatures[1]);
  CHECK(world.verify(to_base64(write_envelope(envelope.transaction_xdr, envelope.signatures))));
}

TEST_CASE("a challenge is valid only within its time bounds", "[challenge]") {
  World world;
  const std::string signed_one = world.sign(world.issue());
  world.clock.advance_ms(-1'000);
  world.rejects(signed_one, "not valid yet");
  world.clock.advance_ms(1'000 + 900'999);
  CHECK(world.verify(signed_one));
  world.clock.advance_ms(1);
  world.rejects(signed_one, "expired");
}

TEST_CASE("challenge signatures: exactly one from the server and one from the client",
          "[challenge]") {
  World world;
  const std::string challenge = world.issue();
  const std::string client_seed = world.client_keys.seed_text.reveal();
  const std::string stranger_seed = generate_key_pair(world.random).seed_text.reveal();
  world.rejects(challenge, "signature of the client is missing");
  world.rejects(sign_challenge(challenge, kPassphrase, stranger_seed),
                "not from the server or the client");
  world.rejects(sign_challenge(world.sign(challenge), kPassphrase, stranger_seed),
                "not from the server or the client");
  world.rejects(world.sign(world.sign(challenge)), "repeated");
  world.rejects(sign_challenge(challenge, "Another Ledger", client_seed),
                "not from the server or the client");

  Envelope envelope = envelope_of(world.sign(challenge));
  const auto with = [&](std::vector<DecoratedSignature> signatures) {
    return to_base64(write_envelope(envelope.transaction_xdr, signatures));
  };
  const DecoratedSignature server = envelope.signatures[0], client = envelope.signatures[1];
  world.rejects(with({}), "signature of this server is missing");
  world.rejects(with({client}), "signature of this server is missing");
  world.rejects(with({server, server, client}), "repeated");
  DecoratedSignature other_hint = client;
  other_hint.hint[0] ^= 1;
  world.rejects(with({server, other_hint}), "not from the server or the client");
  DecoratedSignature broken = server;
  broken.signature[5] = static_cast<char>(broken.signature[5] ^ 1);
  world.rejects(with({broken, client}), "not from the server or the client");
  broken.signature = server.signature.substr(0, 63);
  world.rejects(with({broken, client}), "not from the server or the client");
}

TEST_CASE("every rule of the content applies, even to challenges signed by the server",
          "[challenge]") {
  World world;
  CHECK(world.verify(world.forged([](Transaction&) {})));
  const PublicKey other = generate_key_pair(world.random).public_key;
  struct Row {
    const char* why;
    std::function<void(Transaction&)> change;
  };
  const Row rows[] = {
      {"source of the transaction", [&](Transaction& t) { t.source = other; }},
      {"sequence number", [](Transaction& t) { t.sequence = 1; }},
      {"time bounds of the challenge have no end", [](Transaction& t) { t.max_time_s = 0; }},
      {"time bounds of the challenge have no end",
       [](Transaction& t) { t.max_time_s = UINT64_MAX; }},
      {"no operation", [](Transaction& t) { t.operations.clear(); }},
      {"different home domain", [](Transaction& t) { t.operations[0].name = "example.org auth"; }},
      {"different home domain", [](Transaction& t) { t.operations[0].name = "example.com"; }},
      {"nonce", [](Transaction& t) { t.operations[0].value = std::string(64, '*'); }},
      {"nonce", [](Transaction& t) { t.operations[0].value = to_base64(std::string(47, 'n')); }},
      {"source of the first operation is the server",
       [](Transaction& t) { t.operations[0].source = t.source; }},
      {"source of an operation after the first",
       [&](Transaction& t) { t.operations[1].source = other; }},
      {"source of an operation after the first",
       [&](Transaction& t) {
         t.operations.push_back({other, "client_domain", "x"});
       }},
      {"different web_auth_domain", [](Transaction& t) { t.operations[1].value = "example.org"; }},
      {"web_auth_domain is missing", [](Transaction& t) { t.operations.pop_back(); }},
  };
  for (const Row& row : rows) {
    INFO(row.why);
    world.rejects(world.forged(row.change), row.why);
  }
  CHECK(world.verify(world.forged([](Transaction& t) {
    t.operations.push_back({t.source, "more of the server's own", "x"});
  })));
}

TEST_CASE("texts that are not challenges", "[challenge]") {
  World world;
  const std::string good = world.sign(world.issue());
  for (const std::string& bad : {std::string(), std::string("AAAA"), std::string("not base64!"),
                                 good.substr(0, good.size() - 4), good + "AAAA"}) {
    world.rejects(bad, "not the base64 XDR");
  }
  world.rejects(std::string(kChallengeBytesMax + 4, 'A'), "50 KB");
}

TEST_CASE("another server's challenge is rejected", "[challenge]") {
  World world;
  const ChallengeServer other(key_of(generate_key_pair(world.random).seed_text.reveal()),
                              kPassphrase);
  world.rejects(world.sign(other.issue(world.client_keys.public_key, kDomains, world.random,
                                       world.clock.now())),
                "source of the transaction");
}
