"""The CPU device and its kernels. Only this package imports the extension module `_native`."""
