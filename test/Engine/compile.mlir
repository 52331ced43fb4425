// RUN: fuse-compile %s --compile-to=import -o - | FileCheck %s --check-prefix=IMPORT
// RUN: fuse-compile %s --compile-to=group -o - | FileCheck %s --check-prefix=GROUP
// RUN: fuse-compile %s --compile-to=group --shape=arg0:4x8 -o - | FileCheck %s --check-prefix=SHAPE
// RUN: fuse-compile %s --shape=arg0:4x8 -o %t.ll && FileCheck %s --check-prefix=LLVM < %t.ll
// RUN: fuse-compile %s --shape=arg0:4x8 --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: fuse-compile %s --shape=arg0:64x8 --emit=asm --target-cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=AVX2
// RUN: %python %S/Inputs/exit_code.py 4 fuse-compile %s --compile-to=tune -o %t.x 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: %python %S/Inputs/exit_code.py 4 fuse-compile %s -o %t.so 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: %python %S/Inputs/exit_code.py 2 fuse-compile %s 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: %python %S/Inputs/exit_code.py 2 fuse-compile %s -o %t.x 2>&1 | FileCheck %s --check-prefix=EXTENSION
// RUN: %python %S/Inputs/exit_code.py 2 fuse-compile %s -o %t.x --compile-to=nope 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: %python %S/Inputs/exit_code.py 2 fuse-compile %s -o %t.x --emit=nope 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: %python %S/Inputs/exit_code.py 2 fuse-compile %s -o %t.x --emit=obj --compile-to=group 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not ls %t.x

// IMPORT: func.func @main(%arg0: tensor<?x8xf32>
// IMPORT: fuse.exp {{.*}} loc(
// GROUP: fuse.phase = "group"
// GROUP: fuse.group "exp" {{.*}}tensor<?x8xf32>
// SHAPE: fuse.group "exp" {{.*}}tensor<4x8xf32>
// LLVM: define {{.*}}i32 @fuse_entry_main(ptr
// OBJECT-DAG: t exp.kernel
// OBJECT-DAG: T fuse_entry_main
// AVX2-NOT: zmm
// AVX2: ymm
// DYNAMIC: dynamic shapes are not supported yet after phase 'group'
// LIBRARY: shared libraries are not supported yet
// NO-FILE: expected -o FILE
// EXTENSION: does not say what to write
// PHASE: in '--compile-to': expected one of import, graph, {{.*}} but got 'nope'
// EMIT: in '--emit': expected llvm, asm or obj but got 'nope'
// BOTH: '--compile-to' and '--emit' exclude each other

func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = fuse.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32> loc("e")
  return %0 : tensor<?x8xf32>
}
