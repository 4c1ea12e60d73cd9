"""kbench: the referee for machine-written GPU kernels."""

__version__ = "0.1.0"
