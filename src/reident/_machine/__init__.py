"""What long work asks of the machine: memory before it begins, locks while it goes on, a line that tells how far."""
