"""Element types of the dialect and the values that tests feed."""

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

# MLIR's name of each element type -> numpy's type. Signless integers are signed.
ELEMENT_TYPES = {
    "f16": np.dtype(np.float16),
    "bf16": BFLOAT16,
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
}
FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
INTEGERS = SIGNED + UNSIGNED
NUMERIC = FLOATS + INTEGERS


def is_float(element):
    return element in FLOATS


def float_info(element):
    """finfo of a float type, bfloat16 included."""
    return ml_dtypes.finfo(ELEMENT_TYPES[element])


def spacing(values, element):
    """The distance between neighbouring numbers of the type at each |value|:
    one unit in the last place. Meaningless for inf and NaN."""
    info = float_info(element)
    # frexp gives a mantissa in [0.5, 1).
    exponent = np.frexp(np.abs(values.astype(np.float64)))[1] - 1
    exponent = np.where(values == 0, int(info.minexp), exponent)
    exponent = np.maximum(exponent, int(info.minexp))
    return np.ldexp(1.0, exponent - int(info.nmant))


def round_to_element(values, element):
    """Values of any type rounded once, halves to even, to a float type; the
    result is float64 (numpy's own conversions to bfloat16 round twice)."""
    info = float_info(element)
    wide = np.asarray(values).astype(np.longdouble)
    finite = np.isfinite(wide)
    exponent = np.maximum(np.frexp(np.where(finite, wide, 1))[1] - 1,
                          int(info.minexp)) - int(info.nmant)
    rounded = np.ldexp(np.rint(np.ldexp(wide, -exponent)), exponent)
    rounded = np.where(finite, rounded, wide)
    largest = np.longdouble(float(info.max))
    overflow = np.copysign(np.longdouble(np.inf), rounded)
    return np.where(finite & (np.abs(rounded) > largest), overflow,
                    rounded).astype(np.float64)


def specials(element):
    """Values where implementations go wrong, of one element type."""
    dtype = ELEMENT_TYPES[element]
    if element == "i1":
        return np.array([False, True])
    if is_float(element):
        info = float_info(element)
        tiny, least = float(info.smallest_normal), float(info.smallest_subnormal)
        largest = float(info.max)
        positive = [0.0, least, 3 * least, tiny - least, tiny, 0.1, 0.5, 1.0,
                    1.5, 2.0, 2.5, 3.0, 10.0, largest / 4, largest, np.inf]
        return np.array(positive + [-v for v in positive] + [np.nan]).astype(dtype)
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2,
             0, 1, 2, 3, 7, 10]
    if info.min < 0:
        edges += [-1, -2, -3, -7]
    return np.array(edges, dtype)


def ordinary(element, shape, rng, low=-4.0, high=4.0):
    """Random values of moderate size: floats uniform in [low, high], integers
    in the same range as far as the type holds it."""
    dtype = ELEMENT_TYPES[element]
    if element == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if is_float(element):
        with np.errstate(over="ignore"):
            return rng.uniform(low, high, shape).astype(dtype)
    info = np.iinfo(dtype)
    low, high = max(int(np.ceil(low)), info.min), min(int(high), info.max)
    return rng.integers(low, high, shape, endpoint=True).astype(dtype)


def pairs_of_specials(element):
    """Every pair of special values, as two flat arrays."""
    values = specials(element)
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.ravel(), right.ravel()
