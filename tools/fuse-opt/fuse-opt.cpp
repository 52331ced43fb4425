//===- fuse-opt.cpp - The optimizer driver --------------------------------===//

#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Import/OnnxImport.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// Imports an ONNX model and hands it to the driver, which takes a buffer.
static int runOnOnnx(llvm::StringRef input, llvm::StringRef output,
                     llvm::ArrayRef<std::string> opLibraries,
                     mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry);
  mlir::fuse::OnnxImportOptions options;
  options.opLibraries = opLibraries;
  mlir::fuse::OnnxImportResult result =
      mlir::fuse::importOnnx(input, &context, options);
  if (!result.module)
    return result.status == mlir::fuse::OnnxImportStatus::Unsupported ? 4 : 1;
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  std::string error;
  auto file = mlir::openOutputFile(output, &error);
  if (!file || failed(mlir::writeBytecodeToFile(*result.module, stream))) {
    llvm::errs() << error << "\n";
    return 1;
  }
  // Resources in bytecode are aligned, so the buffer must be, too.
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      bytecode.size(), input, llvm::Align(64));
  llvm::copy(bytecode, buffer->getBufferStart());
  if (failed(mlir::MlirOptMain(file->os(), std::move(buffer), registry,
                               mlir::MlirOptMainConfig::createFromCLOptions())))
    return 1;
  file->keep();
  return 0;
}

/// Turns the flags `--pattern-override` and `--fuse-rules` into options of the
/// pass that they are for, so that no global option steers it, and keeps the
/// names of source ops in the output. Returns false on a usage error.
static bool rewriteArguments(llvm::ArrayRef<char *> arguments,
                             std::vector<std::string> &rewritten) {
  std::string options;
  bool showsLocations = true;
  std::optional<size_t> pass;
  for (llvm::StringRef argument : arguments) {
    llvm::StringRef flag = argument.ltrim('-');
    bool isFlag = argument.starts_with("-");
    if (isFlag && (flag.consume_front("pattern-override=") ||
                   flag.starts_with("fuse-rules="))) {
      bool isRules = flag.consume_front("fuse-rules=");
      options += (isRules ? " fuse-rules={" : " pattern-override={") +
                 flag.str() + "}";
      continue;
    }
    if (isFlag && (flag == "fuse-ops" || flag.starts_with("fuse-ops=")))
      pass = rewritten.size();
    showsLocations &= !flag.starts_with("mlir-print-debuginfo");
    rewritten.push_back(argument.str());
  }
  if (showsLocations)
    rewritten.push_back("--mlir-print-debuginfo");
  if (options.empty())
    return true;
  if (!pass)
    return false;
  rewritten[*pass] +=
      (llvm::StringRef(rewritten[*pass]).contains('=') ? " " : "=") +
      llvm::StringRef(options).ltrim().str();
  return true;
}

int main(int argc, char **argv) {
  std::vector<std::string> rewritten;
  if (!rewriteArguments(llvm::ArrayRef(argv, argc), rewritten)) {
    llvm::errs()
        << "fuse-opt: error: expected --fuse-ops with --pattern-override "
           "and --fuse-rules\n";
    return 2;
  }
  std::vector<char *> arguments;
  for (std::string &argument : rewritten)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  argc = rewritten.size();
  argv = arguments.data();
  mlir::registerAllPasses();
  mlir::fuse::registerFuseTransformsPasses();
  mlir::fuse::registerFuseConversionPasses();
  mlir::fuse::registerPhasePipelines();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::fuse::FuseDialect>();
  llvm::cl::list<std::string> opLibraries(
      "op-library", llvm::cl::value_desc("FILE.mlir"),
      llvm::cl::desc("functions that are the bodies of ops in ONNX models"));
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "FuseDialect optimizer driver\n", registry);
  if (llvm::StringRef(input).ends_with(".onnx"))
    return runOnOnnx(input, output, opLibraries, registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
