"""Differentially private mechanisms and the budget that they spend."""
