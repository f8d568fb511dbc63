"""Kernels on records, classes and weights."""
