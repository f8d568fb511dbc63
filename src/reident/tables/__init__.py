"""Tables: classes, hierarchies, k-anonymity, masking, disclosure inside classes, record linkage."""
