//===- VectorizeKernels.cpp - Kernels on tensors to loops and registers ---===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "KernelVectorizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_VECTORIZEKERNELS
#include "FuseDialect/Conversion/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// A one-dimensional view of a buffer.
static Value flatten(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 1)
    return buffer;
  if (type.getRank() == 0)
    return memref::ExpandShapeOp::create(
        builder, loc, MemRefType::get({1}, type.getElementType()), buffer,
        ArrayRef<ReassociationIndices>{});
  auto all = llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
  return memref::CollapseShapeOp::create(builder, loc, buffer,
                                         ArrayRef<ReassociationIndices>(all));
}

/// Checks what this pass relies on.
static LogicalResult verifyKernel(func::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitError("expected a kernel of one block");
  for (Type type : kernel.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return kernel.emitError()
             << "expected a kernel on tensors but got an argument of type "
             << type;
    if (!tensor.hasStaticShape())
      return kernel.emitError()
             << "kernels of dynamic shape are not supported yet, got " << type
             << "; give the model's shapes";
  }
  if (kernel.getNumArguments() < kernel.getNumResults() ||
      kernel.getNumResults() == 0)
    return kernel.emitError("expected a destination argument for each result");
  return success();
}

/// Replaces a kernel on tensors by one on buffers. It computes iterations
/// [begin, end) of `fuse.iterations`.
static LogicalResult vectorizeKernel(func::FuncOp kernel, ConfigAttr config) {
  if (failed(verifyKernel(kernel)))
    return failure();
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    types.push_back(MemRefType::get(tensor.getShape(),
                                    getMemoryType(tensor.getElementType())));
  }
  types.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, kernel.getName(),
                                       builder.getFunctionType(types, {}));
  function.setVisibility(kernel.getVisibility());
  function->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> buffers;
  for (Value argument : entry->getArguments().drop_back(2))
    buffers.push_back(flatten(builder, loc, argument));

  FailureOr<KernelShape> shape = analyzeKernel(kernel, builder);
  if (failed(shape))
    return failure();
  // Scalar constants of the kernel that bodies capture.
  IRMapping constants;
  for (auto constant : kernel.getBody().front().getOps<arith::ConstantOp>())
    if (!isa<ShapedType>(constant.getType()))
      constants.map(constant.getResult(),
                    builder.clone(*constant)->getResult(0));
  for (auto [from, to] : constants.getValueMap())
    from.replaceAllUsesWith(to);

  KernelVectorizer vectorizer(builder, kernel, config, std::move(*shape),
                              buffers);
  function->setAttr(kIterationsAttrName,
                    builder.getI64IntegerAttr(vectorizer.getIterations()));
  int64_t grain =
      llvm::divideCeil(config.getGrain(), vectorizer.getElementsPerIteration());
  function->setAttr(kGrainAttrName, builder.getI64IntegerAttr(grain));
  Value begin = *(entry->args_end() - 2), end = *(entry->args_end() - 1);
  if (failed(vectorizer.emit(begin, end)))
    return failure();
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
  kernel.erase();
  return success();
}

namespace {

struct VectorizeKernelsPass
    : public mlir::fuse::impl::VectorizeKernelsBase<VectorizeKernelsPass> {
  using VectorizeKernelsBase::VectorizeKernelsBase;

  void runOnOperation() override {
    auto kernels = llvm::to_vector(llvm::make_filter_range(
        getOperation().getOps<func::FuncOp>(), [](func::FuncOp function) {
          return function->hasAttr(kKernelAttrName) &&
                 function.getNumResults() != 0;
        }));
    bool failedAny = false;
    for (func::FuncOp kernel : kernels) {
      auto config = kernel->getAttrOfType<ConfigAttr>(kConfigAttrName);
      if (!config)
        config = ConfigAttr::get(&getContext(), 64, 4, StorePolicy::regular,
                                 65536, 16384);
      failedAny |= failed(vectorizeKernel(kernel, config));
    }
    if (failedAny)
      signalPassFailure();
  }
};

} // namespace
