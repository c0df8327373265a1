"""Non-negative least squares over observations that fade, by the extension."""

from __future__ import annotations

from graphlode.cpu import _native

DecayingFit = _native.DecayingFit
