//===- FuseToLinalg.cpp - The fuse dialect to linalg on tensors -----------===//

#include "FuseToLinalg.h"
#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_FUSETOLINALGPASS
#include "FuseDialect/Conversion/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

namespace {

/// Unsigned tensors and buffers become signless.
class SignlessTypeConverter : public TypeConverter {
public:
  SignlessTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](RankedTensorType type) { return toSignless(type); });
    addConversion([](MemRefType type) -> Type {
      return type.clone(toSignless(type.getElementType()));
    });
  }
};

/// The constant's data under a signless type, shared where it is a resource.
struct LowerConstant : public OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = toSignless(op.getType());
    TypedAttr value = op.getValue();
    if (type != op.getType()) {
      if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
        value = dense.bitcast(type.getElementType());
      else if (auto resource =
                   dyn_cast<DenseResourceElementsAttr>(op.getValue()))
        value = DenseResourceElementsAttr::get(type, resource.getRawHandle());
      else
        return op.emitOpError(
            "expected a dense or dense_resource attribute for an unsigned "
            "constant");
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type, value);
    return success();
  }
};

/// A barrier has no meaning for what is not grouped any more.
struct ForwardBarrier : public OpConversionPattern<BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getInput());
    return success();
  }
};

/// Any op without regions, on signless types: launches, calls, returns, and ops
/// of other dialects that only move tensors.
struct ConvertTypes : public ConversionPattern {
  ConvertTypes(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    bool isOurs =
        isa_and_nonnull<FuseDialect>(op->getDialect()) && !isa<LaunchOp>(op);
    if (isOurs || op->getNumRegions() || op->getNumSuccessors())
      return rewriter.notifyMatchFailure(op,
                                         "not an op that only moves values");
    FailureOr<Operation *> converted =
        convertOpResultTypes(op, operands, *getTypeConverter(), rewriter);
    if (failed(converted))
      return failure();
    rewriter.replaceOp(op, *converted);
    return success();
  }
};

struct FuseToLinalgPass
    : public fuse::impl::FuseToLinalgPassBase<FuseToLinalgPass> {
  void runOnOperation() override;

private:
  LogicalResult checkInput();
  LogicalResult convertOps();
  void useDestinations();
  void eraseDeadOps();
};

} // namespace

void FuseToLinalgPass::runOnOperation() {
  if (failed(checkInput()) || failed(convertOps()))
    return signalPassFailure();
  useDestinations();
  eraseDeadOps();
}

/// Whether a type changes.
static bool isUnsignedShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.getElementType().isUnsignedInteger();
}

/// A group is a kernel still to be made, whose body cannot be lowered in place.
/// Control flow has no place in a graph of tensors: its types are not
/// converted.
LogicalResult FuseToLinalgPass::checkInput() {
  WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
    if (auto group = dyn_cast<GroupOp>(op))
      return group.emitOpError()
             << "expected group '" << group.getName()
             << "' to be outlined before the lowering to linalg";
    bool isControlFlow = (op->getNumRegions() || op->getNumSuccessors()) &&
                         !isa<FunctionOpInterface>(op);
    if (isControlFlow &&
        (llvm::any_of(op->getOperandTypes(), isUnsignedShape) ||
         llvm::any_of(op->getResultTypes(), isUnsignedShape)))
      return op->emitOpError(
          "expected no unsigned tensors to pass through control flow");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult FuseToLinalgPass::convertOps() {
  MLIRContext *context = &getContext();
  SignlessTypeConverter converter;
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      return converter.isLegal(function.getArgumentTypes()) &&
             converter.isLegal(function.getResultTypes()) &&
             llvm::all_of(function->getRegions(), [&](Region &region) {
               return converter.isLegal(&region);
             });
    bool isOurs = isa_and_nonnull<FuseDialect>(op->getDialect());
    return (!isOurs || isa<LaunchOp>(op)) && converter.isLegal(op);
  });

  RewritePatternSet patterns(context);
  populateElementwiseToLinalg(patterns, converter);
  populateReductionsToLinalg(patterns, converter);
  populateRowOpsToLinalg(patterns, converter);
  populateInjectiveToLinalg(patterns, converter);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  patterns.add<LowerConstant, ForwardBarrier, ConvertTypes>(converter, context);

  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return applyPartialConversion(getOperation(), target, std::move(patterns),
                                config);
}

/// Computes a kernel's results in its destinations, where the op that computes
/// one takes it for the uninitialised tensor that it has.
void FuseToLinalgPass::useDestinations() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!function->hasAttr(kKernelAttrName) || function.isExternal() ||
        !function.getBody().hasOneBlock())
      continue;
    Operation *terminator = function.getBody().front().getTerminator();
    unsigned numInputs =
        function.getNumArguments() - terminator->getNumOperands();
    if (function.getNumArguments() < terminator->getNumOperands())
      continue;
    for (OpOperand &result : terminator->getOpOperands()) {
      auto producer = result.get().getDefiningOp<linalg::LinalgOp>();
      if (!producer)
        continue;
      OpOperand *init = producer.getTiedOpOperand(cast<OpResult>(result.get()));
      // A reduction starts from a fill.
      if (auto fill = init->get().getDefiningOp<linalg::FillOp>();
          fill && fill->hasOneUse())
        init = &fill.getOutputsMutable()[0];
      Value destination =
          function.getArgument(numInputs + result.getOperandNumber());
      if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
          init->get().getType() != destination.getType())
        continue;
      Operation *empty = init->get().getDefiningOp();
      init->set(destination);
      // The result of a fill has the type of its destination.
      if (empty->use_empty())
        empty->erase();
    }
  }
}

/// Constants that became part of bodies, and scalar ops whose results constant
/// operands made needless. Ops of the graph stay, used or not.
void FuseToLinalgPass::eraseDeadOps() {
  getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    bool isScalar = isa_and_nonnull<linalg::GenericOp>(op->getParentOp());
    if ((isScalar || isa<arith::ConstantOp>(op)) && isOpTriviallyDead(op))
      op->erase();
  });
}
