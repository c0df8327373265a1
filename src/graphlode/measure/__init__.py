"""Measurements: timers that keep all samples, peak memory, simulated caches, and the environment of a measurement."""

from graphlode.measure.caches import PAPER_LEVELS, CacheLevel, CacheSimulation, simulate_caches
from graphlode.measure.environment import Commit, Environment, commit_of, environment
from graphlode.measure.memory import PeakMemory
from graphlode.measure.timing import Samples, Timer, Work, sample, sample_in_turn

__all__ = [
    "PAPER_LEVELS",
    "CacheLevel",
    "CacheSimulation",
    "Commit",
    "Environment",
    "PeakMemory",
    "Samples",
    "Timer",
    "Work",
    "commit_of",
    "environment",
    "sample",
    "sample_in_turn",
    "simulate_caches",
]
