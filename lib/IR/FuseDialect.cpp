//===- FuseDialect.cpp - The dialect, its attributes and interfaces -------===//

#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/IR/Signature.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fuse;

#include "FuseDialect/IR/FuseDialect.cpp.inc"
#include "FuseDialect/IR/FuseEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "FuseDialect/IR/FuseAttrs.cpp.inc"
#include "FuseDialect/IR/FuseInterfaces.cpp.inc"

void FuseDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "FuseDialect/IR/FuseAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "FuseDialect/IR/FuseOps.cpp.inc"
      >();
}

Operation *FuseDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, type, elements);
}

LogicalResult FuseDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPatternAttrName && !isa<PatternKindAttr>(attribute.getValue()))
    return op->emitOpError()
           << "expected '" << name << "' to be a #fuse.pattern but got "
           << attribute.getValue();
  if (name == kConfigAttrName && !isa<ConfigAttr>(attribute.getValue()))
    return op->emitOpError()
           << "expected '" << name << "' to be a #fuse.config but got "
           << attribute.getValue();
  if (name == kPhaseAttrName && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError()
           << "expected '" << name << "' to be the name of a phase but got "
           << attribute.getValue();
  if (name == kSignatureAttrName)
    return Signature::verify(op, attribute.getValue());
  return success();
}

LogicalResult ConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t vector, int64_t unroll, StorePolicy,
                                 int64_t scratch, int64_t grain) {
  if (vector != 16 && vector != 32 && vector != 64)
    return emitError() << "expected 'vector' to be 16, 32 or 64 bytes but got "
                       << vector;
  if (unroll < 1 || unroll > 16)
    return emitError() << "expected 'unroll' in [1, 16] but got " << unroll;
  if (scratch < 0 || scratch > (1 << 20))
    return emitError() << "expected 'scratch' in [0, 1048576] but got "
                       << scratch;
  if (grain < 1)
    return emitError() << "expected 'grain' of at least 1 but got " << grain;
  return success();
}

std::optional<int64_t> mlir::fuse::getElementCount(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return std::nullopt;
  int64_t count = 1;
  for (int64_t extent : shaped.getShape())
    if (llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

int64_t mlir::fuse::getElementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> mlir::fuse::getByteCount(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types) {
    std::optional<int64_t> count = getElementCount(type);
    if (!count)
      return std::nullopt;
    bytes += *count * getElementBytes(cast<ShapedType>(type).getElementType());
  }
  return bytes;
}

PatternKind mlir::fuse::getElementwisePattern(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (Type type : op->getOperandTypes()) {
    auto operand = cast<RankedTensorType>(type);
    if (operand.getShape() != result.getShape() &&
        getElementCount(operand) != 1)
      return PatternKind::broadcast;
  }
  return PatternKind::elementwise;
}

std::optional<PatternKind> mlir::fuse::parsePatternName(StringRef name) {
  if (std::optional<PatternKind> pattern = symbolizePatternKind(name))
    return pattern;
  return llvm::StringSwitch<std::optional<PatternKind>>(name)
      .Case("kElemWise", PatternKind::elementwise)
      .Case("kBroadcast", PatternKind::broadcast)
      .Case("kInjective", PatternKind::injective)
      .Case("kCommReduce", PatternKind::reduction)
      .Case("kOutEWiseFusable", PatternKind::contraction)
      .Case("kTuple", PatternKind::tuple)
      .Case("kOpaque", PatternKind::opaque)
      .Default(std::nullopt);
}
