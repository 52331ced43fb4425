//===- OnnxImport.h - ONNX models as fuse modules ---------------*- C++ -*-===//
//
// Reads an ONNX model (https://onnx.ai/onnx/repo-docs/IR.html) into a module of
// the fuse dialect in phase `import`: one function `main` with the attribute
// `fuse.signature`. Each op's location is the name of the node that it came
// from. Nodes without a name are called `OpType#output`, and the second node of
// a name gets `#2`. The properties that exporters attach to a node are kept in
// its location, see `getSourceMetadata`.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_IMPORT_ONNXIMPORT_H
#define FUSEDIALECT_IMPORT_ONNXIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlir::fuse {

class HostTensor;

/// The newest version of the default operator set that the importer knows.
inline constexpr int64_t kNewestOpset = 28;
/// The oldest one.
inline constexpr int64_t kOldestOpset = 7;

struct OnnxImportOptions {
  /// Extents of graph inputs by name. They replace dynamic dimensions, and must
  /// agree with static ones.
  llvm::StringMap<SmallVector<int64_t>> shapes;
  /// Extents of symbolic dimensions ("batch") by name.
  llvm::StringMap<int64_t> dims;
  /// Values of graph inputs, which fix their shapes, too. Axes, shapes, bounds
  /// and so on may then come from them, and the module is right for these
  /// values only: give them when an import without them is not supported and
  /// says `mayNeedValues`.
  llvm::StringMap<const HostTensor *> values;
  /// Files of MLIR functions, the bodies of ops that the importer does not
  /// know. A function that is named like an op (`com.acme.Scale`: domain, dot,
  /// type), or has its name as `fuse.op`, is inlined at the nodes of that op
  /// whose inputs fit its argument types; its ops get the node's name. An
  /// argument with `fuse.attribute = "name"` is the node's attribute of that
  /// name, or the number in `fuse.default`.
  std::vector<std::string> opLibraries;
};

enum class OnnxImportStatus {
  Success,
  /// The file is missing, broken, or against the ONNX specification.
  BadInput,
  /// The file is well formed, as far as it was read, but uses something that
  /// the dialect does not have.
  Unsupported,
};

struct OnnxImportResult {
  /// Null unless the status is `Success`.
  OwningOpRef<ModuleOp> module;
  OnnxImportStatus status;
  /// The status is `Unsupported`, and values or shapes of inputs may change
  /// that.
  bool mayNeedValues = false;
};

/// Imports the model in the file `path`. External data must lie in the file's
/// directory or below. Errors are reported as diagnostics at the node's
/// location; everything that is not supported is reported in a single one. The
/// file may be hostile: whatever it holds, the result is a verified module or
/// an error.
///
/// The module's large constants refer to data that the context owns from then
/// on.
OnnxImportResult importOnnx(StringRef path, MLIRContext *context,
                            const OnnxImportOptions &options = {});

/// As above, for a model in memory. `name` stands for its path.
OnnxImportResult importOnnx(ArrayRef<char> data, StringRef name,
                            MLIRContext *context,
                            const OnnxImportOptions &options = {});

} // namespace mlir::fuse

#endif // FUSEDIALECT_IMPORT_ONNXIMPORT_H
