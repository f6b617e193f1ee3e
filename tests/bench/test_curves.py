from __future__ import annotations

import pytest

from bench.curves import SIZES, Curve, Point, figures


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_the_slope_of_the_logarithms(power: float) -> None:
    curve = Curve("work", [Point(size, 0.003 * size**power, 1.0) for size in SIZES])
    assert curve.exponent == pytest.approx(power)
    (figure,) = figures([curve])
    assert figure.is_over == (power > 1.15)
