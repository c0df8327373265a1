"""CUDA kernels on a CPU: the very same sources, compiled by g++ and run one fiber per CUDA thread."""
