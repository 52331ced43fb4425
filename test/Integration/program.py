"""Builds MLIR programs of the fuse dialect together with their expected values.

A program is one function. Each op is evaluated by the oracle when it is added,
which gives its result type. Many small cases are put into one program as
separate outputs, because starting a process and compiling costs far more than
running:

    program = Program()
    x = program.input(np.ones((4, 8), np.float32))
    program.output(program.op("exp", x), ulps=2)
    program.check(runner)
"""

import dataclasses

import compare
import numpy as np
import oracle
from types_and_values import ELEMENT_TYPES, is_float

# Attributes that an op's assembly has between operands and the dictionary.
INLINE = {
    "argmax": ["axis"],
    "argmin": ["axis"],
    "concat": ["axis"],
    "gather": ["axis"],
    "layer_norm": ["axis"],
    "log_softmax": ["axis"],
    "pad": ["low", "high"],
    "rms_norm": ["axis"],
    "shape_of": ["start", "end"],
    "slice": ["axes", "starts", "ends", "steps"],
    "softmax": ["axis"],
    "split": ["axis", "sizes"],
    "squeeze": ["axes"],
    "tile": ["repeats"],
    "transpose": ["permutation"],
    "unsqueeze": ["axes"],
}
UNIT = {"tanh_approximation", "select_last", "allow_zero"}
BOOLEAN_RESULT = {*oracle.COMPARISONS, "is_nan", "is_inf"}
INDEX_RESULT = {"argmax", "argmin", "shape_of"}


@dataclasses.dataclass
class Tensor:
    """An SSA value: its name, its element type and what it should hold."""

    name: str
    element: str
    value: np.ndarray
    type: str

    @property
    def stored(self):
        """numpy's type of the element."""
        return ELEMENT_TYPES[self.element]

    @property
    def shape(self):
        return self.value.shape


@dataclasses.dataclass
class Output:
    tensor: Tensor
    check: dict
    operands: tuple


def element_of(array):
    return next(k for k, v in ELEMENT_TYPES.items() if v == array.dtype)


def format_attribute(name, value):
    if name == "mode":
        return f"#fuse.pad_mode<{value}>"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value!r} : f64"
    if isinstance(value, (list, tuple)):
        listed = ", ".join(str(int(v)) for v in value)
        return f"array<i64: {listed}>" if listed else "array<i64>"
    return f"{value} : i64"


def format_element(value, element):
    if element == "i1":
        return "true" if value else "false"
    if is_float(element):
        bits = ELEMENT_TYPES[element].itemsize * 8
        raw = np.asarray(value, ELEMENT_TYPES[element]).view(f"u{bits // 8}")
        return f"0x{int(raw):0{bits // 4}X}"
    return str(int(value))


def format_dense(array, element):
    if array.ndim == 0:
        return format_element(array[()], element)
    return "[" + ", ".join(format_dense(part, element) for part in array) + "]"


class Program:
    """One function `main`. With `dynamic`, the types of inputs and results have
    `?` for every extent, so that one compilation must serve all sizes. The oracle
    computes floats in `precision`, None for their own type."""

    def __init__(self, dynamic=False, precision=np.float64):
        self.dynamic = dynamic
        self.precision = precision
        self.inputs = []
        self.arrays = []
        self.outputs = []
        self.body = []
        self.counter = 0

    def type_of(self, shape, element):
        extents = ["?" if self.dynamic else str(extent) for extent in shape]
        return f"tensor<{'x'.join([*extents, element])}>"

    def tensor(self, name, value, element):
        return Tensor(name, element, value, self.type_of(value.shape, element))

    def widen(self, array, element):
        """Stored values as the oracle computes with them."""
        if is_float(element) and self.precision:
            return array.astype(self.precision)
        return array

    def fresh(self):
        self.counter += 1
        return f"%v{self.counter}"

    def input(self, array, element=None):
        """A new argument, fed with `array`."""
        array = np.asarray(array)
        element = element or element_of(array)
        tensor = self.tensor(f"%arg{len(self.inputs)}", self.widen(array, element), element)
        self.inputs.append(tensor)
        self.arrays.append(array)
        return tensor

    def constant(self, array):
        array = np.asarray(array)
        element = element_of(array)
        tensor = Tensor(self.fresh(), element, self.widen(array, element),
                        f"tensor<{'x'.join([*map(str, array.shape), element])}>")
        value = format_dense(array, element) if array.size else ""
        self.body.append(
            f"{tensor.name} = fuse.constant dense<{value}> : {tensor.type}")
        return tensor

    def op(self, mnemonic, *operands, loc=None, **attributes):
        """Adds `fuse.MNEMONIC`; returns its result, a list for split."""
        values = [operand.value for operand in operands]
        value = oracle.evaluate(mnemonic, values, attributes)
        if mnemonic in BOOLEAN_RESULT:
            element = "i1"
        elif mnemonic in INDEX_RESULT:
            element = "i64"
        else:
            element = operands[1 if mnemonic == "where" else 0].element
        return self.add(mnemonic, operands, value, element, attributes, loc)

    def cast(self, operand, element, loc=None):
        value = oracle.cast(operand.value, operand.element, element)
        return self.add("cast", (operand,), value, element, {}, loc)

    def add(self, mnemonic, operands, value, element, attributes, loc):
        several = isinstance(value, list)
        results = [self.tensor("", np.asarray(v), element)
                   for v in (value if several else [value])]
        name = self.fresh()
        for position, result in enumerate(results):
            result.name = f"{name}#{position}" if several else name
        text = f"{name}{f':{len(results)}' if several else ''} = fuse.{mnemonic} "
        text += ", ".join(operand.name for operand in operands)
        inline = INLINE.get(mnemonic, ["axes"] if mnemonic.startswith("reduce_") else [])
        for key in inline:
            listed = attributes[key]
            if isinstance(listed, (list, tuple)):
                listed = "[" + ", ".join(map(str, listed)) + "]"
            text += f" {key} = {listed}"
        rest = [key if key in UNIT else f"{key} = {format_attribute(key, item)}"
                for key, item in attributes.items()
                if key not in inline and not (key in UNIT and not item)]
        if rest:
            text += " {" + ", ".join(rest) + "}"
        if mnemonic == "barrier":
            text += f" : {operands[0].type}"
        else:
            types = ", ".join(result.type for result in results)
            text += f" : ({', '.join(operand.type for operand in operands)}) -> "
            text += f"({types})" if several else types
        text += f' loc("{loc or f"{mnemonic}_{name[2:]}"}")'
        self.body.append(text)
        return results if several else results[0]

    def output(self, tensor, operands=(), **check):
        """Returns a value from the function. `check` says how it is compared:
        ulps=…, or rtol=… and atol=…; exactly if it is not a float. `operands`
        are shown where it differs."""
        self.outputs.append(Output(tensor, check, tuple(operands)))
        return tensor

    def text(self):
        arguments = ", ".join(f"{t.name}: {t.type}" for t in self.inputs)
        types = ", ".join(output.tensor.type for output in self.outputs)
        names = ", ".join(output.tensor.name for output in self.outputs)
        body = "\n  ".join(self.body)
        return (f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n"
                f"  return {names} : {types}\n}}\n")

    def run(self, runner, *flags):
        """Runs the program and returns its outputs."""
        single = len(self.outputs) == 1
        return runner.run_model(
            self.text(), ".mlir",
            {f"arg{i}": array for i, array in enumerate(self.arrays)},
            {"out" if single else f"out{i}": output.tensor.element
             for i, output in enumerate(self.outputs)}, *flags)

    def compare(self, results):
        """Checks every output; reports all that differ, not only the first."""
        failures = []
        for position, (output, got) in enumerate(zip(self.outputs, results, strict=True)):
            tensor = output.tensor
            label = f"output {position} ({tensor.name})"
            inputs = [operand.value for operand in output.operands]
            try:
                compare_output(got, tensor, output.check, label, inputs)
            except AssertionError as error:
                made = next((line for line in self.body
                             if line.startswith(tensor.name.split("#")[0] + " ")
                             or line.startswith(tensor.name.split("#")[0] + ":")), "")
                failures.append(f"{error}\n    {made}")
        assert not failures, f"{len(failures)} of {len(results)} outputs:\n" + "\n".join(
            failures[:20])

    def check(self, runner, *flags):
        """Runs the program, compares with the oracle, returns the outputs."""
        results = self.run(runner, *flags)
        self.compare(results)
        return results


def compare_output(got, tensor, check, label, inputs):
    if not is_float(tensor.element):
        compare.check_exact(got, tensor.value, tensor.element, label, inputs)
    elif "ulps" in check:
        compare.check_ulp(got, tensor.value, tensor.element, check["ulps"], label,
                          inputs, check.get("zero_signs", False))
    else:
        rtol, atol = compare.default_tolerance(tensor.element)
        compare.check_close(got, tensor.value, tensor.element,
                            check.get("rtol", rtol), check.get("atol", atol), label, inputs)
