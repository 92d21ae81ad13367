#include "auth/password_quality.h"

#include <catch2/catch.hpp>

using namespace coffer::auth;

TEST_CASE("an operator's password is long, varied and not common") {
  for (const char* good : {"correct horse battery", "adaadaadaada-x7", "Vier Fische am Ofen",
                           "k9!tR2#vW8qz", "пароль из четырёх слов"}) {
    INFO(good);
    CHECK(password_fault(good, "ada").empty());
  }
  for (const char* weak :
       {"password1234", "Password1234!", "!!!SUNSHINE2026", "iloveyou12345", "passwordpassword",
        "dragondragon", "123456789012", "2026-11-22-00", "1234567890qwerty", "Qwertyuiop123",
        "administrator1", "adaadaadaada", "abababababab", "aaaaaaaaaaaaa"}) {
    INFO(weak);
    const bool named = std::string_view(weak).starts_with("administrator");
    CHECK_FALSE(password_fault(weak, named ? "administrator" : "ada").empty());
  }
  CHECK_FALSE(password_fault("short", "ada").empty());
  CHECK_FALSE(password_fault("elevenchars", "ada").empty());
  // Twelve bytes, six characters.
  CHECK_FALSE(password_fault("пароль", "ada").empty());
  CHECK_FALSE(password_fault("Grace.Hopper", "grace.hopper").empty());
  CHECK_FALSE(password_fault(std::string(64, 'x') + std::string(65, 'y'), "ada").empty());
}

TEST_CASE("the list of common passwords contains well-known ones") {
  for (const char* common : {"password", "qwerty", "dragon", "letmein", "sunshine", "trustno1"}) {
    INFO(common);
    CHECK(is_common_password(common));
  }
  CHECK_FALSE(is_common_password("correct horse battery"));
  CHECK_FALSE(is_common_password(""));
}
