"""Kernels that locate the records of released distances."""
