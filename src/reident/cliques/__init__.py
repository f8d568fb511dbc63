"""Cliques: exact, published and approximate search on one type of graph."""
