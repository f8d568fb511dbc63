"""Answers to queries: differentially private mechanisms, their budget, and how older defences fail."""
