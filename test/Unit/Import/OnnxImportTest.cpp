//===- OnnxImportTest.cpp - Options and results of the ONNX importer ------===//

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/Signature.h"
#include "ModelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::test;
using onnx::TensorProto;

namespace {

class OnnxImportTest : public testing::Test {
protected:
  static func::FuncOp getMain(const Imported &imported) {
    ModuleOp module = imported.result.module.get();
    return *module.getBody()->getOps<func::FuncOp>().begin();
  }
  template <typename OpT> static OpT getFirst(const Imported &imported) {
    auto ops = getMain(imported).getBody().front().getOps<OpT>();
    return ops.empty() ? OpT() : *ops.begin();
  }

  MLIRContext context;
};

TEST_F(OnnxImportTest, ShapeOfAnInputBindsItsSymbolsEverywhere) {
  ModelBuilder builder;
  builder.input("x", {"N", 4});
  builder.input("y", {"N", "M"});
  builder.node("Add", {"x", "y"}, {"z"});
  builder.output("z");
  OnnxImportOptions options;
  options.shapes["x"] = {3, 4};
  Imported imported = import(builder, &context, options);
  ASSERT_TRUE(imported.result.module) << imported.messages;
  Signature signature = Signature::of(getMain(imported));
  EXPECT_EQ(signature.inputs[0].type.getShape(), ArrayRef<int64_t>({3, 4}));
  EXPECT_EQ(signature.inputs[1].type.getShape(),
            ArrayRef<int64_t>({3, ShapedType::kDynamic}));
  EXPECT_EQ(signature.inputs[1].symbols, (SmallVector<std::string>{"", "M"}));
}

TEST_F(OnnxImportTest, DimensionByName) {
  ModelBuilder builder;
  builder.input("x", {"N", 4});
  builder.node("Exp", {"x"}, {"y"});
  builder.output("y");
  OnnxImportOptions options;
  options.dims["N"] = 7;
  Imported imported = import(builder, &context, options);
  ASSERT_TRUE(imported.result.module) << imported.messages;
  EXPECT_EQ(Signature::of(getMain(imported)).outputs[0].type.getShape(),
            ArrayRef<int64_t>({7, 4}));
}

TEST_F(OnnxImportTest, BadShapesAndDimensionsAreErrors) {
  ModelBuilder builder;
  builder.input("x", {"N", 4});
  builder.input("y", {"N"});
  builder.node("Exp", {"x"}, {"z"});
  builder.output("z");
  auto getMessage = [&](StringRef name, SmallVector<int64_t> shape,
                        StringRef dim = "", int64_t extent = 0) {
    OnnxImportOptions options;
    if (!name.empty())
      options.shapes[name] = shape;
    if (!dim.empty())
      options.dims[dim] = extent;
    Imported imported = import(builder, &context, options);
    EXPECT_FALSE(imported.result.module);
    EXPECT_EQ(imported.result.status, OnnxImportStatus::BadInput);
    return imported.messages;
  };
  EXPECT_EQ(getMessage("q", {1}),
            "'test.onnx': expected a shape for a graph input but got 'q'\n");
  EXPECT_EQ(getMessage("x", {1}),
            "'test.onnx': expected 2 extents for graph input 'x' but got 1\n");
  EXPECT_EQ(getMessage("x", {1, 5}),
            "'test.onnx': expected an extent of 4 in dimension 1 of graph "
            "input 'x' but got 5\n");
  EXPECT_EQ(getMessage("x", {-1, 4}),
            "'test.onnx': expected extents of at least 0 for graph input 'x' "
            "but got -1\n");
  EXPECT_EQ(getMessage("x", {2, 4}, "N", 3),
            "'test.onnx': expected one extent for dimension 'N' but got 3 and "
            "2\n");
  EXPECT_EQ(getMessage("", {}, "Q", 3),
            "'test.onnx': expected the name of a dimension but got 'Q'\n");
  EXPECT_EQ(getMessage("", {}, "N", -2),
            "'test.onnx': expected extents of at least 0 but got -2 for "
            "dimension 'N'\n");
  EXPECT_EQ(getMessage("", {}, "N", INT64_MAX),
            "'test.onnx': graph input 'x': expected a tensor whose size fits "
            "63 bits\n");
}

TEST_F(OnnxImportTest, ValuesOfInputsMakeAxesKnown) {
  ModelBuilder builder(18);
  builder.input("x", {2, 3});
  builder.input("axes", {"R"}, TensorProto::INT64);
  builder.node("ReduceSum", {"x", "axes"}, {"y"});
  builder.output("y");
  Imported without = import(builder, &context);
  EXPECT_EQ(without.result.status, OnnxImportStatus::Unsupported);
  EXPECT_TRUE(without.result.mayNeedValues);
  EXPECT_EQ(without.messages,
            "'test.onnx': not supported:\n  op 'ReduceSum' opset 18 at node "
            "'ReduceSum#y': 'axes' is not known before the model runs (shapes "
            "or values of its inputs may make it known)\n");

  std::optional<HostTensor> axes =
      HostTensor::create({1}, IntegerType::get(&context, 64));
  axes->setInt(0, -1);
  OnnxImportOptions options;
  options.values["axes"] = &*axes;
  Imported with = import(builder, &context, options);
  ASSERT_TRUE(with.result.module) << with.messages;
  EXPECT_EQ(getFirst<ReduceSumOp>(with).getAxes(), ArrayRef<int64_t>(1));
  // The function still takes the input.
  EXPECT_EQ(getMain(with).getNumArguments(), 2u);

  std::optional<HostTensor> wrong =
      HostTensor::create({1}, IntegerType::get(&context, 32));
  options.values["axes"] = &*wrong;
  Imported bad = import(builder, &context, options);
  EXPECT_EQ(bad.messages,
            "'test.onnx': expected a value of type 'tensor<1xi64>' for graph "
            "input 'axes' but got 'tensor<1xi32>'\n");
}

TEST_F(OnnxImportTest, LargeConstantsReferToTheModel) {
  ModelBuilder builder;
  TensorProto *tensor = builder.integers("w", {});
  tensor->set_dims(0, 1000);
  tensor->set_raw_data(std::string(8000, '\1'));
  builder.input("x", {1000}, TensorProto::INT64);
  builder.node("Add", {"x", "w"}, {"y"});
  builder.output("y");
  Imported imported = import(builder, &context);
  ASSERT_TRUE(imported.result.module) << imported.messages;
  auto value = dyn_cast<DenseResourceElementsAttr>(
      getFirst<ConstantOp>(imported).getValue());
  ASSERT_TRUE(value);
  EXPECT_EQ(value.getRawHandle().getKey(), "w");
  // The model is gone; the context keeps what the constant refers to.
  ArrayRef<char> data = value.getRawHandle().getBlob()->getData();
  ASSERT_EQ(data.size(), 8000u);
  EXPECT_TRUE(llvm::all_of(data, [](char byte) { return byte == 1; }));
}

TEST_F(OnnxImportTest, AllUnsupportedNodesInOneError) {
  ModelBuilder builder(13);
  builder.input("x", {4});
  builder.node("NonZero", {"x"}, {"a"})->set_name("first");
  // What depends on an unsupported node is still looked at.
  builder.node("Gelu", {"a"}, {"b"});
  builder.node("Relu", {"b"}, {"c"});
  builder.node("Foo", {"c"}, {"d"})->set_domain("com.acme");
  builder.model.add_opset_import()->set_domain("com.acme");
  builder.output("d");
  Imported imported = import(builder, &context);
  EXPECT_EQ(imported.result.status, OnnxImportStatus::Unsupported);
  EXPECT_FALSE(imported.result.mayNeedValues);
  EXPECT_EQ(imported.messages,
            "'test.onnx': not supported:\n"
            "  op 'NonZero' opset 13 at node 'first'\n"
            "  op 'Gelu' opset 13 at node 'Gelu#b': the op exists from opset "
            "20 on\n"
            "  op 'com.acme.Foo' opset 0 at node 'Foo#d'\n");
}

} // namespace
