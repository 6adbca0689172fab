"""Experiments to Langfuse and back, given the settings: what commands share."""
