"""Methods that protect a table, places or a network; each returns a release and never keeps a secret in it."""
