"""A refund agent that knows its surroundings through a session only: the same code runs live, recorded and replayed."""
