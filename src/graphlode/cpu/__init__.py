"""The CPU device and its kernels: the only package that imports the extension module."""
