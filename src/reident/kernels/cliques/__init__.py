"""Kernels of clique search."""
