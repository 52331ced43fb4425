"""What each op of the dialect means, written with numpy.

Floats are computed in float64 and stay unrounded; integers in their own type,
wrapping. `evaluate` is the entry: it takes and returns plain arrays.
"""

import numpy as np
import scipy.special
from types_and_values import ELEMENT_TYPES, is_float, round_to_element

UNARY_FLOAT = {
    "abs": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": scipy.special.erf,
    "exp": np.exp,
    "floor": np.floor,
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "log": np.log,
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0),
    "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}

PARAMETRIC = {
    "celu": lambda x, alpha=1.0: np.maximum(x, 0)
    + np.minimum(0, alpha * np.expm1(x / alpha)),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
    "gelu": lambda x, tanh_approximation=False: 0.5 * x * (
        1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    if tanh_approximation else x * gaussian_cdf(x),
    "hard_sigmoid": lambda x, alpha=0.2, beta=0.5: np.clip(alpha * x + beta, 0, 1),
    "leaky_relu": lambda x, alpha=0.01: np.where(x < 0, alpha * x, x),
    "selu": lambda x, alpha=1.67326319217681884765625,
    gamma=1.05070102214813232421875: np.where(
        x > 0, gamma * x, gamma * alpha * np.expm1(x)),
    "shrink": lambda x, bias=0.0, lambd=0.5: np.where(
        x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)),
    "swish": lambda x, alpha=1.0: x / (1 + np.exp(-alpha * x)),
    "thresholded_relu": lambda x, alpha=1.0: np.where(x > alpha, x, 0),
    "is_inf": lambda x, detect_negative=True, detect_positive=True:
        (np.isposinf(x) & detect_positive) | (np.isneginf(x) & detect_negative),
    "is_nan": np.isnan,
}


def gaussian_cdf(x):
    """(1 + erf(x / sqrt(2))) / 2 without cancellation for negative x."""
    return 0.5 * scipy.special.erfc(-x / np.sqrt(2))


UNARY_INTEGER = {
    "abs": np.abs,
    "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "sign": np.sign,
    "bitwise_not": np.invert,
}

COMPARISONS = {
    "equal": np.equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}

BINARY_FLOAT = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "mod": np.mod,
    "rem": np.fmod,
    "min": np.minimum,
    "max": np.maximum,
    "prelu": lambda x, y: np.where(x < 0, y * x, x),
}

BINARY_BOOL = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def divide_integers(x, y):
    """Quotient truncated toward zero and the remainder that goes with it. A
    zero divisor gives 0 for both; the smallest integer by -1 wraps."""
    wide_x, wide_y = x.astype(object), y.astype(object)
    safe = np.where(wide_y == 0, 1, wide_y)
    quotient = np.abs(wide_x) // np.abs(safe)
    quotient = np.where((wide_x < 0) != (safe < 0), -quotient, quotient)
    remainder = wide_x - quotient * safe
    zero = wide_y == 0
    return (wrap(np.where(zero, 0, quotient), x.dtype),
            wrap(np.where(zero, 0, remainder), x.dtype))


def wrap(values, dtype):
    """Python integers of any size, modulo the type's range."""
    bits = np.iinfo(dtype).bits
    mask = (1 << bits) - 1
    unsigned = np.array([int(v) & mask for v in np.ravel(values)], np.uint64)
    return unsigned.astype(np.dtype(f"u{bits // 8}")).view(dtype).reshape(
        np.shape(values))


def integer_power(x, y):
    def one(base, exponent):
        base, exponent = int(base), int(exponent)
        if exponent >= 0:
            return pow(base, exponent, 1 << 64)
        if base in (1, -1):
            return base if exponent % 2 else 1
        return 0
    return wrap(np.frompyfunc(one, 2, 1)(x, y), x.dtype)


def shift(x, y, left):
    bits = np.iinfo(x.dtype).bits

    def one(value, count):
        value, count = int(value), int(count)
        out_of_range = count < 0 or count >= bits
        if left:
            return 0 if out_of_range else value << count
        if out_of_range:
            return -1 if value < 0 else 0
        return value >> count
    return wrap(np.frompyfunc(one, 2, 1)(x, y), x.dtype)


def integer_modulo(x, y):
    remainder = divide_integers(x, y)[1]
    adjust = (remainder != 0) & ((remainder < 0) != (y < 0))
    return np.where(adjust, remainder + y, remainder).astype(x.dtype)


BINARY_INTEGER = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": lambda x, y: divide_integers(x, y)[0],
    "rem": lambda x, y: divide_integers(x, y)[1],
    "mod": integer_modulo,
    "pow": integer_power,
    "min": np.minimum,
    "max": np.maximum,
    "prelu": lambda x, y: np.where(x < 0, x * y, x),
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "shift_left": lambda x, y: shift(x, y, left=True),
    "shift_right": lambda x, y: shift(x, y, left=False),
}


def cast(x, element, result):
    """Conversion between any two element types."""
    target = ELEMENT_TYPES[result]
    if result == "i1":
        return x != 0
    if is_float(result):
        return round_to_element(x, result)
    if x.dtype.kind == "b":
        return x.astype(target)
    if x.dtype.kind in "iu":
        return wrap(x.astype(object), target)
    info = np.iinfo(target)
    whole = np.where(np.isnan(x), 0, np.clip(np.trunc(x), -1e30, 1e30))
    return np.array([min(max(int(v), info.min), info.max) for v in whole.ravel()],
                    target).reshape(x.shape)


def reduce(name, x, axes, keepdims=True):
    axes = tuple(axes)
    floats = x.dtype.kind == "f"
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))

    def total(values):
        return np.sum(values, axis=axes, keepdims=keepdims, dtype=values.dtype)

    def extreme(function, empty):
        if x.dtype.kind == "b":
            function = np.any if empty == "least" else np.all
            return function(x, axis=axes, keepdims=keepdims)
        if floats:
            initial = -np.inf if empty == "least" else np.inf
        else:
            info = np.iinfo(x.dtype)
            initial = info.min if empty == "least" else info.max
        return function(x, axis=axes, keepdims=keepdims, initial=initial)

    if name == "reduce_sum":
        return total(x)
    if name == "reduce_mean":
        if floats:
            return total(x) / count if count else total(x) * np.nan
        if count == 0:
            return total(x)
        sums = np.sum(x.astype(object), axis=axes, keepdims=keepdims)
        quotient = np.frompyfunc(lambda s: abs(s) // count * (1 if s >= 0 else -1),
                                 1, 1)(sums)
        return wrap(np.asarray(quotient), x.dtype)
    if name == "reduce_max":
        return extreme(np.max, "least")
    if name == "reduce_min":
        return extreme(np.min, "greatest")
    if name == "reduce_prod":
        return np.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    if name == "reduce_l1":
        return total(np.abs(x))
    if name == "reduce_sum_square":
        return total(x * x)
    if name == "reduce_l2":
        return as_type_of(x, np.sqrt(total(x * x)))
    if name == "reduce_log_sum":
        return as_type_of(x, np.log(total(x)))
    if name == "reduce_log_sum_exp":
        wide = x.astype(np.float64)
        peak = np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
        shift_by = np.where(np.isfinite(peak), peak, 0)
        result = np.log(np.sum(np.exp(wide - shift_by), axis=axes, keepdims=True))
        result = result + shift_by
        if not keepdims:
            result = np.squeeze(result, axis=axes)
        return as_type_of(x, result)
    raise KeyError(name)


def as_type_of(x, result):
    """A float result as the input's integer type, truncated and saturated."""
    if x.dtype.kind == "f":
        return result
    element = next(k for k, v in ELEMENT_TYPES.items() if v == x.dtype)
    return cast(np.asarray(result, np.float64), "f64", element)


def arg_extreme(x, axis, keepdims, select_last, largest):
    function = np.argmax if largest else np.argmin
    if select_last:
        position = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
    else:
        position = function(x, axis=axis)
    position = position.astype(np.int64)
    return np.expand_dims(position, axis) if keepdims else position


def softmax(x, axis):
    with np.errstate(all="ignore"):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
        return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    with np.errstate(all="ignore"):
        d = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        return d - np.log(np.sum(np.exp(d), axis=axis, keepdims=True))


def layer_norm(x, scale, bias=None, *, axis, epsilon=1e-5):
    axes = tuple(range(axis, x.ndim))
    d = x - np.mean(x, axis=axes, keepdims=True)
    y = d / np.sqrt(np.mean(d * d, axis=axes, keepdims=True) + epsilon) * scale
    return y if bias is None else y + bias


def rms_norm(x, scale, *, axis, epsilon=1e-5):
    axes = tuple(range(axis, x.ndim))
    return x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + epsilon) * scale


def batch_norm(x, scale, bias, mean, variance, epsilon=1e-5):
    channels = (1, -1) + (1,) * (x.ndim - 2) if x.ndim > 1 else (-1,)
    scale, bias, mean, variance = (
        v.reshape(channels) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def slice_(x, axes, starts, ends, steps):
    ranges = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        # A negative end beyond the front means "through element 0", which numpy
        # writes as None.
        extent = x.shape[axis]
        if step < 0 and end < -extent:
            end = None
        ranges[axis] = slice(start, end, step)
    return x[tuple(ranges)]


def pad(x, value=None, *, low, high, mode="constant"):
    for axis, (before, after) in enumerate(zip(low, high)):
        extent = x.shape[axis]
        index = np.arange(-before, extent + after)
        outside = (index < 0) | (index >= extent)
        if mode == "reflect":
            period = max(2 * (extent - 1), 1)
            index = np.abs(index) % period
            index = np.where(index >= extent, period - index, index)
        elif mode == "wrap":
            index = index % max(extent, 1)
        index = np.clip(index, 0, max(extent - 1, 0))
        if extent == 0:
            shape = list(x.shape)
            shape[axis] = len(index)
            x = np.zeros(shape, x.dtype)
        else:
            x = np.take(x, index, axis=axis)
        if mode == "constant" and outside.any():
            x = x.copy()
            where = [slice(None)] * x.ndim
            where[axis] = outside
            x[tuple(where)] = 0 if value is None else value
    return x


def gather(x, indices, axis):
    extent = x.shape[axis]
    index = np.where(indices < 0, indices + extent, indices)
    return np.take(x, np.clip(index, 0, max(extent - 1, 0)), axis=axis)


def reshape(x, shape, allow_zero=False):
    if not allow_zero:
        shape = [x.shape[i] if extent == 0 else extent
                 for i, extent in enumerate(shape)]
    return x.reshape(shape)


def split(x, axis, sizes):
    return np.split(x, np.cumsum(sizes)[:-1], axis=axis)


STRUCTURAL = {
    "barrier": lambda x: x,
    "identity": lambda x: x,
    "reshape": reshape,
    "squeeze": lambda x, axes: np.squeeze(x, axis=tuple(axes)),
    "unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "transpose": lambda x, permutation: np.transpose(x, permutation),
    "expand": lambda x, shape: np.broadcast_to(
        x, np.broadcast_shapes(x.shape, tuple(shape))),
    "slice": slice_,
    "concat": lambda *xs, axis: np.concatenate(xs, axis=axis),
    "split": split,
    "pad": pad,
    "gather": gather,
    "tile": lambda x, repeats: np.tile(x, repeats),
    "shape_of": lambda x, start, end: np.array(x.shape[start:end], np.int64),
    "where": np.where,
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "softmax": softmax,
    "log_softmax": log_softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "batch_norm": batch_norm,
    "argmax": lambda x, axis, keepdims=True, select_last=False: arg_extreme(
        x, axis, keepdims, select_last, True),
    "argmin": lambda x, axis, keepdims=True, select_last=False: arg_extreme(
        x, axis, keepdims, select_last, False),
    "not": np.logical_not,
}


def evaluate(name, operands, attributes):
    """The result of op `fuse.NAME` (a list for split) on arrays of float64,
    integers or booleans. fuse.cast has its own function."""
    first = operands[0]
    kind = first.dtype.kind
    with np.errstate(all="ignore"):
        if name.startswith("reduce_"):
            return reduce(name, first, **attributes)
        if name in STRUCTURAL:
            return STRUCTURAL[name](*operands, **attributes)
        if name in COMPARISONS:
            return COMPARISONS[name](*operands)
        if name in BINARY_BOOL:
            return BINARY_BOOL[name](*operands)
        if len(operands) == 2:
            table = BINARY_FLOAT if kind == "f" else BINARY_INTEGER
            result = table[name](*np.broadcast_arrays(*operands))
            return np.asarray(result, first.dtype)
        if name in PARAMETRIC:
            result = PARAMETRIC[name](first, **attributes)
            return result if kind == "f" else np.asarray(result, first.dtype)
        table = UNARY_FLOAT if kind == "f" else UNARY_INTEGER
        return table[name](first)
