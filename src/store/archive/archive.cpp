#include "store/archive/archive.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/crypto/aead.h"
#include "base/digest.h"
#include "base/text/ascii.h"

namespace coffer::store {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::size_t kObjectBytesMax = std::size_t{64} << 20;
constexpr std::string_view kObjectHead = "coffer-archive-1";
// The names of all objects of a ledger; # is a digit.
constexpr std::array<std::string_view, 4> kForms{
    "log/#########/###", "snapshots/############-#############",
    "parts/############-#############/######", "heads/#############"};

/// Whether an archive gives this name. Other programs leave files of theirs, such as .DS_Store.
bool is_name(std::string_view name) {
  name.remove_prefix(name.find('/') + 1);  // the name of the ledger
  return std::ranges::any_of(kForms, [&](std::string_view form) {
    return std::ranges::equal(form, name, [](char wanted, char found) {
      return wanted == found || (wanted == '#' && ascii::is_digit(found));
    });
  });
}

/// What a piece is sealed for, besides its name: its place, and whether it is the last one.
std::string place_of(std::size_t piece, bool is_last) {
  return to_big_endian(piece, 4) + (is_last ? '1' : '0');
}

}  // namespace

Archive::Archive(std::unique_ptr<ObjectStore> objects, const Secret& log_root, const Secret& root,
                 Random& random)
    : objects_(std::move(objects)),
      keys_(log_root),
      seal_(root.reveal()),
      prefix_(keys_.ledger() + '/'),
      random_(random) {}

std::string Archive::sealed(const std::string& purpose, std::string_view content) const {
  const Sha256 key = seal_.of(purpose);
  std::string out(kObjectHead);
  std::size_t piece = 0;
  do {
    const std::string_view part = content.substr(0, kPieceBytes);
    content.remove_prefix(part.size());
    const std::string bytes = encrypted(as_text(key), random_.bytes(kAeadNonceBytes), part,
                                        place_of(piece++, content.empty()));
    out += to_big_endian(bytes.size(), 4) + bytes;
  } while (!content.empty());
  return out;
}

std::optional<std::string> Archive::opened(const std::string& purpose,
                                           std::string_view sealed) const {
  if (!sealed.starts_with(kObjectHead)) return {};
  sealed.remove_prefix(kObjectHead.size());
  const Sha256 key = seal_.of(purpose);
  std::string out;
  for (std::size_t piece = 0; piece == 0 || !sealed.empty(); ++piece) {
    if (sealed.size() < 4) return {};
    const std::size_t size = from_big_endian(sealed.substr(0, 4));
    sealed.remove_prefix(4);
    if (size > sealed.size()) return {};
    const auto part =
        decrypted(as_text(key), sealed.substr(0, size), place_of(piece, size == sealed.size()));
    if (!part) return {};
    out += *part;
    sealed.remove_prefix(size);
  }
  return out;
}

Result<PutResult> Archive::put(const std::string& name, std::string_view content) {
  const std::string bytes = sealed(name, content);
  COFFER_TRY(const PutResult result, objects_->put(prefix_ + name, bytes));
  if (result == PutResult::stored) bytes_put_ += static_cast<std::int64_t>(bytes.size());
  return result;
}

Result<std::string> Archive::get(const std::string& name) {
  const auto bytes = objects_->get(prefix_ + name, kObjectBytesMax);
  if (!bytes && bytes.error().slug == Slug::not_found) {
    return unexpected(not_intact(Slug::not_found,
                                 "The object " + prefix_ + name + " is missing in the archive."));
  }
  if (!bytes && bytes.error().slug != Slug::validation_failed) return bytes;
  auto content = bytes ? opened(name, *bytes) : std::nullopt;
  if (content) return *std::move(content);
  return unexpected(not_intact(Slug::validation_failed,
                               "The object " + prefix_ + name +
                                   " of the archive is damaged. It was changed, or sealed with "
                                   "another master key."));
}

Result<void> Archive::walk(const std::string& prefix, std::string after, const Take& take) {
  for (;;) {
    COFFER_TRY(const auto found, objects_->list(prefix, after));
    if (found.empty()) return {};
    for (const StoredObject& object : found) {
      if (!is_name(object.name)) continue;
      COFFER_TRY(const bool goes_on, take(object.name));
      if (!goes_on) return {};
    }
    after = found.back().name;
  }
}

Result<void> Archive::list(const std::string& prefix, const std::string& after, const Take& take) {
  return walk(prefix_ + prefix, after.empty() ? after : prefix_ + after,
              [&](const std::string& name) { return take(name.substr(prefix_.size())); });
}

Result<void> Archive::check_key() {
  bool is_there = false;
  const auto note = [&](const std::string&) { return Result<bool>(!(is_there = true)); };
  COFFER_TRY_VOID(walk(prefix_, {}, note));
  if (is_there) return {};
  COFFER_TRY_VOID(walk({}, {}, note));
  if (!is_there) return unexpected(Slug::not_found, "The archive is empty. Check its address.");
  return unexpected(
      Problem(Slug::validation_failed,
              "The archive has no objects of this master key, but some of another one. Use the "
              "master key of the archived ledger.")
          .exits_with(exit_code::kPermission));
}

}  // namespace coffer::store
