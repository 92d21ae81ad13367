// Prints each failed assertion once more when the run has ended, because the log lines of all other
// tests come in between.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace coffer::test {
namespace {

class FailuresAgain : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& test) override { test_ = test.name; }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.isOk()) return true;
    std::string text = test_ + "\n    " + result.getSourceInfo().file + ":" +
                       std::to_string(result.getSourceInfo().line);
    text += "\n    " + result.getExpressionInMacro();
    if (result.hasExpandedExpression()) text += "\n    " + result.getExpandedExpression();
    if (result.hasMessage()) text += "\n    " + std::string(result.getMessage());
    for (const Catch::MessageInfo& info : stats.infoMessages) text += "\n    " + info.message;
    failures_.push_back(std::move(text));
    return true;
  }

  void testRunEnded(const Catch::TestRunStats&) override {
    for (const std::string& failure : failures_) Catch::cout() << "Failed: " << failure << '\n';
  }

 private:
  std::string test_;
  std::vector<std::string> failures_;
};

CATCH_REGISTER_LISTENER(FailuresAgain)

}  // namespace
}  // namespace coffer::test
