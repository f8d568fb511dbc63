"""Networks: graphs and their files, degree anonymity, active and passive attacks, properties."""
