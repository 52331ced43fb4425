// RUN: not fuse-run %t.absent.onnx 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not fuse-run %t.absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --entry=nope 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --input=nope=random 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --threads=0 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --json=%t.json 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --output=out=2xf32=1 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --unknown-flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --dim=K=3 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: %python %S/Inputs/exit_code.py 1 fuse-run %s --dim=N=2 --input=x=3xf32=1 2>&1 | FileCheck %s --check-prefix=CONFLICT
// RUN: %python %S/Inputs/exit_code.py 1 fuse-run %s --input=x=2xf64=1 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/exit_code.py 1 fuse-run %s --input=x=2xf32=1 --input=m=3xf32=1 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: %python %S/Inputs/exit_code.py 3 fuse-run %s --input=x=2xf32=1 --input=m=2xf32=1 --expect=2xf32=2,1 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: %python %S/Inputs/exit_code.py 0 fuse-run %s --input=x=2xf32=1 --input=m=2xf32=1 --expect=2xf32=2,1 --atol=1
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --dim=N=2 --target-cpu=nope 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %python %S/Inputs/exit_code.py 2 fuse-run %s --dim=N=2 --target-features=+nope 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: %python %S/Inputs/exit_code.py 4 fuse-run %s --entry=data_dependent --dim=N=1 2>&1 | FileCheck %s --check-prefix=DATA

// ABSENT: absent
// ENTRY: there is no entry function 'nope': the module has 'main', 'data_dependent'
// NAME: there is no 'nope': expected 'x' or 'm'
// THREADS: in '--threads': expected 1 to 1024 but got 0
// REPEAT: in '--repeat': expected at least 1 but got 0
// JSON: '--json' needs '--benchmark'
// OUTPUT: in '--output': expected @FILE or '-'
// FLAG: --unknown-flag
// EXTENT: input 'x' has no extent in dimension 0 ('N'): give --dim=N=N, --shape=x:N or --input=x=…
// DIM: in '--dim': no input has a dimension 'K'
// CONFLICT: expected input 'x' to have extent 2 in dimension 0 ('N') but got 3
// TYPE: expected input 'x' to have elements of type f32 but got f64
// SYMBOL: expected input 'm' to have extent 2 in dimension 0 ('N') but got 3
// DIFFERS: output 'out' differs in 1 of 2 elements {{.*}}, most at [1]: expected 1 but got 2
// CPU: unknown target CPU 'nope'
// FEATURE: unknown target feature 'nope'
// DATA: not supported

func.func @main(%x: tensor<?xf32>, %m: tensor<?xf32>) -> tensor<?xf32>
    attributes {fuse.signature = {
      inputs = [{name = "x", type = tensor<?xf32>, dims = ["N"]},
                {name = "m", type = tensor<?xf32>, dims = ["N"]}],
      outputs = [{name = "out", type = tensor<?xf32>, dims = ["N"]}]}} {
  %0 = fuse.add %x, %m : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @data_dependent(%x: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32>
    attributes {fuse.signature = {
      inputs = [{name = "x", type = tensor<?xf32>, dims = ["N"]},
                {name = "s", type = tensor<1xi64>, dims = [""]}],
      outputs = [{name = "out", type = tensor<?xf32>, dims = [""]}]}} {
  %0 = fuse.expand %x, %s : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
