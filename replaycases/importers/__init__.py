"""Foreign recordings become portable cases: bytes -> neutral run -> 2.0 fixture document, with what is missing said."""
