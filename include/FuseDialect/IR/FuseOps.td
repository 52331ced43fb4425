//===- FuseOps.td - All ops of the fuse dialect ----------------------------===//

#ifndef FUSE_OPS
#define FUSE_OPS

include "FuseDialect/IR/FuseElementwiseOps.td"
include "FuseDialect/IR/FuseInjectiveOps.td"
include "FuseDialect/IR/FuseReductionOps.td"
include "FuseDialect/IR/FuseStructureOps.td"

#endif // FUSE_OPS
