#include "base/text/columns.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("columns: the width of text on a terminal") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("wallet") == 6);
  CHECK(columns_of("Müller") == 6);
  CHECK(columns_of("Mu\u0308ller") == 6);  // u and a combining diaeresis
  CHECK(columns_of("北京") == 4);
  CHECK(columns_of("🏦 Bank") == 7);
  CHECK(columns_of("\xff\xe5\x8c") == 3);  // no UTF-8
}

TEST_CASE("columns: text is truncated between characters, with a mark") {
  CHECK(cut_to("Treasury", 8) == "Treasury");
  CHECK(cut_to("Treasury", 7) == "Treasu…");
  CHECK(cut_to("Treasury", 1) == "…");
  CHECK(cut_to("Treasury", 0).empty());
  CHECK(cut_to("北京银行", 6) == "北京…");
  CHECK(cut_to("Müller", 3) == "Mü…");
  CHECK(cut_to("0190a5a0-5f60718", 8, Kept::end) == "…5f60718");
  CHECK(cut_to("北京银行", 6, Kept::end) == "…银行");
}
