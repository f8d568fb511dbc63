"""Calls of the public functions: a good one of each, and the arguments that it must refuse."""
