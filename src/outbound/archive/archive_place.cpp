#include "outbound/archive/archive_place.h"

#include <algorithm>

#include "base/check.h"
#include "base/text/ascii.h"
#include "base/text/object_name.h"

namespace coffer::outbound {
namespace {

constexpr std::string_view kFile = "file://";
constexpr std::string_view kS3 = "s3://";
constexpr int kHttpsPort = 443;

Unexpected refused(std::string_view text, const std::string& why) {
  return unexpected(Slug::validation_failed, "\"" + std::string(text) + "\" " + why);
}

bool is_bucket_name(std::string_view name) {
  constexpr std::size_t kBytesMin = 3;
  constexpr std::size_t kBytesMax = 63;
  const auto fits = [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '-' || c == '.';
  };
  const auto is_inner = [](char c) { return c == '-' || c == '.'; };
  return name.size() >= kBytesMin && name.size() <= kBytesMax && std::ranges::all_of(name, fits) &&
         !is_inner(name.front()) && !is_inner(name.back());
}

}  // namespace

Result<ArchivePlace> parse_archive_url(std::string_view text) {
  constexpr std::size_t kPrefixMax = 256;
  ArchivePlace out;
  if (text.starts_with(kFile)) {
    std::string_view path = text.substr(kFile.size());
    while (path.ends_with('/')) path.remove_suffix(1);
    if (!path.starts_with('/') || ascii::has_control(path)) {
      return refused(text, "is not an absolute path. Write file:///PATH");
    }
    if (path.find('%') != std::string_view::npos) {
      return refused(text, "has a \"%\". Write the path as it is, not encoded");
    }
    out.folder = path;
    return out;
  }
  if (!text.starts_with(kS3)) {
    return refused(text, "is not an archive. Use file:///PATH or s3://BUCKET/PREFIX");
  }
  std::string_view prefix = text.substr(kS3.size());
  out.bucket = next_whole_part(prefix, '/');
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!is_bucket_name(out.bucket)) {
    return refused(text,
                   "has no valid bucket. Its name has 3 to 63 lower-case letters, digits, "
                   "dots and hyphens");
  }
  if (!prefix.empty() && (!is_object_name(prefix) || prefix.size() > kPrefixMax)) {
    return refused(text, "has no valid prefix. Use letters, digits, \".\", \"_\", \"-\" and \"/\"");
  }
  if (!prefix.empty()) out.prefix = std::string(prefix) + '/';
  return out;
}

std::string check_archive_endpoint(const std::string& text) {
  const auto url = parse_url(text);
  if (!url || url->path != "/" || !url->query.empty()) {
    return "\"" + text +
           "\" is not the address of a store. Write https://HOST or https://HOST:PORT";
  }
  if (!url->is_protected()) {
    return "\"" + text + "\" does not protect the archive in transit. Use https";
  }
  return {};
}

BucketAddress bucket_address(const std::string& bucket, const ArchiveSettings& settings) {
  const std::string in_path = '/' + bucket + '/';
  if (!settings.endpoint.empty()) {
    const auto url = parse_url(settings.endpoint);
    COFFER_CHECK(url.has_value());
    return {*url, in_path};
  }
  const std::string& region = settings.keys.region;
  const std::string host =
      "s3." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
  const bool has_dots = bucket.find('.') != std::string::npos;
  return {Url{.tls = true,
              .host = has_dots ? host : bucket + '.' + host,
              .port = kHttpsPort,
              .path = "/",
              .query = ""},
          has_dots ? in_path : "/"};
}

}  // namespace coffer::outbound
