"""Record linkage with learned weights: fuzzy measures, the programmes that learn them, and their solution."""
