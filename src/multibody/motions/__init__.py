"""The motions that there are, one short file each; written as one of your own would be."""

from stagecache.multibody.motions.sinusoid import Sinusoid
from stagecache.multibody.motions.steady import Steady

__all__ = ["Sinusoid", "Steady"]
