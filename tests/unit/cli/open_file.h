// A coffer file in a separate folder, and commands on it as the server runs them.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "app/app.h"
#include "base/telemetry/log.h"
#include "cli/run/dispatch.h"

namespace coffer::cli::test {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "coffer-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
  /// Of a list in pages, its rows.
  nlohmann::json json() const {
    auto all = nlohmann::json::parse(out);
    return all.is_object() && all.contains("nextCursor") ? all.at("data") : all;
  }
};

class OpenFile {
 public:
  /// `change` adjusts the configuration.
  explicit OpenFile(const std::function<void(Config&)>& change = {}) {
    if (change) change(config_);
    redirect_log([](std::string_view) {});
    open();
  }
  ~OpenFile() {
    app_.reset();
    redirect_log(nullptr);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  App& app() { return *app_; }
  const std::string& path() const { return config_.db; }
  ManualClock& clock() { return clock_; }

  /// Closes the file, calls `between`, and opens it again.
  void reopen(const std::function<void()>& between = [] {}) {
    app_.reset();
    between();
    open();
  }

  Ran run(const std::string& command, const std::map<std::string, std::string>& arguments = {},
          bool json = true) {
    std::ostringstream out;
    std::ostringstream err;
    Interruption interruption;
    ControlRequest request{.command = command, .arguments = arguments, .json = json};
    const int code = run_request(*app_, request, out, err, interruption);
    return {code, out.str(), err.str()};
  }

 private:
  void open() {
    config_.db = folder_.file("coffer.db");
    config_.master_key_file = folder_.file("master.key");
    config_.readers = 2;
    config_.disk_floor_mib = 0;
    StartError error;
    app_ = App::open(config_, clock_, random_, error, App::Missing::create);
    INFO(error.message);
    REQUIRE(app_);
    app_->set_password_cost({1, 1, 1});
  }

  Folder folder_;
  Config config_;
  ManualClock clock_;
  SeededRandom random_{7};
  std::unique_ptr<App> app_;
};

}  // namespace coffer::cli::test
