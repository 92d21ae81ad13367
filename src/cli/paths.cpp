#include "cli/paths.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "base/files/durable_file.h"
#include "base/files/side_files.h"
#include "base/text/characters.h"
#include "domain/reconciliation/bank_statement.h"
#include "store/requests/request_log_file.h"

namespace coffer::cli {
namespace {

/// The names that SQLite and coffer use beside a database.
std::vector<std::string> names_beside(const std::string& database) {
  const std::string log = store::request_log_path(database);
  std::vector<std::string> out{log};
  for (const char* ending : kOwnEndings) out.push_back(database + ending);
  for (const char* ending : kSqliteEndings) {
    out.push_back(database + ending);
    out.push_back(log + ending);
  }
  return out;
}

std::filesystem::path real_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

/// Reads up to one byte more than permitted, so that the caller can detect an excess. nullopt if it
/// cannot be read.
std::optional<std::string> content_of(std::istream& in, std::size_t bytes_max) {
  std::string content(bytes_max + 1, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (in.bad() || (in.fail() && !in.eof())) return std::nullopt;
  content.resize(static_cast<std::size_t>(in.gcount()));
  return content;
}

Result<std::string> read_content(const Argument& argument, const std::string& path) {
  COFFER_TRY(std::string content, bytes_at(path, content_bytes_max(argument)));
  if (argument.value == Argument::Value::document) content = utf8_of(std::move(content));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors write one
  if (content.starts_with(kByteOrderMark)) content.erase(0, kByteOrderMark.size());
  // Checked here, because the request to the server is JSON, which cannot contain other bytes.
  const std::size_t valid = utf8_bytes(content);
  if (valid == content.size()) return content;
  content.resize(valid);
  return unexpected(Slug::malformed_request,
                    path + " is not UTF-8 in line " +
                        std::to_string(1 + std::ranges::count(content, '\n')) +
                        ". Save it with that encoding and repeat the command.");
}

}  // namespace

Result<std::string> bytes_at(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  std::optional<std::string> content;
  if (path == "-") {
    content = content_of(std::cin, bytes_max);
  } else if (!std::filesystem::is_directory(path, error)) {
    std::ifstream file(path, std::ios::binary);
    if (file) content = content_of(file, bytes_max);
  }
  if (!content) {
    return unexpected(Slug::malformed_request, "Cannot read " + path +
                                                   ". Check its name and permissions, or use - "
                                                   "for standard input.");
  }
  if (content->size() > bytes_max) {
    return unexpected(Slug::malformed_request, path + " is larger than " +
                                                   std::to_string(bytes_max / kContentBytesMax) +
                                                   " MiB. Split it into several files.");
  }
  return *std::move(content);
}

bool gives_place(const Command& command, const Arguments& arguments) {
  return std::ranges::any_of(command.arguments, [&](const Argument& argument) {
    return names_place(argument) && arguments.has(std::string(argument.name));
  });
}

bool requires_place(const Command& command) {
  return std::ranges::any_of(command.arguments, [](const Argument& argument) {
    return names_place(argument) && argument.required;
  });
}

bool is_for_the_page(const Command& command) {
  return command.is_on_file() && !command.streams && !requires_place(command);
}

void make_paths_absolute(const Command& command, Arguments& arguments) {
  for (const Argument& argument : command.arguments) {
    const auto given = arguments.values.find(std::string(argument.name));
    if (!names_place(argument) || given == arguments.values.end() || given->second == "-") continue;
    std::error_code error;
    const auto absolute = std::filesystem::absolute(given->second, error);
    if (!error) given->second = absolute.lexically_normal().string();
  }
}

Result<void> check_not_beside(const std::string& database, const std::string& path) {
  if (path.ends_with(kPartialEnding)) {
    return unexpected(Slug::malformed_request,
                      path + " is reserved for an incomplete file. Choose another name.");
  }
  const std::filesystem::path given = real_path(path);
  for (const std::string& name : names_beside(database)) {
    if (real_path(name) != given) continue;
    return unexpected(Slug::malformed_request, path + " is reserved for a file of the database " +
                                                   database + ". Choose another name.");
  }
  return {};
}

Result<void> read_contents(const Command& command, Arguments& arguments) {
  for (const Argument& argument : command.arguments) {
    const auto given = arguments.values.find(std::string(argument.name));
    if (!argument.holds_content() || given == arguments.values.end()) continue;
    COFFER_TRY(given->second, read_content(argument, given->second));
  }
  return {};
}

}  // namespace coffer::cli
