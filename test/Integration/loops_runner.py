"""Runs functions of the fuse dialect through fuse-to-linalg and MLIR's own
lowering of linalg to scalar loops: a second way to code, which shares nothing
with the kernels' vectoriser. It is slow code, but it tells whose fault a wrong
number is."""

import ctypes
import re
import subprocess

import numpy as np
from runner import Runner
from types_and_values import ELEMENT_TYPES

LLVM = "/usr/lib/llvm-22"

PASSES = [
    "--fuse-to-linalg",
    "--one-shot-bufferize=bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--arith-expand=include-bf16=true",
    "--math-expand-ops=ops=rsqrt",
    # Before convert-math-to-llvm, whose log1p and expm1 cancel near 0.
    "--convert-math-to-libm",
    "--convert-math-to-llvm",
    "--convert-to-llvm",
    "--reconcile-unrealized-casts",
]


def types_of(signature):
    """(extents, element) of each tensor type in a text; None for `?`."""
    types = []
    for text in re.findall(r"tensor<([^>]*)>", signature):
        *extents, element = text.split("x")
        types.append(([None if e == "?" else int(e) for e in extents], element))
    return types


def descriptor_type(rank):
    """The C struct behind a memref of this rank."""
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
              ("offset", ctypes.c_int64)]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Descriptor{rank}", (ctypes.Structure,), {"_fields_": fields})


def to_descriptor(array):
    fields = [array.ctypes.data, array.ctypes.data, 0]
    if array.ndim:
        strides = [s // array.itemsize for s in array.strides]
        fields += [tuple(array.shape), tuple(strides)]
    return descriptor_type(array.ndim)(*fields)


def from_descriptor(descriptor, element):
    """A copy of the tensor behind a descriptor."""
    dtype = ELEMENT_TYPES[element]
    shape = list(getattr(descriptor, "sizes", []))
    strides = [s * dtype.itemsize for s in getattr(descriptor, "strides", [])]
    result = np.empty(shape, dtype)
    if result.size == 0:
        return result
    extent = sum((n - 1) * s for n, s in zip(shape, strides)) + dtype.itemsize
    address = descriptor.aligned + descriptor.offset * dtype.itemsize
    raw = np.frombuffer(ctypes.string_at(address, extent), np.uint8)
    view = np.lib.stride_tricks.as_strided(raw[:dtype.itemsize].view(dtype)[0:1],
                                           shape, strides)
    result[...] = view
    return result


class LoopsRunner(Runner):
    """Takes the place of Runner where a Program runs."""

    def lower(self, text):
        """The path of a shared library with the functions of a module."""
        wrapped = re.sub(r"(@main\(.*) \{\n", r"\1 attributes {llvm.emit_c_interface} {\n",
                         text, count=1)
        source = self.write(wrapped, ".mlir")
        llvm = self.path(".mlir")
        self.succeed("fuse-opt", source, *PASSES, "-o", llvm)
        ir, library = self.path(".ll"), self.path(".so")
        subprocess.run([f"{LLVM}/bin/mlir-translate", "--mlir-to-llvmir", llvm, "-o", ir],
                       check=True)
        subprocess.run(["clang-22", "-w", "-march=native", "-shared", "-fPIC", ir,
                        "-o", library, "-lm", f"-L{LLVM}/lib", f"-Wl,-rpath={LLVM}/lib",
                        "-lmlir_c_runner_utils"], check=True)
        return library

    def run_model(self, model, suffix, inputs, outputs, *flags, timeout=300):
        assert suffix == ".mlir" and not flags
        library = ctypes.CDLL(str(self.lower(model)))
        results = types_of(re.search(r"@main\(.*?\) -> (.*?) \{\n", model)[1])
        fields = [(f"r{i}", descriptor_type(len(extents)))
                  for i, (extents, _) in enumerate(results)]
        returned = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        arrays = [np.require(array, requirements="C") for array in inputs.values()]
        descriptors = [to_descriptor(array) for array in arrays]
        library._mlir_ciface_main(ctypes.byref(returned),
                                  *[ctypes.byref(d) for d in descriptors])
        return [from_descriptor(getattr(returned, f"r{i}"), element)
                for i, element in enumerate(outputs.values())]
