#include "store/archive/snapshots.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/fault.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/numbers.h"
#include "base/text/whole_number.h"
#include "store/archive/segments.h"

namespace coffer::store {
namespace {

constexpr std::string_view kSnapshots = "snapshots/";
constexpr std::string_view kParts = "parts/";
constexpr std::string_view kHeads = "heads/";
constexpr std::size_t kPartBytes = std::size_t{16} << 20;
constexpr int kSnapshotLevel = 1;
constexpr std::size_t kMsDigits = 13;

std::string part_name(const SnapshotName& name, std::int64_t part) {
  return std::string(kParts) + name.text() + '/' + zero_padded(part, 6);
}

/// The opposite of SnapshotName::text(), for a name of that form.
SnapshotName name_from(std::string_view text) {
  const auto dash = text.find('-');
  return {whole_number<std::int64_t>(text.substr(0, dash)).value_or(0),
          {whole_number<std::int64_t>(text.substr(dash + 1)).value_or(0)}};
}

/// Compresses what it gets, and stores it in parts.
class PartWriter {
 public:
  PartWriter(Archive& archive, const SnapshotName& name)
      : archive_(archive), name_(name), zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    COFFER_CHECK(zstd_ != nullptr);
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, kSnapshotLevel);
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 1);
  }

  Result<void> add(std::string_view bytes, bool is_end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool more = true; more;) {
      const std::size_t before = held_.size();
      held_.resize(before + ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{held_.data() + before, held_.size() - before, 0};
      const std::size_t left =
          ZSTD_compressStream2(zstd_.get(), &out, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
      COFFER_CHECK(ZSTD_isError(left) == 0);
      held_.resize(before + out.pos);
      more = in.pos < in.size || (is_end && left > 0);
      if (held_.size() >= kPartBytes) COFFER_TRY_VOID(put());
    }
    return is_end && !held_.empty() ? put() : Result<void>();
  }
  std::int64_t parts() const { return parts_; }

 private:
  Result<void> put() {
    COFFER_TRY(const PutResult result, archive_.put(part_name(name_, parts_), held_));
    COFFER_FAULT("archive.part");
    if (result == PutResult::exists) {
      return unexpected(Slug::conflict, "Another server makes the same snapshot of the archive.");
    }
    ++parts_;
    held_.clear();
    return {};
  }

  Archive& archive_;
  const SnapshotName& name_;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd_;
  std::string held_;
  std::int64_t parts_ = 0;
};

/// Removes the objects that begin with `prefix` while `old` says so, the oldest first.
Result<std::int64_t> drop_while(Archive& archive, std::string_view prefix,
                                const std::function<bool(const std::string& name)>& old,
                                const std::function<void()>& rest) {
  std::vector<std::string> names;
  COFFER_TRY_VOID(archive.list(std::string(prefix), {}, [&](const std::string& name) {
    const bool goes_on = old(name);
    if (goes_on) names.push_back(name);
    return Result<bool>(goes_on);
  }));
  for (const std::string& name : names) {
    COFFER_TRY_VOID(archive.remove(name));
    rest();
  }
  return static_cast<std::int64_t>(names.size());
}

}  // namespace

std::string SnapshotName::text() const {
  return zero_padded(segment, 12) + '-' + zero_padded(at.ms, kMsDigits);
}

Result<std::vector<SnapshotName>> list_snapshots(Archive& archive) {
  std::vector<SnapshotName> out;
  COFFER_TRY_VOID(archive.list(std::string(kSnapshots), {}, [&](const std::string& name) {
    out.push_back(name_from(std::string_view(name).substr(kSnapshots.size())));
    return Result<bool>(true);
  }));
  return out;
}

Result<Snapshot> put_snapshot(Archive& archive, const SnapshotName& name, Timestamp complete_to,
                              const std::string& path, const ProgressFunction& progress) {
  const auto position = read_closed_position(path);
  if (!position) {
    return unexpected(Slug::conflict, "The copy has no position in the log of the archive.");
  }
  Snapshot out{name, *position, 0, static_cast<std::int64_t>(file_bytes(path)), complete_to};
  PartWriter parts(archive, name);
  std::int64_t done = 0;
  COFFER_TRY(const ReadableFile file, ReadableFile::open(path));
  COFFER_TRY_VOID(file.read([&](std::string_view piece) -> Result<void> {
    COFFER_TRY_VOID(parts.add(piece, false));
    progress({"archiving", done += static_cast<std::int64_t>(piece.size()), out.bytes,
              Progress::Unit::bytes});
    return {};
  }));
  COFFER_TRY_VOID(parts.add({}, true));
  out.parts = parts.parts();
  const std::string manifest = to_bytes(position->at) + std::string(as_text(position->before)) +
                               eight_bytes(out.parts) + eight_bytes(out.bytes) +
                               eight_bytes(complete_to.ms);
  COFFER_FAULT("archive.manifest");
  COFFER_TRY_VOID(archive.put(std::string(kSnapshots) + name.text(), manifest));
  return out;
}

Result<Snapshot> get_snapshot(Archive& archive, const SnapshotName& name) {
  constexpr std::size_t kManifestBytes = 16 + 32 + 8 + 8 + 8;
  COFFER_TRY(const std::string text, archive.get(std::string(kSnapshots) + name.text()));
  if (text.size() != kManifestBytes) {
    return unexpected(
        not_intact(Slug::validation_failed,
                   "The snapshot " + name.text() + " of the archive is from another version."));
  }
  const std::string_view all(text);
  return Snapshot{name,
                  {position_from(all), *sha256_from(all.substr(16, 32))},
                  number_at(all, 48),
                  number_at(all, 56),
                  {number_at(all, 64)}};
}

Result<void> fetch_snapshot(Archive& archive, const Snapshot& snapshot, PartialFile& to,
                            const ProgressFunction& progress) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd(ZSTD_createDCtx(), ZSTD_freeDCtx);
  COFFER_CHECK(zstd != nullptr);
  std::string buffer(std::size_t{1} << 20, '\0');
  std::int64_t done = 0;
  std::size_t left = 0;
  for (std::int64_t part = 0; part < snapshot.parts; ++part) {
    COFFER_TRY(const std::string bytes, archive.get(part_name(snapshot.name, part)));
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool more = true; more;) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      left = ZSTD_decompressStream(zstd.get(), &out, &in);
      if (ZSTD_isError(left) != 0) break;
      COFFER_TRY_VOID(to.append(std::string_view(buffer).substr(0, out.pos)));
      progress({"fetching", done += static_cast<std::int64_t>(out.pos), snapshot.bytes,
                Progress::Unit::bytes});
      more = in.pos < in.size || out.pos == buffer.size();
    }
  }
  if (left == 0 && done == snapshot.bytes) return {};
  return unexpected(not_intact(Slug::validation_failed, "The snapshot " + snapshot.name.text() +
                                                            " of the archive is damaged."));
}

Result<std::int64_t> drop_before(Archive& archive, Timestamp from,
                                 const std::function<void()>& rest) {
  COFFER_TRY(const auto snapshots, list_snapshots(archive));
  if (snapshots.empty()) return 0;
  // From the last snapshot before that moment on, everything is needed.
  SnapshotName first = snapshots.front();
  for (const SnapshotName& each : snapshots) {
    if (each.at <= from) first = each;
  }
  const auto is_before = [&](std::size_t prefix) {
    return [&, prefix](const std::string& name) { return name.substr(prefix) < first.text(); };
  };
  COFFER_TRY(std::int64_t dropped,
             drop_while(archive, kSnapshots, is_before(kSnapshots.size()), rest));
  COFFER_TRY(const std::int64_t parts, drop_while(archive, kParts, is_before(kParts.size()), rest));
  // A writer also needs the one before, to know where the archive ends.
  const std::string log_end = segment_name(first.segment - 1);
  COFFER_TRY(const std::int64_t segments,
             drop_while(
                 archive, "log/", [&](const auto& name) { return name < log_end; }, rest));
  const std::string head_end = head_name(std::min(first.at, from));
  COFFER_TRY(const std::int64_t heads,
             drop_while(
                 archive, kHeads, [&](const auto& name) { return name < head_end; }, rest));
  return dropped + parts + segments + heads;
}

std::string head_name(Timestamp at) { return std::string(kHeads) + zero_padded(at.ms, kMsDigits); }

Result<std::string> newest_head(Archive& archive, std::optional<Timestamp> at) {
  std::string newest;
  const std::string end = at ? head_name(*at) : std::string(kHeads) + '~';
  COFFER_TRY_VOID(archive.list(std::string(kHeads), {}, [&](const std::string& name) {
    if (name <= end) newest = name;
    return Result<bool>(name <= end);
  }));
  return newest.empty() ? Result<std::string>(newest) : archive.get(newest);
}

}  // namespace coffer::store
