"""The two forms of stagecache: compiled, as users install it, and plain Python."""

from benchmarks.forms.folders import COMPILED, PLAIN, form_here, other_form, prepare
from benchmarks.forms.process import OtherForm

__all__ = ["COMPILED", "PLAIN", "OtherForm", "form_here", "other_form", "prepare"]
