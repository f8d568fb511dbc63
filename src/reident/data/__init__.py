"""Data sets, simulated files, and the numbers that the documents print."""
