//===- LowerLaunches.cpp - The binary interface of kernels and entries ----===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fuse {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "FuseDialect/Conversion/Passes.h.inc"
} // namespace mlir::fuse

using namespace mlir;
using namespace mlir::fuse;

/// Name of the runtime's loop; see FuseRuntime.h.
static constexpr StringLiteral kParallelFor = "fuse_rt_parallel_for";

/// Replaces a kernel's buffer arguments by bare pointers that do not alias and
/// its index arguments by i64. Descriptors are rebuilt at the start, where LLVM
/// dissolves them.
static void lowerKernelSignature(func::FuncOp kernel,
                                 const LLVMTypeConverter &converter) {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context),
       i64 = IntegerType::get(context, 64);
  Block &body = kernel.getBody().front();
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&body);
  Location loc = kernel.getLoc();
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  Builder attrs(context);
  NamedAttribute noAlias =
      attrs.getNamedAttr("llvm.noalias", attrs.getUnitAttr());
  NamedAttribute noUndef =
      attrs.getNamedAttr("llvm.noundef", attrs.getUnitAttr());
  for (BlockArgument argument : body.getArguments()) {
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      argument.setType(pointer);
      Value descriptor = MemRefDescriptor::fromStaticShape(
          builder, loc, converter, type, argument);
      Operation *cast = UnrealizedConversionCastOp::create(
          builder, loc, TypeRange(type), descriptor);
      argument.replaceUsesWithIf(cast->getResult(0), [&](OpOperand &use) {
        return use.getOwner() != cast &&
               !isa<LLVM::InsertValueOp>(use.getOwner());
      });
      types.push_back(pointer);
      attributes.push_back(attrs.getDictionaryAttr({noAlias, noUndef}));
      continue;
    }
    argument.setType(i64);
    Value index = arith::IndexCastOp::create(builder, loc,
                                             builder.getIndexType(), argument);
    argument.replaceAllUsesExcept(index, index.getDefiningOp());
    types.push_back(i64);
    attributes.push_back(attrs.getDictionaryAttr({noUndef}));
  }
  kernel.setFunctionType(FunctionType::get(context, types, {}));
  kernel.setAllArgAttrs(attributes);
  // Used up; tools that do not know the dialect can read what is left.
  kernel->removeAttr(kConfigAttrName);
}

/// The function that the runtime calls for a part of a kernel's iterations: its
/// first argument points to the kernel's pointers.
static func::FuncOp createTask(func::FuncOp kernel, SymbolTable &symbols) {
  MLIRContext *context = kernel.getContext();
  OpBuilder builder(context);
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context),
       i64 = builder.getI64Type();
  auto task =
      func::FuncOp::create(builder, loc, (kernel.getName() + ".task").str(),
                           builder.getFunctionType({pointer, i64, i64}, {}));
  task.setPrivate();
  symbols.insert(task);
  Block *body = task.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> operands;
  unsigned pointers = kernel.getNumArguments() - 2;
  for (unsigned i = 0; i < pointers; ++i) {
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, body->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  operands.push_back(body->getArgument(1));
  operands.push_back(body->getArgument(2));
  func::CallOp::create(builder, loc, kernel, operands);
  func::ReturnOp::create(builder, loc);
  return task;
}

/// The declaration of fuse_rt_parallel_for.
static void declareParallelFor(ModuleOp module, SymbolTable &symbols) {
  if (symbols.lookup(kParallelFor))
    return;
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()),
       i64 = builder.getI64Type();
  auto declaration = func::FuncOp::create(
      builder, module.getLoc(), kParallelFor,
      builder.getFunctionType({pointer, pointer, pointer, i64, i64, i64}, {}));
  declaration.setPrivate();
  symbols.insert(declaration);
}

namespace {

/// Rewrites one entry function to pointers.
class EntryLowering {
public:
  EntryLowering(func::FuncOp entry, SymbolTable &symbols,
                DenseMap<Operation *, func::FuncOp> &tasks)
      : entry(entry), symbols(symbols), tasks(tasks),
        builder(entry.getContext()),
        pointer(LLVM::LLVMPointerType::get(entry.getContext())),
        i64(builder.getI64Type()) {}

  LogicalResult run();

private:
  void lowerSignature();
  LogicalResult lowerLaunch(LaunchOp launch);
  Value createConstant(Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  }

  func::FuncOp entry;
  SymbolTable &symbols;
  DenseMap<Operation *, func::FuncOp> &tasks;
  OpBuilder builder;
  Type pointer, i64;
  DenseMap<Value, Value> pointers;
  Value contextArgument;
};

} // namespace

/// Reads the data pointers out of the input and output arrays.
void EntryLowering::lowerSignature() {
  Block &body = entry.getBody().front();
  Location loc = entry.getLoc();
  unsigned old = body.getNumArguments();
  size_t inputs = cast<DictionaryAttr>(entry->getAttr(kSignatureAttrName))
                      .getAs<ArrayAttr>("inputs")
                      .size();
  SmallVector<Value> arguments;
  for (int i = 0; i < 5; ++i)
    arguments.push_back(body.addArgument(pointer, loc));
  contextArgument = arguments[0];
  builder.setInsertionPointToStart(&body);
  auto bufferType =
      LLVM::LLVMStructType::getLiteral(entry.getContext(), {pointer, pointer});
  for (unsigned i = 0; i < old; ++i) {
    Value argument = body.getArgument(i);
    if (i < 2) {
      pointers[argument] = arguments[1 + i];
      continue;
    }
    unsigned number = i - 2;
    bool isInput = number < inputs;
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, bufferType,
        isInput ? arguments[3] : arguments[4],
        ArrayRef<LLVM::GEPArg>{
            static_cast<int32_t>(isInput ? number : number - inputs), 0});
    pointers[argument] = LLVM::LoadOp::create(builder, loc, pointer, slot);
  }
}

LogicalResult EntryLowering::lowerLaunch(LaunchOp launch) {
  Location loc = launch.getLoc();
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  auto iterations =
      kernel ? kernel->getAttrOfType<IntegerAttr>(kIterationsAttrName)
             : IntegerAttr();
  auto grain = kernel ? kernel->getAttrOfType<IntegerAttr>(kGrainAttrName)
                      : IntegerAttr();
  if (!iterations || !grain)
    return launch.emitOpError() << "expected the kernel '" << launch.getKernel()
                                << "' to be vectorised";
  SmallVector<Value> operands;
  for (Value operand : launch.getOperands())
    operands.push_back(pointers.lookup(operand));
  builder.setInsertionPoint(launch);
  Value begin = createConstant(loc, 0),
        end = createConstant(loc, iterations.getInt());
  if (iterations.getInt() < 2 * grain.getInt()) {
    operands.append({begin, end});
    func::CallOp::create(builder, loc, kernel, operands);
    return success();
  }
  func::FuncOp &task = tasks[kernel];
  if (!task)
    task = createTask(kernel, symbols);
  declareParallelFor(entry->getParentOfType<ModuleOp>(), symbols);
  Value packed;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry.getBody().front());
    Value count = createConstant(loc, operands.size());
    packed = LLVM::AllocaOp::create(builder, loc, pointer, pointer, count, 8);
  }
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, packed,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    LLVM::StoreOp::create(builder, loc, operand, slot);
  }
  Value function = func::ConstantOp::create(
      builder, loc, task.getFunctionType(), task.getName());
  Value address = UnrealizedConversionCastOp::create(
                      builder, loc, TypeRange(pointer), function)
                      .getResult(0);
  func::CallOp::create(builder, loc, kParallelFor, TypeRange(),
                       ValueRange{contextArgument, address, packed, begin, end,
                                  createConstant(loc, grain.getInt())});
  return success();
}

LogicalResult EntryLowering::run() {
  if (!isa_and_nonnull<DictionaryAttr>(entry->getAttr(kSignatureAttrName)))
    return entry.emitError()
           << "expected an entry function with '" << kSignatureAttrName << "'";
  unsigned old = entry.getNumArguments();
  lowerSignature();
  for (Operation &op : llvm::make_early_inc_range(entry.getBody().front())) {
    builder.setInsertionPoint(&op);
    if (auto view = dyn_cast<memref::ViewOp>(op)) {
      std::optional<int64_t> offset = getConstantIntValue(view.getByteShift());
      if (!offset)
        return view.emitOpError("expected a constant offset");
      pointers[view] = LLVM::GEPOp::create(
          builder, op.getLoc(), pointer, builder.getI8Type(),
          pointers.lookup(view.getSource()),
          ArrayRef<LLVM::GEPArg>{
              LLVM::GEPArg(createConstant(op.getLoc(), *offset))});
    } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      std::optional<int64_t> bytes = getByteCount(copy.getSource().getType());
      LLVM::MemcpyOp::create(builder, op.getLoc(),
                             pointers.lookup(copy.getTarget()),
                             pointers.lookup(copy.getSource()),
                             createConstant(op.getLoc(), bytes.value_or(0)),
                             /*isVolatile=*/false);
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (failed(lowerLaunch(launch)))
        return failure();
    }
  }
  Block &body = entry.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<memref::ViewOp, memref::CopyOp, LaunchOp>(op))
      op.erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<arith::ConstantIndexOp>(op) && op.use_empty())
      op.erase();
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  builder.setInsertionPoint(terminator);
  Value zero =
      LLVM::ConstantOp::create(builder, entry.getLoc(), builder.getI32Type(),
                               builder.getI32IntegerAttr(0));
  func::ReturnOp::create(builder, entry.getLoc(), zero);
  terminator.erase();
  body.eraseArguments(0, old);
  entry.setFunctionType(FunctionType::get(
      entry.getContext(), SmallVector<Type>(5, pointer), builder.getI32Type()));
  SymbolTable::setSymbolName(entry, ("fuse_entry_" + entry.getName()).str());
  return success();
}

namespace {

struct LowerLaunchesPass
    : public mlir::fuse::impl::LowerLaunchesBase<LowerLaunchesPass> {
  using LowerLaunchesBase::LowerLaunchesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    LLVMTypeConverter converter(&getContext());
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      if (function->hasAttr(kKernelAttrName))
        lowerKernelSignature(function, converter);
      else
        entries.push_back(function);
    }
    DenseMap<Operation *, func::FuncOp> tasks;
    for (func::FuncOp entry : entries)
      if (failed(EntryLowering(entry, symbols, tasks).run()))
        return signalPassFailure();
  }
};

} // namespace
