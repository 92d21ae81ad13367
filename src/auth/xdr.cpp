#include "auth/xdr.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

// Discriminants of Stellar-transaction.x and Stellar-types.x.
constexpr std::uint32_t kKeyTypeEd25519 = 0;
constexpr std::uint32_t kPrecondTime = 1;
constexpr std::uint32_t kMemoNone = 0;
constexpr std::uint32_t kOperationManageData = 10;

constexpr std::size_t kOperationsMax = 100;
constexpr std::size_t kSignaturesMax = 20;
constexpr std::size_t kDataBytesMax = 64;
constexpr std::size_t kSignatureBytesMax = 64;

std::size_t padding(std::size_t size) { return (4 - size % 4) % 4; }

class Writer {
 public:
  void integer(std::uint32_t value) { out_ += to_big_endian(value, 4); }
  void hyper(std::uint64_t value) { out_ += to_big_endian(value, 8); }
  void fixed(std::string_view bytes) { out_.append(bytes).append(padding(bytes.size()), '\0'); }
  void variable(std::string_view bytes) {
    integer(static_cast<std::uint32_t>(bytes.size()));
    fixed(bytes);
  }
  void account(const PublicKey& key) {
    integer(kKeyTypeEd25519);
    fixed(as_text(key.bytes));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// After the first invalid value, nothing more is read and `ok` stays false.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }
  void reject() { ok_ = false; }

  std::uint32_t integer() { return static_cast<std::uint32_t>(from_big_endian(take(4))); }
  std::uint64_t hyper() {
    const std::uint64_t high = integer();
    return high << 32 | integer();
  }
  void expect(std::uint32_t wanted) {
    if (integer() != wanted) reject();
  }
  std::string_view fixed(std::size_t size) {
    const std::string_view bytes = take(size);
    const std::string_view zeros = take(padding(size));
    if (zeros.find_first_not_of('\0') != std::string_view::npos) reject();
    return bytes;
  }
  std::string_view variable(std::size_t max) { return fixed(count(max)); }
  /// The length of an array, string or opaque.
  std::size_t count(std::size_t max) {
    const std::size_t size = integer();
    if (size > max) reject();
    return ok_ ? size : 0;
  }
  PublicKey account() {
    expect(kKeyTypeEd25519);
    PublicKey key;
    const std::string_view bytes = fixed(key.bytes.size());
    if (ok_) std::ranges::copy(bytes, key.bytes.begin());
    return key;
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) reject();
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

ManageData read_operation(Reader& reader) {
  ManageData operation;
  reader.expect(1);  // no separate source account
  operation.source = reader.account();
  reader.expect(kOperationManageData);
  operation.name = reader.variable(kDataBytesMax);
  reader.expect(1);  // a value
  operation.value = reader.variable(kDataBytesMax);
  return operation;
}

Transaction read_transaction(Reader& reader) {
  Transaction out;
  out.source = reader.account();
  out.fee = reader.integer();
  out.sequence = static_cast<std::int64_t>(reader.hyper());
  reader.expect(kPrecondTime);
  out.min_time_s = reader.hyper();
  out.max_time_s = reader.hyper();
  reader.expect(kMemoNone);
  const std::size_t operations = reader.count(kOperationsMax);
  for (std::size_t i = 0; i < operations && reader.ok(); ++i) {
    out.operations.push_back(read_operation(reader));
  }
  reader.expect(0);  // ext
  return out;
}

}  // namespace

std::array<std::uint8_t, 4> hint_of(const PublicKey& key) {
  std::array<std::uint8_t, 4> hint{};
  std::copy(key.bytes.end() - 4, key.bytes.end(), hint.begin());
  return hint;
}

std::string write_transaction(const Transaction& transaction) {
  COFFER_CHECK(transaction.operations.size() <= kOperationsMax);
  Writer out;
  out.account(transaction.source);
  out.integer(transaction.fee);
  out.hyper(static_cast<std::uint64_t>(transaction.sequence));
  out.integer(kPrecondTime);
  out.hyper(transaction.min_time_s);
  out.hyper(transaction.max_time_s);
  out.integer(kMemoNone);
  out.integer(static_cast<std::uint32_t>(transaction.operations.size()));
  for (const ManageData& operation : transaction.operations) {
    COFFER_CHECK(operation.name.size() <= kDataBytesMax && operation.value.size() <= kDataBytesMax);
    out.integer(1);
    out.account(operation.source);
    out.integer(kOperationManageData);
    out.variable(operation.name);
    out.integer(1);
    out.variable(operation.value);
  }
  out.integer(0);
  return out.take();
}

std::string write_envelope(std::string_view transaction_xdr,
                           const std::vector<DecoratedSignature>& signatures) {
  COFFER_CHECK(signatures.size() <= kSignaturesMax && transaction_xdr.size() % 4 == 0);
  Writer out;
  out.integer(kEnvelopeTypeTx);
  out.fixed(transaction_xdr);
  out.integer(static_cast<std::uint32_t>(signatures.size()));
  for (const DecoratedSignature& signature : signatures) {
    COFFER_CHECK(signature.signature.size() <= kSignatureBytesMax);
    out.fixed(as_text(signature.hint));
    out.variable(signature.signature);
  }
  return out.take();
}

std::optional<Envelope> read_envelope(std::string_view xdr) {
  Reader reader(xdr);
  Envelope out;
  reader.expect(kEnvelopeTypeTx);
  const std::string_view from = reader.rest();
  out.transaction = read_transaction(reader);
  out.transaction_xdr = from.substr(0, from.size() - reader.rest().size());
  const std::size_t signatures = reader.count(kSignaturesMax);
  for (std::size_t i = 0; i < signatures && reader.ok(); ++i) {
    DecoratedSignature signature;
    const std::string_view hint = reader.fixed(signature.hint.size());
    if (!reader.ok()) break;
    std::ranges::copy(hint, signature.hint.begin());
    signature.signature = reader.variable(kSignatureBytesMax);
    out.signatures.push_back(std::move(signature));
  }
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return out;
}

}  // namespace coffer::auth
