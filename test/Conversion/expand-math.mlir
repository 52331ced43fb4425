// RUN: fuse-opt %s --fuse-expand-math --split-input-file | FileCheck %s
// RUN: fuse-opt %s --fuse-expand-math=avx512=true --split-input-file | FileCheck %s --check-prefix=AVX512
// RUN: fuse-opt %s --fuse-expand-math="has-fma=false has-round=false" --split-input-file | FileCheck %s --check-prefix=BASE

// CHECK-LABEL: @exp(
// CHECK: math.fma
// CHECK-NOT: math.exp
// CHECK: return
// BASE-LABEL: @exp(
// BASE-NOT: math.exp
// BASE-NOT: math.fma
// BASE: return
// AVX512-LABEL: @exp(
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// A vector of two registers is computed in two parts.
// AVX512-LABEL: @two_registers(
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// AVX512: vector.shuffle
// AVX512-NOT: llvm.call_intrinsic
func.func @two_registers(%x: vector<32xf32>) -> vector<32xf32> {
  %0 = math.exp %x : vector<32xf32>
  return %0 : vector<32xf32>
}

// -----

// Intrinsics take whole registers: other widths do without.
// AVX512-LABEL: @narrow(
// AVX512-NOT: llvm.call_intrinsic
// AVX512: return
func.func @narrow(%x: vector<8xf32>, %y: f64) -> (vector<8xf32>, f64) {
  %0 = math.log %x : vector<8xf32>
  %1 = math.exp %y : f64
  return %0, %1 : vector<8xf32>, f64
}

// -----

// f16 and bf16 are computed in f32.
// CHECK-LABEL: @half(
// CHECK-NOT: math.tanh
// CHECK: arith.divf {{.*}} : vector<4xf32>
// CHECK: return {{.*}} : vector<4xf16>
func.func @half(%x: vector<4xf16>) -> vector<4xf16> {
  %0 = math.tanh %x : vector<4xf16>
  return %0 : vector<4xf16>
}

// -----

// CHECK-LABEL: @stays(
// CHECK: math.sqrt
// CHECK: math.exp {{.*}} : tensor<4xf32>
func.func @stays(%x: vector<4xf32>, %t: tensor<4xf32>) -> (vector<4xf32>, tensor<4xf32>) {
  %0 = math.sqrt %x : vector<4xf32>
  %1 = math.exp %t : tensor<4xf32>
  return %0, %1 : vector<4xf32>, tensor<4xf32>
}
