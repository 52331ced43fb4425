//===- TensorSpec.h - Tensors given on a command line -----------*- C++ -*-===//
//
// SPEC  = [NAME "="] VALUE
// VALUE = TYPE "=" ELEMENT {"," ELEMENT}     2x3xf32=1,2,3,4,5,6
//       | TYPE "=" ELEMENT                   2x3xf32=0.5: all elements
//       | "@" FILE                           a file in .npy format
//       | "random" [":" SEED [":" LOW ":" HIGH]]
//       | "-"                                outputs: print
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ENGINE_TENSORSPEC_H
#define FUSEDIALECT_ENGINE_TENSORSPEC_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/IR/Signature.h"
#include "llvm/Support/Error.h"
#include <variant>

namespace mlir::fuse {

/// Values of a deterministic generator. Without a range, floats are normally
/// distributed and integers are 0 or 1; with one, floats are uniform in
/// [low, high) and integers in low..high.
struct RandomValues {
  uint64_t seed = 0;
  std::optional<std::pair<double, double>> range;
};
struct FileValues {
  std::string path;
};
struct PrintedValues {};
using SpecValue =
    std::variant<HostTensor, FileValues, RandomValues, PrintedValues>;

/// A SPEC and what it gives. One without a name takes the first of the model's
/// values that no SPEC names.
struct TensorSpec {
  std::string name;
  SpecValue value;
};

/// Gives each SPEC its place among `values`, the model's inputs or outputs; one
/// entry for each of them. A name may hold any characters: it is the longest of
/// the model's names that leaves a VALUE. `flag` is for messages (`--input`).
/// Errors: a malformed SPEC, an unknown name, two for one value, too many.
llvm::Expected<SmallVector<std::optional<SpecValue>>>
assignSpecs(ArrayRef<std::string> specs, ArrayRef<SignatureValue> values,
            StringRef flag, MLIRContext *context);

/// A tensor of random values. `stream` separates the inputs of one model: they
/// get different values from one seed.
std::optional<HostTensor> makeRandomTensor(const RandomValues &random,
                                           ArrayRef<int64_t> shape,
                                           Type elementType, uint64_t stream);

/// `2x3xf32`, as in a SPEC.
std::string formatTensorType(ArrayRef<int64_t> shape, Type elementType);
/// Prints a tensor as VALUE, with as many digits as it takes to read the same
/// elements again.
void printTensor(llvm::raw_ostream &os, const HostTensor &tensor);
/// Prints one element in the same way.
void printElement(llvm::raw_ostream &os, const HostTensor &tensor,
                  int64_t index);

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_TENSORSPEC_H
