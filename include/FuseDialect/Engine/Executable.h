//===- Executable.h - A compiled entry function -----------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_EXECUTABLE_H
#define FUSEDIALECT_ENGINE_EXECUTABLE_H

#include "FuseDialect/Analysis/HostTensor.h"
#include "FuseDialect/Engine/Jit.h"
#include "FuseDialect/Engine/Target.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fuse {

/// The machine code of an entry function for one tuple of input shapes, with
/// its weights and scratch memory. The MLIRContext outlives it, since it owns
/// the weights. Not for two calls at the same time.
class Executable {
public:
  /// Compiles a module in phase `llvm` for a target that must be the host's or
  /// less. `entry` is the source function's name; the types are those of its
  /// inputs and outputs, all static.
  static llvm::Expected<Executable> create(ModuleOp module, StringRef entry,
                                           const Target &target,
                                           ArrayRef<RankedTensorType> inputs,
                                           ArrayRef<RankedTensorType> outputs);

  ArrayRef<RankedTensorType> getInputTypes() const { return inputTypes; }
  ArrayRef<RankedTensorType> getOutputTypes() const { return outputTypes; }
  int64_t getArenaBytes() const { return arenaBytes; }
  int64_t getWeightsBytes() const { return weightsBytes; }

  /// Zeroed tensors of the outputs' types.
  llvm::Expected<SmallVector<HostTensor>> createOutputs() const;

  /// A call with its arguments laid out, for calling often.
  class Call {
  public:
    Call(Call &&) = default;
    Call &operator=(Call &&) = default;
    /// Calls the entry function; returns what it does, 0 for success.
    int32_t operator()() const {
      return entry(context, weights, arena, inputs.data(), outputs.data());
    }

  private:
    friend class Executable;
    Call() = default;
    // Buffers point into the shapes, which keep their place when a call moves.
    fuse_rt_entry entry;
    fuse_rt_context *context;
    const void *weights;
    void *arena;
    std::vector<fuse_rt_buffer> inputs, outputs;
    std::vector<std::vector<int64_t>> shapes;
  };
  /// The tensors have the executable's types and outlive the call.
  Call bind(fuse_rt_context *context, ArrayRef<const HostTensor *> inputs,
            MutableArrayRef<HostTensor> outputs);
  /// Calls the entry function once.
  llvm::Error run(fuse_rt_context *context, ArrayRef<const HostTensor *> inputs,
                  MutableArrayRef<HostTensor> outputs);

private:
  llvm::Error setWeights(ElementsAttr elements);
  explicit Executable(LinkedObject code) : code(std::move(code)) {}

  LinkedObject code;
  fuse_rt_entry entry = nullptr;
  SmallVector<RankedTensorType> inputTypes, outputTypes;
  int64_t arenaBytes = 0, weightsBytes = 0;
  const void *weights = nullptr;
  /// The arena, and the weights if their own memory is not aligned.
  std::optional<HostTensor> arena, weightsCopy;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_EXECUTABLE_H
