//===- ShapeBindingTest.cpp - Tests of extents for dynamic inputs ---------===//

#include "FuseDialect/Engine/ShapeBinding.h"
#include "FuseDialect/Engine/EngineError.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fuse;

namespace {

constexpr int64_t kDynamic = ShapedType::kDynamic;

class ShapeBindingTest : public ::testing::Test {
protected:
  ShapeBindingTest() {
    signature.inputs = {
        {"x", RankedTensorType::get({kDynamic, 7}, f32), {"N", ""}},
        {"m", RankedTensorType::get({kDynamic, kDynamic}, f32), {"N", ""}}};
  }

  ShapeOptions parse(std::vector<std::string> shapes,
                     std::vector<std::string> dims) {
    return llvm::cantFail(ShapeOptions::parse(shapes, dims));
  }
  std::string getParseError(std::vector<std::string> shapes,
                            std::vector<std::string> dims) {
    llvm::Expected<ShapeOptions> options = ShapeOptions::parse(shapes, dims);
    return options ? "" : llvm::toString(options.takeError());
  }
  /// The shapes that the inputs get, or the error.
  std::string bind(const ShapeOptions &options,
                   ArrayRef<const HostTensor *> given = {}) {
    llvm::Expected<SmallVector<RankedTensorType>> types =
        bindShapes(signature, options, given);
    if (!types)
      return llvm::toString(types.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleave(*types, os, " ");
    return text;
  }

  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  Signature signature;
};

TEST_F(ShapeBindingTest, NothingGivenStaysDynamic) {
  EXPECT_EQ(bind({}), "tensor<?x7xf32> tensor<?x?xf32>");
}

TEST_F(ShapeBindingTest, SymbolsAreShared) {
  EXPECT_EQ(bind(parse({}, {"N=3"})), "tensor<3x7xf32> tensor<3x?xf32>");
  EXPECT_EQ(bind(parse({"m:4x2"}, {})), "tensor<4x7xf32> tensor<4x2xf32>");
}

TEST_F(ShapeBindingTest, TensorsGiveTheirShape) {
  std::optional<HostTensor> tensor = HostTensor::create({0, 7}, f32);
  EXPECT_EQ(bind({}, {&*tensor, nullptr}), "tensor<0x7xf32> tensor<0x?xf32>");
}

TEST_F(ShapeBindingTest, TheLaterInputIsTheCulprit) {
  EXPECT_EQ(bind(parse({"x:2x7", "m:3x1"}, {})),
            "expected input 'm' to have extent 2 in dimension 0 ('N') but got "
            "3");
}

TEST_F(ShapeBindingTest, StaticExtentsMustAgree) {
  EXPECT_EQ(bind(parse({"x:2x8"}, {})),
            "expected input 'x' to have extent 7 in dimension 1 but got 8");
  EXPECT_EQ(bind(parse({"x:2"}, {})),
            "expected input 'x' to have rank 2 but got 1");
}

TEST_F(ShapeBindingTest, ElementTypesMustAgree) {
  std::optional<HostTensor> tensor =
      HostTensor::create({1, 7}, Float64Type::get(&context));
  EXPECT_EQ(bind({}, {&*tensor, nullptr}),
            "expected input 'x' to have elements of type f32 but got f64");
}

TEST_F(ShapeBindingTest, UnknownNamesAreErrors) {
  EXPECT_EQ(bind(parse({"z:2"}, {})), "in '--shape': there is no input 'z'");
  EXPECT_EQ(bind(parse({}, {"K=2"})),
            "in '--dim': no input has a dimension 'K'");
}

TEST_F(ShapeBindingTest, MalformedFlagsAreUsageErrors) {
  EXPECT_EQ(getParseError({"x"}, {}), "expected --shape=NAME:EXTENTxEXTENT… "
                                      "but got '--shape=x'");
  EXPECT_EQ(getParseError({"x:2x-1"}, {}),
            "expected --shape=NAME:EXTENTxEXTENT… but got '--shape=x:2x-1'");
  EXPECT_EQ(getParseError({}, {"N=99999999999999999999"}),
            "expected --dim=SYMBOL=EXTENT but got "
            "'--dim=N=99999999999999999999'");
  EXPECT_EQ(getParseError({}, {"N=1", "N=2"}),
            "'--dim' was given twice for 'N'");
}

TEST_F(ShapeBindingTest, ColonsInNamesAndRankZero) {
  ShapeOptions options = parse({"in:0:2x3", "s:"}, {"a=b=4"});
  EXPECT_EQ(options.shapes.lookup("in:0"), (SmallVector<int64_t>{2, 3}));
  ASSERT_TRUE(options.shapes.contains("s"));
  EXPECT_TRUE(options.shapes.lookup("s").empty());
  EXPECT_EQ(options.dims.lookup("a=b"), 4);
}

TEST_F(ShapeBindingTest, UnknownExtentsSayHowToGiveThem) {
  SmallVector<RankedTensorType> types;
  for (const SignatureValue &value : signature.inputs)
    types.push_back(value.type);
  EXPECT_EQ(llvm::toString(checkShapesKnown(signature, types)),
            "input 'x' has no extent in dimension 0 ('N'): give --dim=N=N, "
            "--shape=x:Nx7 or --input=x=…");
}

} // namespace
