"""Locate the records of released distances: by a map of the population, by a file, or by hidden reference sets."""
