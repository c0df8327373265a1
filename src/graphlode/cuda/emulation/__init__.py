"""CUDA kernels on a CPU: the same sources, compiled by g++, with one fiber per CUDA thread."""
