// RUN: not fuse-opt %s -split-input-file 2>&1 | FileCheck %s

// CHECK: error: 'func.func' op expected 'fuse.signature' to hold 'inputs' and 'outputs', lists of {name, type, dims} with one symbol or empty string for each dimension
func.func private @no_lists(tensor<2xf32>) attributes {fuse.signature = {}}

// -----

// CHECK: error: 'func.func' op expected 'fuse.signature' to hold
func.func private @missing_symbol(tensor<2xf32>) attributes {fuse.signature = {
  inputs = [{name = "x", type = tensor<2xf32>, dims = []}], outputs = []}}
