//===- Target.h - The processor that code is made for -----------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_TARGET_H
#define FUSEDIALECT_ENGINE_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MCSubtargetInfo;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::fuse {

/// A processor of this machine's architecture, by LLVM's names.
class Target {
public:
  /// `cpu` is a name or `host`, the processor that runs this; `features` a list
  /// such as `+avx2,-fma` on top of what the processor has. An unknown name is
  /// a usage error that holds it.
  static llvm::Expected<Target> create(llvm::StringRef cpu = "host",
                                       llvm::StringRef features = "");
  Target(Target &&);
  Target &operator=(Target &&);
  ~Target();

  llvm::StringRef getCpu() const { return cpu; }
  /// The features in LLVM's notation: all of the host's, or the list given.
  llvm::StringRef getFeatures() const { return features; }
  /// All features that are on, those that the CPU implies too: "+avx2,+fma".
  std::string getEnabledFeatures() const;
  bool hasFeature(llvm::StringRef feature) const;
  /// Bytes of a vector register: 64, 32 or 16.
  int64_t getVectorBytes() const;
  /// `avx512`, `avx2` or the architecture's name.
  llvm::StringRef getVectorName() const;
  llvm::TargetMachine &getMachine() const { return *machine; }

  /// An error that names the features that the host lacks.
  llvm::Error checkRunsHere() const;
  /// Sets triple, data layout and the functions' attributes.
  void applyTo(llvm::Module &module) const;

private:
  Target();

  std::string cpu;
  std::string features;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_TARGET_H
