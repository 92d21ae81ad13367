#include "base/fault.h"

#include <catch2/catch.hpp>

#include "base/check.h"

#ifdef COFFER_FAULTS

using namespace coffer;

namespace {

struct Disarm {
  ~Disarm() { fault::arm(""); }
};

}  // namespace

TEST_CASE("fault: unarmed points do nothing") {
  fault::arm("");
  COFFER_FAULT("test.point");
  CHECK_FALSE(COFFER_FAULT_FAILS("test.point"));
}

TEST_CASE("fault: acts only at the n-th pass") {
  const Disarm disarm;
  fault::arm("test.point:3=fail");
  CHECK_FALSE(COFFER_FAULT_FAILS("test.point"));
  CHECK_FALSE(COFFER_FAULT_FAILS("test.other"));
  CHECK_FALSE(COFFER_FAULT_FAILS("test.point"));
  CHECK(COFFER_FAULT_FAILS("test.point"));
  CHECK_FALSE(COFFER_FAULT_FAILS("test.point"));
}

TEST_CASE("fault: pass 0 means every pass") {
  const Disarm disarm;
  fault::arm("test.point:0=fail");
  CHECK(COFFER_FAULT_FAILS("test.point"));
  CHECK(COFFER_FAULT_FAILS("test.point"));
}

TEST_CASE("fault: several points with their actions; arming again replaces them") {
  const Disarm disarm;
  fault::arm("test.a=throw,test.b=fail");
  CHECK(COFFER_FAULT_FAILS("test.b"));
  CHECK_THROWS_AS(COFFER_FAULT("test.a"), InternalError);
  fault::arm("test.c=fail");
  CHECK_NOTHROW(COFFER_FAULT("test.a"));
  CHECK(COFFER_FAULT_FAILS("test.c"));
}

#endif
