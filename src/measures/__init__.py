"""Measures: integrals, extremes, delays, with their memory in the State."""

from stagecache.measures.delay import Delay
from stagecache.measures.derivative import Derivative
from stagecache.measures.extreme import Extreme
from stagecache.measures.integral import Integral
from stagecache.measures.measure import AbstractMeasure
from stagecache.measures.sample import SampleAndHold

__all__ = ["AbstractMeasure", "Delay", "Derivative", "Extreme", "Integral", "SampleAndHold"]
