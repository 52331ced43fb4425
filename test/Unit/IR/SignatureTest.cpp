//===- SignatureTest.cpp - Tests of the fuse.signature attribute ----------===//

#include "FuseDialect/IR/Signature.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using fuse::Signature;

namespace {

class SignatureTest : public testing::Test {
protected:
  SignatureTest() {
    context.loadDialect<fuse::FuseDialect, func::FuncDialect>();
  }
  /// The one function of `source`.
  func::FuncOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(SignatureTest, ValuesWithoutAttributeAreNamedByPosition) {
  func::FuncOp function = parse("func.func private @f(tensor<?x2xf32>, "
                                "tensor<i8>) -> (tensor<f32>, tensor<3xi1>)");
  ASSERT_TRUE(function);
  Signature signature = Signature::of(function);
  ASSERT_EQ(signature.inputs.size(), 2u);
  ASSERT_EQ(signature.outputs.size(), 2u);
  EXPECT_EQ(signature.inputs[1].name, "arg1");
  EXPECT_EQ(signature.outputs[1].name, "out1");
  EXPECT_EQ(signature.inputs[0].symbols, (SmallVector<std::string>{"", ""}));
}

TEST_F(SignatureTest, ASingleOutputIsNotNumbered) {
  func::FuncOp function =
      parse("func.func private @f(tensor<f32>) -> tensor<f32>");
  ASSERT_TRUE(function);
  EXPECT_EQ(Signature::of(function).inputs[0].name, "arg0");
  EXPECT_EQ(Signature::of(function).outputs[0].name, "out");
}

TEST_F(SignatureTest, AttributeRoundTrips) {
  func::FuncOp function =
      parse("func.func private @f(tensor<?x2xf32>) -> tensor<?xi64>");
  ASSERT_TRUE(function);
  Signature written = Signature::of(function);
  written.inputs[0].name = "input:0";
  written.inputs[0].symbols = {"N", ""};
  written.outputs[0].symbols = {"N"};
  function->setAttr(fuse::kSignatureAttrName, written.toAttribute(&context));
  Signature read = Signature::of(function);
  EXPECT_EQ(read.inputs[0].name, "input:0");
  EXPECT_EQ(read.inputs[0].type, function.getArgumentTypes()[0]);
  EXPECT_EQ(read.inputs[0].symbols, (SmallVector<std::string>{"N", ""}));
  EXPECT_EQ(read.outputs[0].symbols, (SmallVector<std::string>{"N"}));
}

TEST_F(SignatureTest, EveryDimensionNeedsASymbolEntry) {
  std::string error;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  EXPECT_FALSE(
      parse("func.func private @f(tensor<2xf32>) attributes {fuse.signature = "
            "{inputs = [{name = \"x\", type = tensor<2xf32>, dims = []}], "
            "outputs = []}}"));
  EXPECT_NE(error.find("fuse.signature"), std::string::npos) << error;
}

} // namespace
