"""Random graphs of the dialect's ops, reproducible from a seed.

Every op added keeps values of moderate size, so that differences between
correct implementations stay small. Ops that jump (comparisons, rounding) only
see inputs: there no rounding of an earlier op decides which way they go.
"""

import numpy as np
from program import Program
from types_and_values import ordinary

UNARY = ["abs", "atan", "cos", "erf", "gelu", "hard_swish", "neg", "relu", "sigmoid", "sin",
         "softplus", "softsign", "swish", "tanh"]
BINARY = ["add", "sub", "mul", "max", "min"]
REDUCTIONS = ["reduce_mean", "reduce_max", "reduce_min", "reduce_l2", "reduce_log_sum_exp"]
MAX_ELEMENTS = 6000


class Generator:
    """Grows one program op by op from a pool of values."""

    def __init__(self, seed, dynamic=False, element="f32", precision=np.float64):
        self.rng = np.random.default_rng(seed)
        self.program = Program(dynamic, precision)
        self.element = element
        self.pool = []
        self.used = set()
        self.empty = False

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def operand(self, rank=None):
        """A value of the pool, recent ones more often."""
        candidates = [v for v in self.pool if rank is None or len(v.shape) >= rank]
        if not candidates:
            return None
        position = int(len(candidates) * np.sqrt(self.rng.random()))
        return candidates[position]

    def new_input(self, shape):
        self.empty = self.empty or 0 in shape
        value = self.program.input(ordinary(self.element, shape, self.rng, -2, 2),
                                   self.element)
        self.pool.append(value)
        return value

    def add(self, name, *operands, **attributes):
        self.used.update(operand.name for operand in operands)
        return self.program.op(name, *operands, **attributes)

    def scalar(self, value):
        return self.program.constant(np.asarray(value, self.pool[0].stored))

    def unary(self):
        x = self.operand()
        if self.rng.random() < 0.15:
            return self.add("exp", self.add("neg", self.add("abs", x)))
        return self.add(self.pick(UNARY), x)

    def binary(self):
        """With a value that broadcasts, one whose result stays moderate."""
        x = self.operand()
        partners = [v for v in self.pool if broadcasts(v.shape, x.shape)]
        y = self.pick(partners)
        name = self.pick([*BINARY, "div"])
        if name == "div":
            y = self.add("add", self.add("abs", y), self.scalar(1.0))
        elif name == "mul":
            y = self.add("tanh", y)
        operands = (x, y) if self.rng.random() < 0.5 or name == "div" else (y, x)
        return self.add(name, *operands)

    def reduction(self):
        x = self.operand(rank=1)
        if x is None:
            return self.unary()
        axes = sorted(self.rng.choice(len(x.shape), self.rng.integers(1, len(x.shape) + 1),
                                      replace=False).tolist())
        if 0 in (x.shape[a] for a in axes):
            return self.unary()
        return self.add(self.pick(REDUCTIONS), x, axes=axes,
                        keepdims=bool(self.rng.random() < 0.7))

    def row(self):
        x = self.operand(rank=1)
        if x is None:
            return self.unary()
        axis = int(self.rng.integers(len(x.shape)))
        name = self.pick(["softmax", "log_softmax", "layer_norm", "rms_norm"])
        if name.endswith("softmax"):
            return self.add(name, x, axis=axis)
        # A large epsilon: rows of equal values must not amplify rounding.
        return self.add(name, x, self.scalar(1.5), axis=axis, epsilon=0.5)

    def normalisation(self):
        """Softmax or layer norm written out."""
        x = self.operand(rank=1)
        if x is None or 0 in x.shape:
            return self.unary()
        axis = [len(x.shape) - 1]
        if self.rng.random() < 0.5:
            e = self.add("exp", self.add("sub", x, self.add("reduce_max", x, axes=axis)))
            return self.add("div", e, self.add("reduce_sum", e, axes=axis))
        d = self.add("sub", x, self.add("reduce_mean", x, axes=axis))
        variance = self.add("reduce_mean", self.add("mul", d, d), axes=axis)
        return self.add("mul", d, self.add("rsqrt", self.add("add", variance,
                                                             self.scalar(0.5))))

    def move(self):
        x = self.operand()
        rank, rng = len(x.shape), self.rng
        name = self.pick(["reshape", "transpose", "unsqueeze", "slice", "pad", "concat",
                          "gather", "expand", "split"])
        if rank == 0 or (name == "gather" and x.shape[0] == 0):
            name = "unsqueeze"
        axis = int(rng.integers(max(rank, 1)))
        if name == "reshape":
            return self.add(name, x, shape=[*x.shape[:-2], int(np.prod(x.shape[-2:]))])
        if name == "transpose":
            return self.add(name, x, permutation=rng.permutation(rank).tolist())
        if name == "unsqueeze":
            return self.add(name, x, axes=[int(rng.integers(rank + 1))])
        if name == "slice":
            step = self.pick([1, 1, 2, -1])
            start = int(rng.integers(-2, 3))
            ends = 2**40 if step > 0 else -(2**40)
            return self.add(name, x, axes=[axis], starts=[start], ends=[ends], steps=[step])
        if name == "pad":
            low, high = (rng.integers(0, 3, rank).tolist() for _ in range(2))
            return self.add(name, x, low=low, high=high)
        if name == "concat":
            others = [v for v in self.pool if len(v.shape) == rank and
                      all(i == axis or a == b
                          for i, (a, b) in enumerate(zip(v.shape, x.shape)))]
            return self.add(name, x, self.pick(others), axis=axis)
        if name == "gather":
            indices = rng.integers(-x.shape[axis], x.shape[axis],
                                   int(rng.integers(1, 4))) if x.shape[axis] else []
            return self.add(name, x, self.program.constant(np.array(indices, np.int64)),
                            axis=axis)
        if name == "split":
            if x.shape[axis] < 2:
                return self.unary()
            cut = int(rng.integers(1, x.shape[axis]))
            parts = self.add(name, x, axis=axis, sizes=[cut, x.shape[axis] - cut])
            return self.pick(parts)
        return self.add(name, x, shape=[2, *x.shape])

    def choice(self):
        inputs = self.program.inputs
        x = self.pick(inputs)
        condition = self.program.op(self.pick(["less", "greater_equal"]), x, self.scalar(0.25))
        y = self.pick([v for v in self.pool if broadcasts(v.shape, x.shape)])
        shape = np.broadcast_shapes(x.shape, y.shape)
        z = self.pick([v for v in self.pool if broadcasts(v.shape, shape)])
        return self.add("where", condition, y, z)

    def grow(self, steps):
        moves = [(self.unary, 0.3), (self.binary, 0.25), (self.reduction, 0.1),
                 (self.row, 0.05), (self.normalisation, 0.05), (self.move, 0.15),
                 (self.choice, 0.1)]
        functions, weights = zip(*moves)
        for _ in range(steps):
            value = functions[self.rng.choice(len(functions), p=weights)]()
            # One empty value would soon make all others empty.
            fits = value.value.size > 0 or self.empty
            if fits and value.value.size <= MAX_ELEMENTS and len(value.shape) <= 6:
                self.pool.append(value)

    def finish(self):
        """Returns every value that nothing uses, and some that something does."""
        computed = [v for v in self.pool if not v.name.startswith("%arg")]
        for value in computed:
            if value.name not in self.used or self.rng.random() < 0.15:
                self.program.output(value)
        if not self.program.outputs:
            self.program.output(self.add("identity", self.pool[0]))
        return self.program


def broadcasts(left, right):
    try:
        shape = np.broadcast_shapes(left, right)
    except ValueError:
        return False
    return int(np.prod(shape)) <= MAX_ELEMENTS


SHAPES = [[(5, 37), (1, 37), (5, 1)], [(2, 3, 18), (3, 1), (18,)], [(67,), (1,), ()],
          [(4, 1, 6, 9), (6, 1), (9,)], [(16, 64), (64,), (16, 1)], [(3, 100), (3, 100), ()],
          [(1, 8, 8, 4), (8, 1, 1), (1, 4)], [(2, 0, 5), (5,), (1, 5)]]


def random_program(seed, steps=14, dynamic=False, element="f32"):
    """A program whose outputs have tolerances that fit its ops: the difference
    between computing in float64 and in float32 shows how much each output
    amplifies rounding errors, which are proportional to the element type's
    precision."""
    programs = []
    for precision in (np.float64, np.float32):
        generator = Generator(seed, dynamic, element, precision)
        for shape in SHAPES[seed % len(SHAPES)]:
            generator.new_input(shape)
        generator.grow(steps)
        programs.append(generator.finish())
    exact, rounded = programs
    assert exact.text() == rounded.text()
    for output, narrow in zip(exact.outputs, rounded.outputs, strict=True):
        want = output.tensor.value
        if want.dtype.kind != "f" or want.size == 0:
            continue
        error = np.max(np.abs(want - narrow.tensor.value.astype(np.float64)), initial=0)
        scale = max(np.max(np.abs(want), initial=0), 1e-3)
        unit = 2.0 ** -{"f64": 52, "f32": 23, "f16": 10, "bf16": 7}[element]
        output.check.update(rtol=16 * unit,
                            atol=unit * (8 * error / 2.0**-23 + 16 * scale))
    return exact
