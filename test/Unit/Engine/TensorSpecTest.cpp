//===- TensorSpecTest.cpp - Tensors given on a command line ---------------===//

#include "FuseDialect/Engine/TensorSpec.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fuse;

namespace {

class TensorSpecTest : public ::testing::Test {
protected:
  MLIRContext context;
  Builder b{&context};

  SmallVector<SignatureValue> makeValues(ArrayRef<StringRef> names) {
    SmallVector<SignatureValue> values;
    for (StringRef name : names)
      values.push_back(
          {name.str(), RankedTensorType::get({}, b.getF32Type()), {}});
    return values;
  }
  llvm::Expected<SmallVector<std::optional<SpecValue>>>
  assign(std::vector<std::string> specs,
         ArrayRef<StringRef> names = {"x", "y"}) {
    return assignSpecs(specs, makeValues(names), "--input", &context);
  }
  std::string getError(std::vector<std::string> specs,
                       ArrayRef<StringRef> names = {"x", "y"}) {
    auto assigned = assign(std::move(specs), names);
    if (assigned)
      return "no error";
    std::string message;
    llvm::handleAllErrors(assigned.takeError(), [&](const EngineError &error) {
      EXPECT_EQ(error.getCode(), ExitCode::usage);
      message = error.getMessage();
    });
    return message;
  }
  /// The tensor that a literal gives, printed.
  std::string print(StringRef literal) {
    auto assigned = assign({literal.str()});
    if (!assigned)
      return llvm::toString(assigned.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    printTensor(os, std::get<HostTensor>(*(*assigned)[0]));
    return text;
  }
};

TEST_F(TensorSpecTest, LiteralsPrintAsWritten) {
  for (StringRef literal :
       {"2x3xf32=1,2,3,4,5,6", "f32=1.5",
        "3xi64=-9223372036854775808,0,"
        "9223372036854775807",
        "2xui64=18446744073709551615,0", "2xi8=-128,127", "2xi1=0,1",
        "4xf32=inf,-inf,nan,-0", "0x3xf32=", "3xf64=0.1,1e-310,1e+300",
        "2xf16=0.1,65504", "2xbf16=1,256", "1x1x1xui8=255"}) {
    std::string want = literal.str();
    // The nearest half to 0.1, and with no more digits than a float needs.
    if (literal.starts_with("2xf16"))
      want = "2xf16=0.099975586,65504";
    EXPECT_EQ(print(literal), want);
  }
}

TEST_F(TensorSpecTest, OneElementStandsForAll) {
  EXPECT_EQ(print("2x2xf32=0.5"), "2x2xf32=0.5,0.5,0.5,0.5");
  EXPECT_EQ(print("2xi1=true"), "2xi1=1,1");
  EXPECT_EQ(print("0xf32=7"), "0xf32=");
}

TEST_F(TensorSpecTest, ElementsBeyondTheTypeAreErrors) {
  EXPECT_EQ(print("2xui8=1,256"), "in '--input=2xui8=1,256': expected a value "
                                  "of type ui8 but got '256'");
  for (StringRef literal :
       {"i8=128", "i8=-129", "ui8=-1", "i32=1.5", "i64=9223372036854775808",
        "ui64=18446744073709551616", "f32=x", "f32=1,", "i1=2", "0xf32=x",
        "f32=", "2xf32=1,2,3", "99999999999x99999999999xf32=0"})
    EXPECT_NE(getError({literal.str()}), "no error") << literal.str();
}

TEST_F(TensorSpecTest, FloatsBeyondTheRangeAreInfinite) {
  EXPECT_EQ(print("2xf64=1e999,-1e999"), "2xf64=inf,-inf");
  EXPECT_EQ(print("2xf64=1e-999,-1e-999"), "2xf64=0,-0");
}

TEST_F(TensorSpecTest, SpecsWithoutANameFillTheGaps) {
  auto assigned = assign({"f32=1", "x=f32=2", "f32=3"}, {"w", "x", "y"});
  ASSERT_TRUE(static_cast<bool>(assigned));
  for (int index : {0, 1, 2})
    EXPECT_EQ(std::get<HostTensor>(*(*assigned)[index]).getDouble(0),
              index + 1);
}

TEST_F(TensorSpecTest, NamesMayHoldAnything) {
  auto assigned =
      assign({"a=b=f32=2", "a=f32=1", "2xf32=random", "@x=@x.npy", "=f32=3"},
             {"a", "a=b", "2xf32", "@x", ""});
  ASSERT_TRUE(static_cast<bool>(assigned));
  EXPECT_EQ(std::get<HostTensor>(*(*assigned)[0]).getDouble(0), 1);
  EXPECT_EQ(std::get<HostTensor>(*(*assigned)[1]).getDouble(0), 2);
  EXPECT_TRUE(std::holds_alternative<RandomValues>(*(*assigned)[2]));
  EXPECT_EQ(std::get<FileValues>(*(*assigned)[3]).path, "x.npy");
  EXPECT_EQ(std::get<HostTensor>(*(*assigned)[4]).getDouble(0), 3);
}

TEST_F(TensorSpecTest, WrongNamesAndNumbersAreErrors) {
  EXPECT_EQ(getError({"nope=random"}), "in '--input=nope=random': there is no "
                                       "'nope': expected 'x' or 'y'");
  EXPECT_EQ(getError({"x=f32=1", "x=f32=2"}),
            "in '--input=x=f32=2': 'x' was given already");
  EXPECT_EQ(getError({"f32=1", "f32=2", "f32=3"}),
            "in '--input=f32=3': the model has only 2");
  EXPECT_NE(getError({"what"}).find("expected [NAME=]VALUE"),
            std::string::npos);
  EXPECT_NE(getError({""}), "no error");
  EXPECT_NE(getError({"@"}), "no error");
}

TEST_F(TensorSpecTest, RandomTakesSeedAndRange) {
  auto assigned = assign({"random:7:-1:2.5"});
  ASSERT_TRUE(static_cast<bool>(assigned));
  auto random = std::get<RandomValues>(*(*assigned)[0]);
  EXPECT_EQ(random.seed, 7u);
  EXPECT_EQ(*random.range, std::make_pair(-1.0, 2.5));
  for (StringRef text :
       {"random:", "random:x", "random:1:2", "random:1:2:1", "random:1:a:2",
        "random:1:0:inf", "random:-1", "random:1:2:3:4"})
    EXPECT_NE(getError({text.str()}), "no error") << text.str();
}

TEST_F(TensorSpecTest, RandomValuesAreTheSameEverywhere) {
  auto first = makeRandomTensor({}, {1000}, b.getF32Type(), 0);
  auto again = makeRandomTensor({}, {1000}, b.getF32Type(), 0);
  EXPECT_EQ(first->getValues<float>(), again->getValues<float>());
  auto otherSeed = makeRandomTensor({1, {}}, {1000}, b.getF32Type(), 0);
  auto otherInput = makeRandomTensor({}, {1000}, b.getF32Type(), 1);
  EXPECT_NE(first->getDouble(0), otherSeed->getDouble(0));
  EXPECT_NE(first->getDouble(0), otherInput->getDouble(0));
}

TEST_F(TensorSpecTest, RandomFloatsAreNormal) {
  auto tensor = makeRandomTensor({}, {100000}, b.getF32Type(), 0);
  double sum = 0, squares = 0;
  int within = 0;
  for (float value : tensor->getValues<float>()) {
    sum += value;
    squares += value * value;
    within += std::abs(value) < 1;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  EXPECT_NEAR(within / 1e5, 0.6827, 0.01);
}

TEST_F(TensorSpecTest, RandomRangesAreKept) {
  RandomValues random{3, std::make_pair(-2.0, 3.0)};
  std::set<int64_t> seen;
  auto integers = makeRandomTensor(random, {1000}, b.getI8Type(), 0);
  for (int8_t value : integers->getValues<int8_t>())
    seen.insert(value);
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2, 3}));
  auto floats = makeRandomTensor(random, {1000}, b.getF64Type(), 0);
  for (double value : floats->getValues<double>()) {
    EXPECT_GE(value, -2);
    EXPECT_LT(value, 3);
  }
  std::set<int64_t> bits;
  auto defaults = makeRandomTensor({}, {100}, b.getI64Type(), 0);
  for (int64_t value : defaults->getValues<int64_t>())
    bits.insert(value);
  EXPECT_EQ(bits, (std::set<int64_t>{0, 1}));
}

} // namespace
