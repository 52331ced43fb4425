//===- Jit.h - Machine code in this process ---------------------*- C++ -*-===//

#ifndef FUSEDIALECT_ENGINE_JIT_H
#define FUSEDIALECT_ENGINE_JIT_H

#include "FuseDialect/Runtime/FuseRuntime.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::fuse {

/// An object file that is linked into this process, for as long as it lives.
class LinkedObject {
public:
  /// Links an object that calls nothing but the runtime, the C library's memory
  /// and mathematical functions, and the compiler's conversions of sixteen-bit
  /// floats.
  /// Any other symbol that it needs is an error that names it.
  static llvm::Expected<LinkedObject>
  create(std::unique_ptr<llvm::MemoryBuffer> object);
  LinkedObject(LinkedObject &&);
  LinkedObject &operator=(LinkedObject &&);
  ~LinkedObject();

  /// The address of a function or an error if there is none.
  llvm::Expected<void *> lookup(llvm::StringRef name) const;

private:
  LinkedObject(std::unique_ptr<llvm::orc::LLJIT> jit,
               std::shared_ptr<std::string> problems);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  /// What the linker has reported.
  std::shared_ptr<std::string> problems;
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_JIT_H
