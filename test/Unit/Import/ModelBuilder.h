//===- ModelBuilder.h - ONNX models for tests -------------------*- C++ -*-===//

#ifndef FUSEDIALECT_TEST_UNIT_IMPORT_MODELBUILDER_H
#define FUSEDIALECT_TEST_UNIT_IMPORT_MODELBUILDER_H

#include "FuseDialect/Import/OnnxImport.h"
#include "onnx.pb.h"

namespace mlir::fuse::test {

/// An extent, or the symbol of a dynamic one.
using Dim = std::variant<int64_t, std::string>;

struct ModelBuilder {
  onnx::ModelProto model;

  explicit ModelBuilder(int64_t opset = 17) {
    model.set_ir_version(8);
    model.mutable_graph()->set_name("graph");
    model.add_opset_import()->set_version(opset);
  }

  void describe(onnx::ValueInfoProto *info, llvm::StringRef name,
                onnx::TensorProto::DataType type, llvm::ArrayRef<Dim> dims) {
    info->set_name(name.str());
    auto *tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const Dim &dim : dims) {
      auto *extent = tensor->mutable_shape()->add_dim();
      if (auto *value = std::get_if<int64_t>(&dim))
        extent->set_dim_value(*value);
      else
        extent->set_dim_param(std::get<std::string>(dim));
    }
  }
  void input(llvm::StringRef name, llvm::ArrayRef<Dim> dims,
             onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT) {
    describe(model.mutable_graph()->add_input(), name, type, dims);
  }
  void output(llvm::StringRef name) {
    model.mutable_graph()->add_output()->set_name(name.str());
  }
  onnx::TensorProto *integers(llvm::StringRef name,
                              llvm::ArrayRef<int64_t> values) {
    onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name.str());
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->add_dims(values.size());
    for (int64_t value : values)
      tensor->add_int64_data(value);
    return tensor;
  }
  onnx::NodeProto *node(llvm::StringRef op,
                        std::initializer_list<const char *> inputs,
                        std::initializer_list<const char *> outputs) {
    onnx::NodeProto *node = model.mutable_graph()->add_node();
    node->set_op_type(op.str());
    for (const char *name : inputs)
      node->add_input(name);
    for (const char *name : outputs)
      node->add_output(name);
    return node;
  }
  static onnx::AttributeProto *attribute(onnx::NodeProto *node,
                                         llvm::StringRef name, int64_t value) {
    onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(name.str());
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
    return attribute;
  }
};

/// An import with its messages.
struct Imported {
  OnnxImportResult result;
  std::string messages;
};

inline Imported import(llvm::ArrayRef<char> data, MLIRContext *context,
                       const OnnxImportOptions &options = {}) {
  Imported imported;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    imported.messages += diagnostic.str() + "\n";
    return success();
  });
  imported.result = importOnnx(data, "test.onnx", context, options);
  return imported;
}

inline Imported import(const ModelBuilder &builder, MLIRContext *context,
                       const OnnxImportOptions &options = {}) {
  std::string data = builder.model.SerializeAsString();
  return import(data, context, options);
}

} // namespace mlir::fuse::test

#endif // FUSEDIALECT_TEST_UNIT_IMPORT_MODELBUILDER_H
