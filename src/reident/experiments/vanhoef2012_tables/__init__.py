"""Experiments of Vanhoef (2012), chapters 1 to 7: tables, query systems and differential privacy."""
