//===- OutlineKernels.cpp - Groups become kernel functions ----------------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "FuseDialect/Transforms/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Which results of a group are graph outputs that no other group reads.
static llvm::SmallBitVector getFinalResults(GroupOp group) {
  llvm::SmallBitVector final(group.getNumResults());
  for (auto [number, result] : llvm::enumerate(group.getResults()))
    final[number] = !result.use_empty() &&
                    llvm::all_of(result.getUsers(), [](Operation *user) {
                      return isa<func::ReturnOp>(user);
                    });
  return final;
}

namespace {

/// Finds functions for groups: a new one, or that of an equal group.
class KernelCache {
public:
  explicit KernelCache(ModuleOp module) : module(module), symbols(module) {}

  func::FuncOp getKernel(GroupOp group);

private:
  struct Entry {
    GroupOp group;
    llvm::SmallBitVector final;
    func::FuncOp kernel;
  };
  llvm::hash_code hash(GroupOp group);
  bool areEqual(const Entry &entry, GroupOp group,
                const llvm::SmallBitVector &final);
  func::FuncOp createKernel(GroupOp group, const llvm::SmallBitVector &final);

  ModuleOp module;
  SymbolTable symbols;
  DenseMap<size_t, SmallVector<Entry>> entries;
};

} // namespace

llvm::hash_code KernelCache::hash(GroupOp group) {
  llvm::hash_code code(0);
  for (Type type : group.getInputs().getTypes())
    code = llvm::hash_combine(code, type);
  for (Operation &op : group.getBody().front())
    code =
        llvm::hash_combine(code, OperationEquivalence::computeHash(
                                     &op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  return code;
}

bool KernelCache::areEqual(const Entry &entry, GroupOp group,
                           const llvm::SmallBitVector &final) {
  GroupOp other = entry.group;
  return entry.final == final &&
         other.getConfigAttr() == group.getConfigAttr() &&
         other.getInputs().getTypes() == group.getInputs().getTypes() &&
         OperationEquivalence::isRegionEquivalentTo(
             &other.getBody(), &group.getBody(),
             OperationEquivalence::IgnoreLocations);
}

func::FuncOp KernelCache::createKernel(GroupOp group,
                                       const llvm::SmallBitVector &final) {
  MLIRContext *context = module.getContext();
  SmallVector<Type> types(group.getInputs().getTypes());
  llvm::append_range(types, group.getResultTypes());
  auto function = func::FuncOp::create(
      group.getLoc(), group.getName(),
      FunctionType::get(context, types, group.getResultTypes()));
  function.setPrivate();
  function->setAttr(kKernelAttrName, UnitAttr::get(context));
  if (ConfigAttr config = group.getConfigAttr())
    function->setAttr(kConfigAttrName, config);
  // Makes the name unique, leaving those of the user's functions alone.
  symbols.insert(function);

  Block *entry = function.addEntryBlock();
  OpBuilder builder(context);
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  for (auto [inside, argument] :
       llvm::zip(group.getBody().getArguments(), entry->getArguments()))
    mapping.map(inside, argument);
  for (Operation &op : group.getBody().front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results =
      llvm::map_to_vector(group.getYield().getValues(),
                          [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, group.getLoc(), results);
  unsigned inputs = group.getInputs().size();
  for (unsigned result : final.set_bits())
    function.setArgAttr(inputs + result, kFinalAttrName,
                        UnitAttr::get(context));
  return function;
}

func::FuncOp KernelCache::getKernel(GroupOp group) {
  llvm::SmallBitVector final = getFinalResults(group);
  SmallVector<Entry> &bucket = entries[hash(group)];
  for (Entry &entry : bucket)
    if (areEqual(entry, group, final))
      return entry.kernel;
  func::FuncOp kernel = createKernel(group, final);
  bucket.push_back({group, final, kernel});
  return kernel;
}

/// The extents of all values in a group of which one has a dynamic shape.
/// `dims` holds the extents of the tensors around the groups.
static FailureOr<DenseMap<Value, SmallVector<OpFoldResult>>>
reifyGroup(GroupOp group, OpBuilder &builder,
           const DenseMap<Value, SmallVector<OpFoldResult>> &dims) {
  DenseMap<Value, SmallVector<OpFoldResult>> inside;
  for (auto [argument, input] :
       llvm::zip_equal(group.getBody().getArguments(), group.getInputs())) {
    auto found = dims.find(input);
    inside[argument] =
        found != dims.end()
            ? found->second
            : tensor::getMixedSizes(builder, group.getLoc(), input);
  }
  auto getDims = [&](Value value) { return inside.lookup(value); };
  for (Operation &op : group.getBody().front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      inside[op.getResult(0)] =
          getAsIndexOpFoldResult(op.getContext(), type.getShape());
      continue;
    }
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(&op, builder, shapes, getDims)))
      return op.emitError()
             << "expected an op whose result shape can be computed but got '"
             << op.getName() << "'";
    for (auto [result, extents] : llvm::zip_equal(op.getResults(), shapes))
      inside[result] = extents;
  }
  return inside;
}

/// Builds the destinations of a group's results in front of it, and notes the
/// extents of those that are dynamic in `dims`.
static FailureOr<SmallVector<Value>>
createDestinations(GroupOp group, OpBuilder &builder,
                   DenseMap<Value, SmallVector<OpFoldResult>> &dims) {
  Location loc = group.getLoc();
  bool isStatic = llvm::all_of(group.getResultTypes(), [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  });
  SmallVector<Value> destinations;
  if (isStatic) {
    for (Type type : group.getResultTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      destinations.push_back(tensor::EmptyOp::create(
          builder, loc, tensor.getShape(), tensor.getElementType()));
    }
    return destinations;
  }
  FailureOr<DenseMap<Value, SmallVector<OpFoldResult>>> inside =
      reifyGroup(group, builder, dims);
  if (failed(inside))
    return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(group.getResults(), group.getYield().getValues())) {
    dims[result] = inside->lookup(yielded);
    Value empty = tensor::EmptyOp::create(
        builder, loc, dims[result],
        cast<RankedTensorType>(result.getType()).getElementType());
    if (empty.getType() != result.getType())
      empty = tensor::CastOp::create(builder, loc, result.getType(), empty);
    destinations.push_back(empty);
  }
  return destinations;
}

namespace {

struct OutlineKernelsPass
    : public mlir::fuse::impl::OutlineKernelsBase<OutlineKernelsPass> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    KernelCache kernels(module);
    SmallVector<GroupOp> outlined;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (function->hasAttr(kKernelAttrName) || function.isDeclaration())
        continue;
      DenseMap<Value, SmallVector<OpFoldResult>> dims;
      for (GroupOp group :
           llvm::to_vector(function.getBody().getOps<GroupOp>())) {
        OpBuilder builder(group);
        func::FuncOp kernel = kernels.getKernel(group);
        FailureOr<SmallVector<Value>> destinations =
            createDestinations(group, builder, dims);
        if (failed(destinations))
          return signalPassFailure();
        auto launch = LaunchOp::create(
            builder, group.getLoc(), group.getResultTypes(),
            FlatSymbolRefAttr::get(kernel), group.getNameAttr(),
            group.getInputs(), *destinations);
        for (auto [before, after] :
             llvm::zip_equal(group.getResults(), launch.getResults()))
          if (auto found = dims.find(before); found != dims.end()) {
            SmallVector<OpFoldResult> extents = found->second;
            dims[after] = std::move(extents);
          }
        group.replaceAllUsesWith(launch);
        outlined.push_back(group);
      }
    }
    // Kept until now, as later groups are compared with them.
    for (GroupOp group : outlined)
      group.erase();
  }
};

} // namespace
