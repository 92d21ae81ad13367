// Words that belong to one place: SQL in store/, clocks, randomness and threads in base/.
#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> choices) {
  return std::find(choices.begin(), choices.end(), word) != choices.end();
}

/// The words of a literal in lower case, without the n and t of \n and \t.
std::vector<std::string> sql_words(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\\') text[i] = text[i + 1] = ' ';
  }
  std::vector<std::string> out;
  for (const Word& word : words(text)) out.push_back(lower(word.text));
  return out;
}

// Select and update are English words, so they count only in capitals, or at the start of a text.
bool is_verb(const Literal& literal, const std::vector<std::string>& w, std::size_t i,
             std::string_view capitals) {
  if (w[i] != lower(capitals)) return false;
  const auto letter = literal.text.find_first_not_of(" \n");
  const bool starts = i == 0 && std::islower(static_cast<unsigned char>(literal.text[letter])) != 0;
  return starts || literal.text.find(capitals) != std::string::npos;
}

bool is_sql(const Literal& literal) {
  const std::vector<std::string> w = sql_words(literal.text);
  const auto at = [&](std::size_t i) { return i < w.size() ? std::string_view(w[i]) : ""; };
  const bool has_from = std::find(w.begin(), w.end(), "from") != w.end();
  if (at(0) == "pragma" && w.size() > 1) return true;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (has_from && is_verb(literal, w, i, "SELECT")) return true;
    if (at(i + 2) == "set" && is_verb(literal, w, i, "UPDATE")) return true;
    if (is_any(at(i), {"insert", "replace"}) && at(i + 1) == "into") return true;
    if (at(i) == "insert" && at(i + 1) == "or" && at(i + 3) == "into") return true;
    if (at(i) == "delete" && at(i + 1) == "from") return true;
    if (is_any(at(i), {"create", "drop", "alter"}) &&
        is_any(at(i + 1), {"table", "index", "trigger", "view"})) {
      return true;
    }
  }
  return false;
}

enum class Match {
  word,  // the identifier anywhere
  std,   // only after std::
  libc,  // a call of the C function: no object before it, the usual argument in it
};

struct Banned {
  std::string_view name;
  Match match;
  std::string_view instead;
};

constexpr std::string_view kClock = "take a Clock& (base/clock.h)";
constexpr std::string_view kRandom = "take a Random& (base/random.h)";
constexpr std::string_view kThread = "use Thread or WorkerThread (base/thread.h)";
constexpr std::string_view kMutex = "use Mutex, Lock, Condition (base/mutex.h)";
constexpr std::string_view kSleep = "wait on a Condition, or say from step() when to run next";

constexpr auto kBanned = std::to_array<Banned>({
    {"system_clock", Match::word, kClock},
    {"steady_clock", Match::word, kClock},
    {"high_resolution_clock", Match::word, kClock},
    {"clock_gettime", Match::word, kClock},
    {"gettimeofday", Match::word, kClock},
    {"time", Match::libc, kClock},
    {"RAND_bytes", Match::word, kRandom},
    {"RAND_priv_bytes", Match::word, kRandom},
    {"random_device", Match::word, kRandom},
    {"mt19937", Match::word, kRandom},
    {"mt19937_64", Match::word, kRandom},
    {"getrandom", Match::word, kRandom},
    {"srand", Match::word, kRandom},
    {"rand", Match::libc, kRandom},
    {"sleep_for", Match::word, kSleep},
    {"sleep_until", Match::word, kSleep},
    {"usleep", Match::word, kSleep},
    {"nanosleep", Match::word, kSleep},
    {"getenv", Match::word, "use environment_variable (base/environment.h)"},
    {"secure_getenv", Match::word, "use environment_variable (base/environment.h)"},
    {"thread", Match::std, kThread},
    {"jthread", Match::std, kThread},
    {"async", Match::std, kThread},
    {"pthread_create", Match::word, kThread},
    {"mutex", Match::std, kMutex},
    {"recursive_mutex", Match::std, kMutex},
    {"timed_mutex", Match::std, kMutex},
    {"shared_mutex", Match::std, kMutex},
    {"lock_guard", Match::std, kMutex},
    {"unique_lock", Match::std, kMutex},
    {"scoped_lock", Match::std, kMutex},
    {"shared_lock", Match::std, kMutex},
    {"condition_variable", Match::std, kMutex},
    {"condition_variable_any", Match::std, kMutex},
});

/// Whether the word is the C function. `row.time()` and `Time time(...)` are not, `time(nullptr)`
/// is.
bool is_libc_call(std::string_view text, const Word& word) {
  const char before = word.offset == 0 ? ' ' : text[word.offset - 1];
  if (before == '.' || before == '>') return false;
  std::string_view rest = text.substr(word.offset + word.text.size());
  const auto skip = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
  };
  skip();
  if (!rest.starts_with('(')) return false;
  rest.remove_prefix(1);
  skip();
  if (word.text == "rand") return rest.starts_with(')');
  return rest.starts_with("nullptr") || rest.starts_with("NULL") || rest.starts_with('0') ||
         rest.starts_with('&');
}

bool matches(std::string_view text, const Word& word, const Banned& banned) {
  if (word.text != banned.name) return false;
  switch (banned.match) {
    case Match::word:
      return true;
    case Match::std:
      return word.offset >= 5 && text.substr(word.offset - 5, 5) == "std::";
    case Match::libc:
      return is_libc_call(text, word);
  }
  return false;
}

std::string_view instead_of_include(std::string_view header) {
  if (is_any(header, {"thread", "future"})) return kThread;
  if (is_any(header, {"mutex", "shared_mutex", "condition_variable"})) return kMutex;
  if (header == "random") return kRandom;
  return {};
}

/// Calls `each(file, words)` for every C++ file below src/.
template <class Each>
void for_each_source(const Tree& tree, Each each) {
  for (const auto& [path, file] : tree.files()) {
    if (file.in("src") && file.is_cpp()) each(file, words(file.code.names));
  }
}

}  // namespace

Findings check_sql(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp() || file.in("src/store")) continue;
    for (const Literal& literal : file.code.literals) {
      if (is_sql(literal)) {
        out.push_back({path, literal.line, "SQL lives in store/; ask a function there"});
      }
    }
  }
  return out;
}

Findings check_sqlite_calls(const Tree& tree) {
  Findings out;
  for_each_source(tree, [&](const File& file, const std::vector<Word>& all) {
    if (is_any(file.path, {"src/store/file/connection.cpp", "src/store/file/writer_vfs.cpp"}))
      return;
    const std::string_view text = file.code.names;
    for (const Word& word : all) {
      const std::size_t end = word.offset + word.text.size();
      if (!word.text.starts_with("sqlite3_") || !text.substr(end).starts_with('(')) continue;
      out.push_back({file.path, line_at(text, word.offset),
                     "call SQLite through SQLiteCpp, or in store/file/connection.cpp"});
    }
  });
  return out;
}

/// SQL that compares a column of an enumeration with a number needs a static_assert of the number
/// in the same file.
Findings check_stored_values(const Tree& tree) {
  static const std::regex compared(
      R"(\b(?:status|state|type|kind|call|role|channel|disable_reason)\s*)"
      R"((?:(?:=|<>|<=|>=|<|>)\s*|(?:NOT )?IN\s*\()(\d+(?:\s*,\s*\d+)*))");
  static const std::regex asserted(R"(static_assert\(stored\([\w:]+\)\s*==\s*(\d+)\))");
  static const std::regex number(R"(\d+)");
  const auto all = [](const std::string& text, const std::regex& pattern, int group) {
    std::vector<std::string> out;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
      out.push_back(at->str(static_cast<std::size_t>(group)));
    }
    return out;
  };
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src/store") || !file.is_cpp()) continue;
    const auto known = all(file.code.names, asserted, 1);
    for (const Literal& literal : file.code.literals) {
      for (const std::string& list : all(literal.text, compared, 1)) {
        for (const std::string& value : all(list, number, 0)) {
          if (std::find(known.begin(), known.end(), value) != known.end()) continue;
          out.push_back({path, literal.line,
                         "bind the enumerator that is stored as " + value +
                             ", or add static_assert(stored(...) == " + value + ")"});
        }
      }
    }
  }
  return out;
}

Findings check_banned_names(const Tree& tree) {
  Findings out;
  for_each_source(tree, [&](const File& file, const std::vector<Word>& all) {
    if (file.in("src/base")) return;
    for (const Include& include : file.code.includes) {
      const std::string_view instead = instead_of_include(include.path);
      if (instead.empty()) continue;
      out.push_back({file.path, include.line,
                     "<" + include.path + "> belongs to base/; " + std::string(instead)});
    }
    const std::string_view text = file.code.names;
    for (const Word& word : all) {
      for (const Banned& banned : kBanned) {
        if (!matches(text, word, banned)) continue;
        out.push_back(
            {file.path, line_at(text, word.offset),
             std::string(banned.name) + " belongs to base/; " + std::string(banned.instead)});
      }
    }
  });
  return out;
}

Findings check_using_namespace(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.is_header()) continue;
    const auto all = words(file.code.names);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].text == "using" && all[i + 1].text == "namespace") {
        out.push_back({path, line_at(file.code.names, all[i].offset),
                       "a header opens its namespace for everybody; write the names out"});
      }
    }
  }
  return out;
}

Findings check_shared_ptr(const Tree& tree) {
  Findings out;
  for_each_source(tree, [&](const File& file, const std::vector<Word>& all) {
    if (file.path == "src/app/app.h" || file.path == "src/app/app.cpp") return;
    for (const Word& word : all) {
      if (is_any(word.text, {"shared_ptr", "make_shared", "enable_shared_from_this"})) {
        out.push_back({file.path, line_at(file.code.names, word.offset),
                       "only app shares ownership; hold a value, a unique_ptr or a reference"});
      }
    }
  });
  return out;
}

Findings check_default_case(const Tree& tree) {
  Findings out;
  for_each_source(tree, [&](const File& file, const std::vector<Word>& all) {
    const std::string_view text = file.code.names;
    for (const Word& word : all) {
      const auto next = text.find_first_not_of(" \t\n", word.offset + word.text.size());
      if (word.text == "default" && next != std::string_view::npos && text[next] == ':') {
        out.push_back(
            {file.path, line_at(text, word.offset),
             "name every case of an enum, so that the compiler finds the switch when one is "
             "added; for a number, put the rest behind the switch"});
      }
    }
  });
  return out;
}

Findings check_write_path(const Tree& tree) {
  Findings out;
  for_each_source(tree, [&](const File& file, const std::vector<Word>& all) {
    if (!file.in("src/api") && !file.in("src/workers")) return;
    for (const Word& word : all) {
      if (word.text == "WriteTx") {
        out.push_back({file.path, line_at(file.code.names, word.offset),
                       "only a flow opens a command; put this into flows/"});
      }
    }
  });
  return out;
}

}  // namespace tidy
