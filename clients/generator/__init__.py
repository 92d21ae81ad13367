"""The client generator: one model of the API, and one emitter for each language."""
