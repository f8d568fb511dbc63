"""The studies, one folder each: what is run, its trials, its summaries, its figures, its comparison with print."""
