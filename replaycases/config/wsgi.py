"""The WSGI entry point, for gunicorn: whoever imports it has the application loaded as a server has."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "replaycases.config.settings")
_loaded = get_wsgi_application()

from replaycases.web.bodies import WholeBodies  # noqa: E402  it needs what is loaded here

application = WholeBodies(_loaded)
# The views and what they import, or the first request would wait for them.
get_resolver().url_patterns  # noqa: B018
# What is loaded stays. Left in sight, every full collection would look through all of it, a tenth of a second in which
# a page waits.
gc.collect()
gc.freeze()
