//===- Signature.h - The source model's view of an entry function -*- C++
//-*-===//

#ifndef FUSEDIALECT_IR_SIGNATURE_H
#define FUSEDIALECT_IR_SIGNATURE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fuse {

/// An input or output of a model.
struct SignatureValue {
  std::string name;
  RankedTensorType type;
  /// One entry for each dimension: the symbol of a dynamic one ("N"), empty for
  /// a static or unnamed one. Dimensions that share a symbol have one extent.
  SmallVector<std::string> symbols;
};

/// The names, types and symbolic dimensions of an entry function, kept through
/// all phases in the attribute `fuse.signature`:
///
///   {inputs = [{name = "x", type = tensor<?x7xf32>, dims = ["N", ""]}],
///    outputs = […]}
struct Signature {
  SmallVector<SignatureValue> inputs;
  SmallVector<SignatureValue> outputs;

  DictionaryAttr toAttribute(MLIRContext *context) const;
  /// Reads the attribute of `function`. Without one, values are named after
  /// their position: arg0, arg1, …, out0 (`out` if there is one).
  static Signature of(FunctionOpInterface function);
  /// Checks that a signature attribute is well formed.
  static LogicalResult verify(Operation *op, Attribute attribute);
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_IR_SIGNATURE_H
