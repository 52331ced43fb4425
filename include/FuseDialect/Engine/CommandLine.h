//===- CommandLine.h - The flags of the tools -------------------*- C++ -*-===//
//
// Each tool has one struct of flags that lives in its main function. LLVM and
// MLIR register hundreds of options of their own for every program that links
// them; resetCommandLine() takes them away first.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEDIALECT_ENGINE_COMMANDLINE_H
#define FUSEDIALECT_ENGINE_COMMANDLINE_H

#include "FuseDialect/Engine/CompileModel.h"
#include "FuseDialect/Engine/RunModel.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::fuse {

/// Removes all options that libraries have registered.
void resetCommandLine();

/// Parses the command line. Returns false after it has printed what is wrong.
bool parseCommandLine(int argc, const char *const *argv, StringRef overview);

/// The flags of CompileOptions.
class CompileFlags {
public:
  CompileOptions get() const;

private:
  llvm::cl::opt<std::string> model{
      llvm::cl::Positional, llvm::cl::Required, llvm::cl::value_desc("MODEL"),
      llvm::cl::desc("<model: .onnx, .mlir or .mlirbc>")};
  llvm::cl::opt<std::string> entry{
      "entry", llvm::cl::init("main"), llvm::cl::value_desc("NAME"),
      llvm::cl::desc("the function to compile (default: main)")};
  llvm::cl::list<std::string> shapes{"shape",
                                     llvm::cl::value_desc("NAME:1x3x224x224"),
                                     llvm::cl::desc("the shape of an input")};
  llvm::cl::list<std::string> dims{
      "dim", llvm::cl::value_desc("SYMBOL=N"),
      llvm::cl::desc("the extent of a symbolic dimension")};
  llvm::cl::list<std::string> patternOverrides{
      "pattern-override", llvm::cl::value_desc("SELECTOR:PATTERN[:LEVEL]"),
      llvm::cl::desc("the fusion pattern of the ops that a selector matches")};
  llvm::cl::list<std::string> rulesFiles{
      "fuse-rules", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("a file of fusion rules")};
  llvm::cl::opt<bool> noFusion{"no-fusion",
                               llvm::cl::desc("a kernel for every op")};
  llvm::cl::list<std::string> fusionReports{
      "fusion-report", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("write every decision of fusion: JSON to a name that "
                     "ends in .json, else a table; '-' is the output")};
  llvm::cl::opt<Accuracy> accuracy{
      "accuracy", llvm::cl::desc("which rewrites of the arithmetic to allow"),
      llvm::cl::init(Accuracy::fast),
      llvm::cl::values(
          clEnumValN(Accuracy::fast, "fast", "any within rounding (default)"),
          clEnumValN(Accuracy::strict, "strict",
                     "none where an infinity may spread"))};
  llvm::cl::opt<std::string> targetCpu{
      "target-cpu", llvm::cl::init("host"), llvm::cl::value_desc("NAME"),
      llvm::cl::desc("the processor, by LLVM's name (default: host)")};
  llvm::cl::opt<std::string> targetFeatures{
      "target-features", llvm::cl::value_desc("+A,-B"),
      llvm::cl::desc("features on top of the processor's")};
  llvm::cl::opt<std::string> dumpDirectory{
      "dump-dir", llvm::cl::value_desc("DIR"),
      llvm::cl::desc("write the IR after each phase to DIR/PHASE.mlir")};
};

/// The flags of fuse-run.
class RunFlags {
public:
  RunOptions get() const;

private:
  CompileFlags compile;
  llvm::cl::list<std::string> inputs{
      "input", llvm::cl::value_desc("[NAME=]VALUE"),
      llvm::cl::desc("an input: @FILE.npy, 2x3xf32=0.5, random:SEED:LOW:HIGH "
                     "(default: random:0)")};
  llvm::cl::list<std::string> outputs{
      "output", llvm::cl::value_desc("[NAME=]VALUE"),
      llvm::cl::desc("where an output goes: @FILE.npy, or - to print it")};
  llvm::cl::list<std::string> expected{
      "expect", llvm::cl::value_desc("[NAME=]VALUE"),
      llvm::cl::desc("compare an output; exit 3 if it differs")};
  llvm::cl::opt<double> rtol{
      "rtol", llvm::cl::value_desc("R"),
      llvm::cl::desc("the relative difference to allow (default: by type)")};
  llvm::cl::opt<double> atol{
      "atol", llvm::cl::value_desc("A"),
      llvm::cl::desc("the absolute difference to allow (default: by type)")};
  llvm::cl::opt<bool> verify{
      "verify",
      llvm::cl::desc("compare with the reference evaluator, which computes op "
                     "by op in double precision; exit 3 if it differs")};
  llvm::cl::opt<bool> benchmark{"benchmark",
                                llvm::cl::desc("time repeated calls")};
  llvm::cl::opt<unsigned> repeat{
      "repeat", llvm::cl::init(100), llvm::cl::value_desc("N"),
      llvm::cl::desc("calls that are timed (default: 100)")};
  llvm::cl::opt<unsigned> warmup{
      "warmup", llvm::cl::init(10), llvm::cl::value_desc("N"),
      llvm::cl::desc("calls before those (default: 10)")};
  llvm::cl::opt<std::string> json{
      "json", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("write the benchmark's result")};
  llvm::cl::opt<int> threads{
      "threads", llvm::cl::value_desc("N"),
      llvm::cl::desc("threads in all (default: what this process may use)")};
};

/// The flags of fuse-compile.
class EmitFlags {
public:
  llvm::Expected<EmitOptions> get() const;

private:
  CompileFlags compile;
  llvm::cl::opt<std::string> output{"o", llvm::cl::value_desc("FILE"),
                                    llvm::cl::desc("the file to write")};
  llvm::cl::opt<std::string> lastPhase{
      "compile-to", llvm::cl::value_desc("PHASE"),
      llvm::cl::desc("stop after a phase and write MLIR: import, graph, group, "
                     "tune, linalg, vector, memory or llvm")};
  llvm::cl::opt<std::string> emit{
      "emit", llvm::cl::value_desc("KIND"),
      llvm::cl::desc("write code: llvm, asm or obj (default: by the file's "
                     "extension .ll, .s or .o; .mlir and .mlirbc hold the "
                     "phase llvm)")};
};

} // namespace mlir::fuse

#endif // FUSEDIALECT_ENGINE_COMMANDLINE_H
