"""Benchmarks: cases as data (`cases/`), a runner that verifies every answer (`run.py`), a generated report (`report.py`)."""
