//===- Phases.cpp - The passes of each phase ------------------------------===//

#include "FuseDialect/Conversion/ExpandMath.h"
#include "FuseDialect/Conversion/Passes.h"
#include "FuseDialect/IR/FuseDialect.h"
#include "FuseDialect/Pipelines/Pipelines.h"
#include "FuseDialect/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::fuse;

static void buildGraph(OpPassManager &manager, const PipelineOptions &options) {
  ResolvePatternsOptions patterns;
  llvm::append_range(patterns.patternOverride, options.fusion.patternOverrides);
  llvm::append_range(patterns.fuseRules, options.fusion.rulesFiles);
  manager.addPass(createResolvePatterns(patterns));
  manager.addPass(createInferShapes());
  manager.addPass(createFoldConstants());
  manager.addPass(createSimplify());
}

static void buildGroup(OpPassManager &manager, const PipelineOptions &options) {
  FuseOpsOptions fusion;
  fusion.maxGroupOps = options.fusion.maxGroupOps;
  fusion.noFusion = options.fusion.noFusion;
  manager.addPass(createFuseOps(fusion));
}

static void buildTune(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createOutlineKernels());
  AssignConfigsOptions configs;
  configs.vectorBytes = options.target.vectorBytes;
  configs.cacheBytes = options.target.cacheBytes;
  manager.addPass(createAssignConfigs(configs));
}

static void buildLinalg(OpPassManager &manager,
                        const PipelineOptions &options) {
  manager.addPass(createFuseToLinalgPass());
}

static void buildVector(OpPassManager &manager,
                        const PipelineOptions &options) {
  manager.addPass(createVectorizeKernels());
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
}

static void buildMemory(OpPassManager &manager,
                        const PipelineOptions &options) {
  manager.addPass(createPlanMemory());
}

/// What the expansions of math functions may use.
static ExpandMathPassOptions getExpandMathOptions(const TargetOptions &target) {
  ExpandMathOptions features = ExpandMathOptions::fromFeatures(target.features);
  ExpandMathPassOptions options;
  options.hasFma = features.hasFma;
  options.hasRound = features.hasRound;
  options.hasF16C = features.hasF16C;
  options.avx512 = features.avx512 && target.vectorBytes == 64;
  return options;
}

static void buildLlvm(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createLowerLaunches());
  manager.addPass(createExpandMathPass(getExpandMathOptions(options.target)));
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::fuse::buildPhase(OpPassManager &manager, Phase phase,
                            const PipelineOptions &options) {
  switch (phase) {
  case Phase::Import:
    return;
  case Phase::Graph:
    return buildGraph(manager, options);
  case Phase::Group:
    return buildGroup(manager, options);
  case Phase::Tune:
    return buildTune(manager, options);
  case Phase::Linalg:
    return buildLinalg(manager, options);
  case Phase::Vector:
    return buildVector(manager, options);
  case Phase::Memory:
    return buildMemory(manager, options);
  case Phase::Llvm:
    return buildLlvm(manager, options);
  }
}

void mlir::fuse::registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<FuseDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, func::FuncDialect,
                  LLVM::LLVMDialect, linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect,
                  vector::VectorDialect>();
}

namespace {

/// What a phase's pipeline takes on the command line of an optimizer driver.
struct PhaseOptions : public PassPipelineOptions<PhaseOptions> {
  ListOption<std::string> patternOverrides{
      *this, "pattern-override", llvm::cl::desc("SELECTOR:PATTERN[:LEVEL]")};
  ListOption<std::string> rulesFiles{*this, "fuse-rules",
                                     llvm::cl::desc("a rules file")};
  Option<bool> noFusion{*this, "no-fusion",
                        llvm::cl::desc("every op in its own group"),
                        llvm::cl::init(false)};
  Option<int64_t> vectorBytes{*this, "vector-bytes",
                              llvm::cl::desc("bytes of a vector register"),
                              llvm::cl::init(64)};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("the target's features as LLVM writes them"),
      llvm::cl::init(TargetOptions().features)};
};

} // namespace

void mlir::fuse::registerPhasePipelines() {
  for (Phase phase : {Phase::Graph, Phase::Group, Phase::Tune, Phase::Linalg,
                      Phase::Vector, Phase::Memory, Phase::Llvm})
    PassPipelineRegistration<PhaseOptions>(
        ("fuse-phase-" + stringifyPhase(phase)).str(),
        ("the phase '" + stringifyPhase(phase) + "' of compilation").str(),
        [phase](OpPassManager &manager, const PhaseOptions &given) {
          PipelineOptions options;
          options.fusion.patternOverrides.assign(given.patternOverrides.begin(),
                                                 given.patternOverrides.end());
          options.fusion.rulesFiles.assign(given.rulesFiles.begin(),
                                           given.rulesFiles.end());
          options.fusion.noFusion = given.noFusion;
          options.target.vectorBytes = given.vectorBytes;
          options.target.features = given.features;
          buildPhase(manager, phase, options);
        });
}
