"""Measures of disclosure and of what a release is still good for."""
