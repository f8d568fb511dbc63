"""The sweep engine: trials over a grid, on one processor or many, kept as they end; neutral about what a trial does."""
