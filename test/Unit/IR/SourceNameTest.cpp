//===- SourceNameTest.cpp - Tests of names in locations -------------------===//

#include "FuseDialect/IR/SourceName.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using Names = SmallVector<std::string>;

namespace {

class SourceNameTest : public testing::Test {
protected:
  Location name(StringRef name) {
    return NameLoc::get(StringAttr::get(&context, name));
  }
  Location file(unsigned line) {
    return FileLineColLoc::get(&context, "m.mlir", line, 7);
  }

  MLIRContext context;
};

TEST_F(SourceNameTest, UnknownLocationHasNoName) {
  EXPECT_EQ(fuse::getSourceNames(UnknownLoc::get(&context)), Names());
  EXPECT_EQ(fuse::getSourceName(UnknownLoc::get(&context)), "");
}

TEST_F(SourceNameTest, NameLocGivesItsName) {
  EXPECT_EQ(fuse::getSourceNames(name("block/exp")), (Names{"block/exp"}));
}

TEST_F(SourceNameTest, FilePositionIsTheNameOfLastResort) {
  EXPECT_EQ(fuse::getSourceNames(file(12)), (Names{"m.mlir:12:7"}));
}

TEST_F(SourceNameTest, FusedLocationsKeepOrderWithoutRepeats) {
  Location inner = FusedLoc::get({name("b"), name("a")}, {}, &context);
  Location outer = FusedLoc::get(
      {name("a"), inner, UnknownLoc::get(&context), file(3)}, {}, &context);
  EXPECT_EQ(fuse::getSourceNames(outer), (Names{"a", "b", "m.mlir:3:7"}));
  EXPECT_EQ(fuse::getSourceName(outer), "a");
}

TEST_F(SourceNameTest, FuseLocationsFlattens) {
  Location ab = fuse::fuseLocations(&context, {name("a"), name("b")});
  Location abc = fuse::fuseLocations(&context, {ab, name("c"), name("a")});
  auto fused = dyn_cast<FusedLoc>(abc);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused.getLocations(),
            (ArrayRef<Location>{name("a"), name("b"), name("c")}));
}

TEST_F(SourceNameTest, DeepNestingNeedsNoStack) {
  Location location = name("x0");
  for (int depth = 1; depth <= 200000; ++depth)
    location = FusedLoc::get(
        {location, name("x" + std::to_string(depth % 5))},
        IntegerAttr::get(IntegerType::get(&context, 32), depth), &context);
  EXPECT_EQ(fuse::getSourceNames(location).size(), 5u);
}

} // namespace
