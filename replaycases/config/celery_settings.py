"""Celery's settings, derived from Django's; the reason stands beside what is not Celery's default."""

from __future__ import annotations

from django.conf import settings
from kombu.entity import Exchange, Queue

from replaycases.config import filesystem_broker

REPLAYS = "replays"
SWEEPS = "sweeps"
LANE_SECONDS = 3600.0


def _queue(name: str) -> Queue:
    # The default exchange routes by queue name: no binding is stored anywhere that could be half-written or lost.
    return Queue(name, exchange=Exchange(""), routing_key=name)  # type: ignore[no-untyped-call] # kombu has no types here


broker_url = settings.CELERY_REDIS_URL or f"{filesystem_broker.ALIAS}://localhost//"
broker_transport_options = (
    # Redis hands a message out again after the visibility timeout; it must outlast the longest task.
    {
        "visibility_timeout": settings.CELERY_HARD_LIMIT_SECONDS * 2,
        "socket_connect_timeout": 2,
        "socket_timeout": 3,
    }
    if settings.CELERY_REDIS_URL
    else {"folder": str(settings.BROKER_DIR)}
)
# A request that publishes must not wait for a broken broker: one short attempt, and the sweep sends again.
broker_connection_timeout = 2
task_publish_retry = False
# A worker, on the other hand, waits for its broker for as long as it takes.
broker_connection_retry_on_startup = True
broker_connection_max_retries = None

accept_content = ["json"]
task_serializer = "json"
result_backend = None
task_ignore_result = True

task_acks_late = True
# Redelivery of a poison task has no bound in Celery; attempts are counted in the database instead.
task_reject_on_worker_lost = False
worker_prefetch_multiplier = 1
worker_concurrency = settings.CELERY_CONCURRENCY
worker_enable_remote_control = False
worker_hijack_root_logger = False
worker_cancel_long_running_tasks_on_connection_loss = False
# Above the sandbox's own wall clock: these only fire when the supervisor itself hangs.
task_soft_time_limit = settings.CELERY_SOFT_LIMIT_SECONDS
task_time_limit = settings.CELERY_HARD_LIMIT_SECONDS

task_queues = [_queue(REPLAYS), _queue(SWEEPS)]
task_default_queue = REPLAYS
task_default_exchange = ""
task_create_missing_queues = False
# Each beat by its task's name, and how often it looks.
_SECONDS = {
    "sweep": float(settings.REPLAYCASES_SWEEP_SECONDS),
    "warn_of_ends": float(settings.REPLAYCASES_NOTIFY_SECONDS),
    "destroy_what_ended": float(settings.REPLAYCASES_NOTIFY_SECONDS),
    "raise_flags": float(settings.REPLAYCASES_NOTIFY_SECONDS),
    "tell_people": float(settings.REPLAYCASES_NOTIFY_SECONDS),
    "send_mail": float(settings.REPLAYCASES_NOTIFY_SECONDS),
    "capture_traces": float(settings.REPLAYCASES_SWEEP_SECONDS),
    "drop_traces": float(settings.REPLAYCASES_SWEEP_SECONDS),
    # Figures are good for a minute: see `cases.figures`.
    "count_projects": 20.0,
    # It looks at what is due by the day; an hour late is soon enough.
    "run_lanes": LANE_SECONDS,
}
# They have a queue of their own so that a backlog of replays does not hold them up.
task_routes = {f"cases.{name}": {"queue": SWEEPS} for name in _SECONDS}

timezone = "UTC"
beat_schedule = {name: {"task": f"cases.{name}", "schedule": seconds} for name, seconds in _SECONDS.items()}
beat_schedule_filename = str(settings.VAR_DIR / "beat-schedule")
