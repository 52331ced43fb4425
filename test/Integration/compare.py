"""Comparison of results with the oracle's."""

import numpy as np
from types_and_values import ELEMENT_TYPES, is_float, round_to_element, spacing


def describe(index, got, want, inputs=()):
    """One line about one element, with the inputs at the same position."""
    text = f"at {tuple(int(i) for i in index)}: got {got!r}, want {want!r}"
    for position, values in enumerate(inputs):
        if values.shape and len(index) == values.ndim:
            text += f", operand {position} = {values[tuple(index)]!r}"
    return text


def first_of(mask):
    return tuple(np.argwhere(np.atleast_1d(mask))[0]) if np.ndim(mask) else ()


def check_shape_and_type(got, want, element, label):
    expected = ELEMENT_TYPES[element]
    assert got.dtype == expected, f"{label}: got {got.dtype}, want {expected}"
    assert got.shape == want.shape, f"{label}: got shape {got.shape}, want {want.shape}"


def check_exact(got, want, element, label, inputs=()):
    """Integers and booleans: every element equal."""
    check_shape_and_type(got, want, element, label)
    wrong = np.asarray(got != want)
    if wrong.any():
        index = first_of(wrong)
        raise AssertionError(f"{label}: {np.count_nonzero(wrong)} of {wrong.size} differ, "
                             + describe(index, got[index], want[index], inputs))


def check_ulp(got, want, element, limit, label, inputs=(), zero_signs=False):
    """Floats: `want` is float64; each element at most `limit` units in the last
    place of the result's type away, NaN and inf in the same places. With
    `zero_signs`, a zero has the wanted sign."""
    check_shape_and_type(got, want, element, label)
    got = got.astype(np.float64)
    rounded = round_to_element(want, element)
    finite = np.isfinite(rounded)
    with np.errstate(all="ignore"):
        error = np.abs(got - want) / spacing(rounded, element)
    wrong = np.where(finite, ~(error <= limit),
                     ~((got == rounded) | (np.isnan(got) & np.isnan(rounded))))
    if zero_signs:
        zero = (got == 0) & (rounded == 0)
        wrong = wrong | (zero & (np.signbit(got) != np.signbit(rounded)))
    if wrong.any():
        index = first_of(wrong)
        worst = np.nanmax(np.where(finite, error, 0), initial=0)
        raise AssertionError(
            f"{label}: {np.count_nonzero(wrong)} of {wrong.size} differ, worst "
            f"{worst:.3g} ULP of {element} (limit {limit}), "
            + describe(index, got[index], want[index], inputs))


def check_close(got, want, element, rtol, atol, label, inputs=()):
    """Floats within a relative and an absolute tolerance in float64; what is too
    large for the type is inf in it."""
    check_shape_and_type(got, want, element, label)
    got = got.astype(np.float64)
    right = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    wrong = ~(right | (got == round_to_element(want, element)))
    if wrong.any():
        index = first_of(wrong)
        with np.errstate(all="ignore"):
            worst = np.nanmax(np.abs(got - want), initial=0)
        raise AssertionError(
            f"{label}: {np.count_nonzero(wrong)} of {wrong.size} differ, largest error "
            f"{worst:.3g} (rtol {rtol}, atol {atol}), "
            + describe(index, got[index], want[index], inputs))


def check_bits(left, right, label):
    """Two results are the same bytes (any NaN equals any NaN)."""
    assert left.dtype == right.dtype and left.shape == right.shape, label
    same = left == right
    if left.dtype.kind not in "iub":
        same |= np.isnan(left) & np.isnan(right)
        same &= (np.signbit(left) == np.signbit(right)) | np.isnan(left)
    if not np.all(same):
        index = first_of(~same)
        raise AssertionError(f"{label}: {np.count_nonzero(~same)} of {same.size} differ, "
                             + describe(index, left[index], right[index]))


def default_tolerance(element):
    """(rtol, atol) of a chain of a few ops."""
    return {"f64": (1e-12, 1e-13), "f32": (2e-5, 2e-6), "f16": (4e-3, 4e-3),
            "bf16": (3e-2, 3e-2)}[element] if is_float(element) else (0, 0)
