"""What a person or a program reads: one module a format, a result in, one string out."""
