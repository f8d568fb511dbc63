"""The sweep engine, and one module a study: its grid, its trial, its comparison with print."""
