"""The experiments of the documents, one module each; sweeps, claims and their verdicts."""
