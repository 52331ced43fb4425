//===- HostileModelTest.cpp - Broken and hostile ONNX models --------------===//
//
// Whatever a file holds, importing it gives a verified module or an error. Run
// with the `asan` preset, this also finds what only reads out of bounds.
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::fuse;
using namespace mlir::fuse::test;
using onnx::TensorProto;

namespace {

class HostileModelTest : public testing::Test {
protected:
  /// Imports bytes that may be anything.
  void check(llvm::ArrayRef<char> data) {
    Imported imported = import(data, &context);
    if (imported.result.module)
      EXPECT_TRUE(succeeded(verify(*imported.result.module)));
    else
      EXPECT_FALSE(imported.messages.empty());
  }
  std::string getMessage(const ModelBuilder &builder) {
    Imported imported = import(builder, &context);
    EXPECT_FALSE(imported.result.module);
    EXPECT_EQ(imported.result.status, OnnxImportStatus::BadInput);
    return imported.messages;
  }
  /// A model that uses a good part of the importer.
  static ModelBuilder makeModel() {
    ModelBuilder builder;
    builder.input("x", {"N", 8, 4});
    builder.integers("axes", {0});
    builder.integers("rest", {-1, 4});
    builder.node("Shape", {"x"}, {"shape"});
    builder.integers("zero", {0});
    auto *gather = builder.node("Gather", {"shape", "zero"}, {"n"});
    ModelBuilder::attribute(gather, "axis", 0);
    auto *concat = builder.node("Concat", {"n", "rest"}, {"target"});
    ModelBuilder::attribute(concat, "axis", 0);
    builder.node("Reshape", {"x", "target"}, {"r"});
    builder.node("Softmax", {"r"}, {"s"});
    auto *sum = builder.node("ReduceSum", {"s", "axes"}, {"t"});
    ModelBuilder::attribute(sum, "keepdims", 0);
    auto *split = builder.node("Split", {"t"}, {"u", "v"});
    ModelBuilder::attribute(split, "axis", 1);
    builder.node("Mul", {"u", "v"}, {"y"});
    TensorProto *scale = builder.integers("scale", {});
    scale->set_data_type(TensorProto::FLOAT16);
    scale->set_dims(0, 2);
    scale->set_raw_data(std::string("\0\x3c\0\x3c", 4));
    builder.node("Cast", {"scale"}, {"s32"});
    ModelBuilder::attribute(builder.model.mutable_graph()->mutable_node(8),
                            "to", 1);
    builder.node("Add", {"y", "s32"}, {"z"});
    auto *clip = builder.node("Local", {"z"}, {"w"});
    clip->set_domain("local");
    builder.model.add_opset_import()->set_domain("local");
    auto *function = builder.model.add_functions();
    function->set_name("Local");
    function->set_domain("local");
    function->add_opset_import()->set_version(17);
    function->add_input("a");
    function->add_output("b");
    auto *relu = function->add_node();
    relu->set_op_type("Relu");
    relu->add_input("a");
    relu->add_output("b");
    builder.output("w");
    return builder;
  }

  MLIRContext context;
};

TEST_F(HostileModelTest, TheModelItselfImports) {
  Imported imported = import(makeModel(), &context);
  EXPECT_TRUE(imported.result.module) << imported.messages;
}

TEST_F(HostileModelTest, EveryTruncation) {
  std::string data = makeModel().model.SerializeAsString();
  for (size_t size = 0; size < data.size(); ++size)
    check(ArrayRef<char>(data).take_front(size));
}

TEST_F(HostileModelTest, EveryFlippedByte) {
  std::string data = makeModel().model.SerializeAsString();
  for (size_t i = 0; i < data.size(); ++i) {
    for (char mask : {'\xff', '\x01', '\x80', '\x08'}) {
      std::string broken = data;
      broken[i] ^= mask;
      check(broken);
    }
  }
}

TEST_F(HostileModelTest, RandomEdits) {
  std::string data = makeModel().model.SerializeAsString();
  std::mt19937 random(0);
  auto below = [&](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    std::string broken = data;
    for (size_t edits = 1 + below(4); edits > 0 && !broken.empty(); --edits) {
      size_t at = below(broken.size()), length = below(12);
      switch (below(3)) {
      case 0:
        broken[at] = static_cast<char>(below(256));
        break;
      case 1:
        broken.erase(at, length);
        break;
      default:
        broken.insert(at, broken.substr(below(broken.size()), length));
        break;
      }
    }
    check(broken);
  }
}

TEST_F(HostileModelTest, RandomBytes) {
  std::mt19937 random(0);
  for (int round = 0; round < 200; ++round) {
    std::string data(4096, '\0');
    for (char &byte : data)
      byte = static_cast<char>(random());
    check(data);
  }
}

TEST_F(HostileModelTest, EmptyFile) {
  EXPECT_EQ(import(llvm::ArrayRef<char>(), &context).messages,
            "'test.onnx': expected an ONNX model with a graph\n");
}

TEST_F(HostileModelTest, DeeplyNestedMessages) {
  // A subgraph within a subgraph, and so on: more than protobuf follows.
  ModelBuilder builder;
  onnx::GraphProto *graph = builder.model.mutable_graph();
  for (int depth = 0; depth < 200; ++depth) {
    onnx::AttributeProto *attribute = graph->add_node()->add_attribute();
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  EXPECT_EQ(getMessage(builder),
            "'test.onnx': expected an ONNX model but the file is broken or "
            "something else\n");
}

TEST_F(HostileModelTest, CyclicGraph) {
  ModelBuilder builder;
  builder.input("x", {4});
  builder.node("Add", {"x", "b"}, {"a"})->set_name("first");
  builder.node("Exp", {"a"}, {"b"});
  builder.output("b");
  EXPECT_EQ(getMessage(builder),
            "'test.onnx': expected a graph without cycles, but node 'first' "
            "depends on itself or on a node that does\n");
}

TEST_F(HostileModelTest, RecursiveFunction) {
  ModelBuilder builder;
  builder.input("x", {4});
  builder.model.add_opset_import()->set_domain("local");
  builder.node("F", {"x"}, {"y"})->set_domain("local");
  builder.output("y");
  for (auto [name, callee] : {std::pair("F", "G"), {"G", "F"}}) {
    auto *function = builder.model.add_functions();
    function->set_name(name);
    function->set_domain("local");
    function->add_opset_import()->set_domain("local");
    function->add_input("a");
    function->add_output("b");
    auto *node = function->add_node();
    node->set_domain("local");
    node->set_op_type(callee);
    node->add_input("a");
    node->add_output("b");
  }
  EXPECT_EQ(getMessage(builder),
            "'F' op expected functions that do not call themselves\n");
}

TEST_F(HostileModelTest, ExponentialFunctions) {
  // Each function calls the next one twice: 2^40 nodes.
  ModelBuilder builder;
  builder.input("x", {4});
  builder.model.add_opset_import()->set_domain("local");
  builder.node("F0", {"x"}, {"y"})->set_domain("local");
  builder.output("y");
  for (int i = 0; i < 40; ++i) {
    auto *function = builder.model.add_functions();
    function->set_name("F" + std::to_string(i));
    function->set_domain("local");
    function->add_opset_import()->set_domain("local");
    function->add_opset_import()->set_version(17);
    function->add_input("a");
    function->add_output("c");
    for (auto [from, to] : {std::pair("a", "b"), {"b", "c"}}) {
      auto *node = function->add_node();
      node->set_op_type(i < 39 ? "F" + std::to_string(i + 1) : "Relu");
      node->set_domain(i < 39 ? "local" : "");
      node->add_input(from);
      node->add_output(to);
    }
  }
  EXPECT_EQ(getMessage(builder),
            "'test.onnx': expected at most 262144 nodes after the inlining of "
            "functions\n");
}

TEST_F(HostileModelTest, LongNamesInFunctions) {
  // 1 MiB of name, repeated by each of 1000 calls.
  ModelBuilder builder;
  builder.input("x", {4});
  builder.model.add_opset_import()->set_domain("local");
  for (int i = 0; i < 1000; ++i) {
    std::string output = "y" + std::to_string(i);
    builder.node("F", {"x"}, {output.c_str()})->set_domain("local");
  }
  builder.output("y0");
  auto *function = builder.model.add_functions();
  function->set_name("F");
  function->set_domain("local");
  function->add_opset_import()->set_version(17);
  function->add_input("a");
  function->add_output("b");
  auto *node = function->add_node();
  node->set_name(std::string(1 << 20, 'n'));
  node->set_op_type("Relu");
  node->add_input("a");
  node->add_output("b");
  EXPECT_EQ(getMessage(builder),
            "'test.onnx': expected at most 268435456 bytes of node names after "
            "the inlining of functions\n");
}

TEST_F(HostileModelTest, ManyLargeRanges) {
  ModelBuilder builder;
  builder.integers("zero", {0})->clear_dims();
  builder.integers("limit", {1 << 22})->clear_dims();
  builder.integers("one", {1})->clear_dims();
  for (int i = 0; i < 100; ++i) {
    std::string output = "y" + std::to_string(i);
    builder.node("Range", {"zero", "limit", "one"}, {output.c_str()});
  }
  builder.output("y0");
  Imported imported = import(builder, &context);
  EXPECT_EQ(imported.result.status, OnnxImportStatus::Unsupported);
  EXPECT_NE(imported.messages.find("op 'Range' opset 17 at node 'Range#y4': so "
                                   "many bytes made from so small a file"),
            std::string::npos);
}

TEST_F(HostileModelTest, LongChain) {
  ModelBuilder builder;
  builder.input("x0", {4});
  for (int i = 0; i < 10000; ++i) {
    std::string from = "x" + std::to_string(i);
    std::string to = "x" + std::to_string(i + 1);
    builder.node("Tanh", {from.c_str()}, {to.c_str()});
  }
  builder.output("x10000");
  Imported imported = import(builder, &context);
  EXPECT_TRUE(imported.result.module) << imported.messages;
}

TEST_F(HostileModelTest, HugeExtents) {
  ModelBuilder builder;
  builder.input("x", {INT64_MAX, 2});
  builder.node("Exp", {"x"}, {"y"});
  builder.output("y");
  EXPECT_EQ(getMessage(builder), "'test.onnx': graph input 'x': expected a "
                                 "tensor whose size fits 63 bits\n");

  ModelBuilder tile;
  tile.input("x", {1 << 20});
  tile.integers("repeats", {int64_t(1) << 42});
  tile.node("Tile", {"x", "repeats"}, {"y"});
  tile.output("y");
  EXPECT_EQ(getMessage(tile),
            "'Tile' op expected results whose size fits 63 bits\n");

  ModelBuilder fill;
  fill.integers("shape", {int64_t(1) << 40, int64_t(1) << 40});
  fill.node("ConstantOfShape", {"shape"}, {"y"});
  fill.output("y");
  EXPECT_EQ(getMessage(fill),
            "'ConstantOfShape' op expected results whose size fits 63 bits\n");
}

TEST_F(HostileModelTest, ConstantOfShapeTakesNoMemory) {
  ModelBuilder builder;
  builder.integers("shape", {int64_t(1) << 40});
  builder.node("ConstantOfShape", {"shape"}, {"y"});
  builder.output("y");
  Imported imported = import(builder, &context);
  EXPECT_TRUE(imported.result.module) << imported.messages;
}

TEST_F(HostileModelTest, InitializerOfHugeShape) {
  ModelBuilder builder;
  TensorProto *tensor = builder.integers("w", {1});
  tensor->set_dims(0, int64_t(1) << 50);
  builder.node("Neg", {"w"}, {"y"});
  builder.output("y");
  EXPECT_EQ(getMessage(builder),
            "'Neg' op input 'w': expected 1125899906842624 elements but got "
            "1\n");
  tensor->set_raw_data("12345678");
  EXPECT_EQ(getMessage(builder),
            "'Neg' op input 'w': expected 9007199254740992 bytes of data but "
            "got 8\n");
  tensor->add_dims(INT64_MAX);
  EXPECT_EQ(getMessage(builder),
            "'Neg' op input 'w': expected a tensor whose size fits 63 bits\n");
  tensor->set_dims(0, -1);
  EXPECT_EQ(getMessage(builder),
            "'Neg' op input 'w': expected extents of at least 0 but got -1\n");
  tensor->set_data_type(99);
  EXPECT_EQ(getMessage(builder),
            "'Neg' op input 'w': expected an element type but got 99\n");
}

} // namespace
