"""The one settings file. Everything that differs between deployments comes from the environment
(docs/operations.md lists the variables); a bad value stops the start and names its variable."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import get_args

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from replaycases.config import environment as env
from replaycases.importers.neutral import Boundary as RecordedBoundary
from replaycases.replay.sandbox.base import TierName

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = Path(env.ENV.str("REPLAYCASES_VAR", default=str(BASE_DIR / "var")))
if not VAR_DIR.is_absolute():
    raise ImproperlyConfigured("REPLAYCASES_VAR must be an absolute path")
VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

# --- Core -----------------------------------------------------------------------------------------------------------

EMBEDDED = not env.ENV.str("DATABASE_URL", default="")
DEBUG = env.flag("REPLAYCASES_DEBUG", default=False)
SECRET_KEY = env.secret("REPLAYCASES_SECRET_KEY", embedded_file=VAR_DIR / "secret-key" if EMBEDDED else None)
ALLOWED_HOSTS = env.words("REPLAYCASES_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("REPLAYCASES_CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "replaycases.config.apps.AdminSiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_filters",
    "drf_spectacular",
    "rest_framework",
    "replaycases.accounts",
    "replaycases.cases",
    "replaycases.web",
    "replaycases.api",
]

MIDDLEWARE = [
    # Outermost: what the next ones answer by themselves (another host, a file, a redirect) bears these headers too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "replaycases.web.middleware.NeverStored",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "replaycases.accounts.sessions.SessionLimits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "replaycases.web.middleware.NulRefused",
    "replaycases.web.middleware.BodyLimit",
    "replaycases.web.middleware.ErrorPages",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "replaycases.config.urls"
WSGI_APPLICATION = "replaycases.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Data -----------------------------------------------------------------------------------------------------------

DATABASES = {"default": env.database("DATABASE_URL", sqlite_path=VAR_DIR / "replaycases.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The keys that raw evidence is sealed under: a file that forgets what passed, or a fixed ring in the environment.
EVIDENCE_KEYS = env.ENV.str("REPLAYCASES_EVIDENCE_KEYS", default="")
_RING_FILE = env.ENV.str("REPLAYCASES_EVIDENCE_KEYS_FILE", default="")
EVIDENCE_KEYS_FILE = Path(_RING_FILE) if _RING_FILE else VAR_DIR / "evidence-keys.json"
# Made at the first use unless a place is named: hosts that share a database share one ring, which is made once.
EVIDENCE_KEYS_MADE = not _RING_FILE

MAX_UPLOAD_BYTES = env.number("REPLAYCASES_MAX_UPLOAD_BYTES", default=64 * 1024 * 1024)
# What a form's fields may have together, files apart: a fixture that is edited on a page, and words beside it.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 10
FILE_UPLOAD_HANDLERS = ["replaycases.web.uploads.NamelessUpload"]

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns about a missing one at every start
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True

# --- People ---------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
PASSWORD_RESET_TIMEOUT = 4 * 60 * 60

# Throttling stands before the passwords are looked at: while it lasts the right one is refused too.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
# Trying on does not make it longer: a person who waits gets in.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "replaycases.accounts.throttling.client_address"
AXES_LOCKOUT_CALLABLE = "replaycases.web.views.account.too_many_attempts"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# --- Mail -----------------------------------------------------------------------------------------------------------

# Without EMAIL_URL mails become files, or are printed where the server logs: nothing is sent, and nothing claims to be.
globals().update(env.mail("EMAIL_URL", embedded_folder=VAR_DIR / "mail" if EMBEDDED else None))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.ENV.str("DEFAULT_FROM_EMAIL", default="replaycases@localhost")

# --- Browser security -----------------------------------------------------------------------------------------------

# Embedded means one machine, spoken to over loopback without TLS; everything else is behind TLS unless it says so.
HTTPS = env.flag("REPLAYCASES_HTTPS", default=not EMBEDDED)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# A browser takes a cookie of such a name only over TLS, from this very host, for the whole of it.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
# A session ends this long after signing in, whatever is done, and when nothing is done for so long.
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_IDLE_SECONDS = 2 * 60 * 60
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
BEHIND_PROXY = env.flag("REPLAYCASES_BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Links in mails start with it: never with the host that a request names.
REPLAYCASES_BASE_URL = env.origin(
    "REPLAYCASES_BASE_URL", default=f"https://{ALLOWED_HOSTS[0].lstrip('.')}" if HTTPS else "http://localhost:8000"
)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
        "img-src": [SELF, "data:"],
    },
}

# --- API ------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "replaycases.api.parsers.StrictJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "replaycases",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "BoundaryEnum": "replaycases.cases.models.Boundary",
        "RecordedBoundaryEnum": get_args(RecordedBoundary),
        "DecisionKindEnum": "replaycases.cases.models.DecisionKind",
        "LaneNameEnum": "replaycases.cases.models.LaneName",
        "NotificationKindEnum": "replaycases.cases.models.NotificationKind",
        "ProposalKindEnum": "replaycases.cases.models.ProposalKind",
        "ProposalStateEnum": "replaycases.cases.models.ProposalState",
        "RoleEnum": "replaycases.accounts.roles.Role",
        "RuleKindEnum": "replaycases.cases.models.RuleKind",
        "RunStateEnum": "replaycases.cases.models.RunState",
    },
}

# --- Replay ---------------------------------------------------------------------------------------------------------

# Directories from which an implementation may be registered by path; none unless an administrator names some.
REPLAYCASES_IMPLEMENTATION_PATHS = env.directories("REPLAYCASES_IMPLEMENTATION_PATHS")
# "" takes the strongest isolation tier that works on the worker; a named one is never replaced by another.
REPLAYCASES_ISOLATION = env.choice("REPLAYCASES_ISOLATION", default="", options=("", *get_args(TierName)))
# Tier `process` isolates nothing: for a laptop without any other; its best label is unisolated_pass.
REPLAYCASES_ALLOW_PROCESS = env.flag("REPLAYCASES_ALLOW_PROCESS", default=False)
REPLAYCASES_WALL_SECONDS = env.number("REPLAYCASES_WALL_SECONDS", default=60)
REPLAYCASES_LEASE_SECONDS = env.number("REPLAYCASES_LEASE_SECONDS", default=30, minimum=2)
REPLAYCASES_SWEEP_SECONDS = env.number("REPLAYCASES_SWEEP_SECONDS", default=10)
# How long a sent message may stay unanswered before the sweep sends another one.
REPLAYCASES_RESEND_SECONDS = env.number("REPLAYCASES_RESEND_SECONDS", default=60)
# How often the calendar is read (evidence that ends, reviews due) and people are told.
REPLAYCASES_NOTIFY_SECONDS = env.number("REPLAYCASES_NOTIFY_SECONDS", default=60)

# How long somebody who said why sees the raw evidence of a case or a capture.
REPLAYCASES_RAW_READ_MINUTES = env.number("REPLAYCASES_RAW_READ_MINUTES", default=30)

# --- Collectors: what is kept of their traces, for each project ------------------------------------------------------

REPLAYCASES_OTLP_BODY_BYTES = env.number("REPLAYCASES_OTLP_BODY_BYTES", default=16 * 1024 * 1024)
REPLAYCASES_OTLP_BUFFER_BYTES = env.number("REPLAYCASES_OTLP_BUFFER_BYTES", default=256 * 1024 * 1024)
REPLAYCASES_OTLP_BUFFER_TRACES = env.number("REPLAYCASES_OTLP_BUFFER_TRACES", default=50_000)
REPLAYCASES_OTLP_TRACE_SPANS = env.number("REPLAYCASES_OTLP_TRACE_SPANS", default=20_000)
REPLAYCASES_OTLP_KEEP_SECONDS = env.number("REPLAYCASES_OTLP_KEEP_SECONDS", default=6 * 60 * 60)
# A trace of which nothing came for so long is captured by a rule, or may be dropped.
REPLAYCASES_OTLP_QUIET_SECONDS = env.number("REPLAYCASES_OTLP_QUIET_SECONDS", default=60)

# --- Celery: it only rings the bell; the run's row is the queue of record -------------------------------------------

CELERY_SOFT_LIMIT_SECONDS = REPLAYCASES_WALL_SECONDS + 60
CELERY_HARD_LIMIT_SECONDS = CELERY_SOFT_LIMIT_SECONDS + 30
BROKER_DIR = VAR_DIR / "broker"
CELERY_REDIS_URL = env.broker("REDIS_URL")
CELERY_CONCURRENCY = env.number("REPLAYCASES_WORKER_CONCURRENCY", default=2)

# With REPLAYCASES_DEBUG: a page that quotes no evidence either.
DEFAULT_EXCEPTION_REPORTER = "replaycases.config.debug_page.WithoutText"
DEFAULT_EXCEPTION_REPORTER_FILTER = "replaycases.config.debug_page.NothingQuoted"

# --- Log: ids and counts, never evidence ----------------------------------------------------------------------------

LOG_LEVEL = env.choice("REPLAYCASES_LOG_LEVEL", default="INFO", options=("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "replaycases.config.log.WithoutText", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "replaycases": {"level": LOG_LEVEL},
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
    },
}
