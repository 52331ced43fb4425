//===- FuseToLinalg.h - Shared by the lowering to linalg --------*- C++ -*-===//
//
// The type conversion of the pass fuse-to-linalg, the builder of linalg.generic
// ops, and the patterns of each family of ops.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_LIB_CONVERSION_FUSETOLINALG_H
#define FUSEDIALECT_LIB_CONVERSION_FUSETOLINALG_H

#include "ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fuse {

/// Unsigned integers become signless.
Type toSignless(Type elementType);
/// The same tensor with a signless element type.
RankedTensorType toSignless(RankedTensorType type);
/// Whether the elements of a tensor are unsigned integers.
bool hasUnsignedElements(Value value);

/// Builds linalg.generic ops on tensors over one iteration domain, at one
/// location.
class GenericBuilder {
public:
  /// Gets the elements of the operands and returns that of the result.
  using Body = function_ref<Value(ScalarBuilder &, ValueRange)>;

  /// An operand with the map from the domain to its elements.
  struct Operand {
    Value value;
    AffineMap map;
  };

  /// A domain of the given extents. `isUnsigned` is handed to the ScalarBuilder
  /// of bodies.
  GenericBuilder(OpBuilder &builder, Location location,
                 ArrayRef<OpFoldResult> domain, bool isUnsigned = false)
      : builder(builder), location(location), isUnsigned(isUnsigned),
        domain(domain) {}

  /// The domain without the dimensions `dims`, for values of one element a row.
  GenericBuilder without(ArrayRef<int64_t> dims) const;
  /// A tensor type with the extents of the domain.
  RankedTensorType getType(Type elementType) const;

  /// An operand of the domain's shape.
  Operand full(Value value) const;
  /// An operand of the domain's shape without the dimensions `dims`.
  Operand row(Value value, ArrayRef<int64_t> dims) const;
  /// An operand that numpy would broadcast to the domain: trailing dimensions
  /// meet, and an extent of 1 is read at position 0. A dynamic extent is taken
  /// to be that of the domain.
  Operand broadcast(Value value) const;

  /// An op whose dimensions are all parallel. `type` has the domain's extents,
  /// each static or not.
  Value createMap(RankedTensorType type, ArrayRef<Operand> operands,
                  Body body) const;
  /// The reduction of a tensor of the domain's shape along `dims`, which go.
  /// `combine` takes an element and the value so far, which starts as
  /// `identity`, and must be one op for the vectoriser to recognise it.
  Value createReduction(Value input, ArrayRef<int64_t> dims,
                        function_ref<Value(ScalarBuilder &, Type)> identity,
                        Body combine) const;
  /// A tensor of the domain's shape whose elements are all `scalar`.
  Value createFill(Value scalar) const;

  OpBuilder &builder;
  Location location;
  bool isUnsigned;

  ArrayRef<OpFoldResult> getDomain() const { return domain; }

private:
  Value createEmpty(RankedTensorType type) const;

  SmallVector<OpFoldResult> domain;
};

/// The value as the given type, which differs in static extents at most.
Value castTo(OpBuilder &builder, Location location, Value value,
             RankedTensorType type);

/// Sizes of a tensor as attributes where static, else as tensor.dim.
SmallVector<OpFoldResult> getExtents(OpBuilder &builder, Location location,
                                     Value tensor);

/// Whether two extents are known to be equal: the same constant, value, or
/// dimension of a tensor.
bool areEqualExtents(OpFoldResult left, OpFoldResult right);

/// The type that a tensor of type `type` collapses to, or expands from. A group
/// with a dynamic dimension is dynamic, even beside an extent of 0.
RankedTensorType getCollapsedType(RankedTensorType type,
                                  ArrayRef<ReassociationIndices> groups);

/// Inserts dimensions of extent 1 at the positions `dims` of the result, which
/// are sorted. `extents` are those of the tensor.
Value insertUnitDims(OpBuilder &builder, Location location, Value tensor,
                     ArrayRef<OpFoldResult> extents, ArrayRef<int64_t> dims);
/// Drops the dimensions `dims`, whose extents are 1.
Value dropUnitDims(OpBuilder &builder, Location location, Value tensor,
                   ArrayRef<int64_t> dims);

void populateElementwiseToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter);
void populateReductionsToLinalg(RewritePatternSet &patterns,
                                const TypeConverter &converter);
void populateRowOpsToLinalg(RewritePatternSet &patterns,
                            const TypeConverter &converter);
void populateInjectiveToLinalg(RewritePatternSet &patterns,
                               const TypeConverter &converter);

} // namespace mlir::fuse

#endif // FUSEDIALECT_LIB_CONVERSION_FUSETOLINALG_H
