"""Settings, URLs, Celery and the WSGI entry point of the server."""

from replaycases.config.celery import app as celery_app

__all__ = ["celery_app"]
