//===- TargetTest.cpp - The processor that code is made for ---------------===//

#include "FuseDialect/Engine/Target.h"
#include "FuseDialect/Engine/EngineError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

using namespace mlir::fuse;

namespace {

std::string getError(llvm::StringRef cpu, llvm::StringRef features) {
  auto target = Target::create(cpu, features);
  return target ? "no error" : llvm::toString(target.takeError());
}

Target create(llvm::StringRef cpu, llvm::StringRef features = "") {
  return llvm::cantFail(Target::create(cpu, features));
}

TEST(TargetTest, TheHostRunsHere) {
  Target host = create("host");
  EXPECT_EQ(host.getCpu(), llvm::sys::getHostCPUName());
  EXPECT_FALSE(static_cast<bool>(host.checkRunsHere()));
}

TEST(TargetTest, UnknownNamesAreUsageErrors) {
  EXPECT_NE(getError("pentium9", "").find("unknown target CPU 'pentium9'"),
            std::string::npos);
  EXPECT_NE(
      getError("host", "+nofeature").find("unknown target feature 'nofeature'"),
      std::string::npos);
  auto target = Target::create("host", "sse2");
  ASSERT_FALSE(target);
  EXPECT_EQ(reportError(target.takeError(), "test"), 2);
}

#if defined(__x86_64__)
TEST(TargetTest, FeaturesDecideTheVectorWidth) {
  EXPECT_EQ(create("x86-64").getVectorBytes(), 16);
  EXPECT_EQ(create("x86-64-v3").getVectorBytes(), 32);
  EXPECT_EQ(create("x86-64-v3").getVectorName(), "avx2");
  EXPECT_EQ(create("x86-64-v4").getVectorBytes(), 64);
  EXPECT_EQ(create("x86-64-v4", "-avx512f").getVectorBytes(), 32);
  EXPECT_EQ(create("x86-64", "+avx512f").getVectorName(), "avx512");
}

TEST(TargetTest, EnabledFeaturesIncludeWhatTheCpuImplies) {
  Target target = create("x86-64-v3", "-f16c");
  llvm::SmallVector<llvm::StringRef> features;
  std::string text = target.getEnabledFeatures();
  llvm::StringRef(text).split(features, ',');
  EXPECT_TRUE(llvm::is_contained(features, "+fma"));
  EXPECT_TRUE(llvm::is_contained(features, "+sse4.1"));
  EXPECT_FALSE(llvm::is_contained(features, "+f16c"));
  EXPECT_FALSE(llvm::is_contained(features, "+avx512f"));
}

TEST(TargetTest, MissingFeaturesAreNamed) {
  // No processor has both of these.
  Target target = create("x86-64", "+sse4a,+xop,+avx10.2");
  llvm::Error error = target.checkRunsHere();
  ASSERT_TRUE(static_cast<bool>(error));
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("this processor lacks the target features '"),
            std::string::npos);
  EXPECT_NE(message.find("'xop'"), std::string::npos);
}
#endif

} // namespace
