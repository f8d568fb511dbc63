"""Attacks on releases, run the way an intruder would."""
