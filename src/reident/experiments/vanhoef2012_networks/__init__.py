"""Experiments of Vanhoef (2012), chapters 7 to 10: networks anonymised and attacked."""
