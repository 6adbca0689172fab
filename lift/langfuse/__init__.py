"""Everything that knows Langfuse: what is sent there, how, and what is read back.

The journal is the source: `publish` sends what a server has not taken yet, `pull` reads an
experiment back into the same frames. What is sent is made by pure modules (`masking`, `ids`,
`runs`, `otlp`, `scores`); only `client` talks to a server.
"""
