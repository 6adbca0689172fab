"""Everything that knows Langfuse: what is sent there, how, and what is read back.

The journal is the source: `publish` sends what a server has not taken yet, `datasets` makes its
datasets like ours, `pull` reads an experiment back into the same frames, `links` says where to
look. What is sent is made by pure modules (`masking`, `ids`, `planned`, `runs`, `traces`, `otlp`,
`scores`, `parts`); only `client` talks to a server, and `faults` says what went wrong.
"""
