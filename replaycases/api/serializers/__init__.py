"""Rows as JSON, and the shapes that requests must have. No rule of the domain is decided here."""
