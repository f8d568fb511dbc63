"""Kernels on points, distances and their linkage."""
