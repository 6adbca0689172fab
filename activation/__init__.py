"""The static review: is a skill well-formed, and does it fire when it should."""
