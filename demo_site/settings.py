"""Settings of the demo site: SQLite and a private Redis unless the environment names others."""

from __future__ import annotations

import os
from pathlib import Path

import dj_database_url

from demo_site.servers import socket_in, url_of

BASE_DIR = Path(__file__).resolve().parent.parent
DEMO_DIR = Path(os.environ.get("DEMO_DIR") or BASE_DIR / ".demo").absolute()

SECRET_KEY = "only-for-the-demo-on-your-own-machine"  # noqa: S105  (the demo holds no secrets)
DEBUG = os.environ.get("DEBUG", "1") == "1"
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_rq",
    "fairimport",
    "demo_site",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "demo_site.middleware.ContentSecurityPolicy",
]

ROOT_URLCONF = "demo_site.urls"
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
                "demo_site.context.company",
            ]
        },
    }
]

SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}
DATABASE_URL = os.environ.get("DATABASE_URL")
DATABASES = {
    "default": dj_database_url.parse(DATABASE_URL)
    if DATABASE_URL
    else {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DEMO_DIR / "demo.sqlite3")}
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS

REDIS_URL = os.environ.get("REDIS_URL") or url_of(socket_in(DEMO_DIR / "redis"))
RQ_QUEUES = {"imports": {"URL": REDIS_URL}}

FAIRIMPORT = {
    "TENANT": "demo_site.tenants.tenant_of",
    "LEASE": float(os.environ.get("FAIRIMPORT_LEASE", "3")),
}

MEDIA_ROOT = DEMO_DIR / "media"
STATIC_URL = "static/"
STATIC_ROOT = DEMO_DIR / "static"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE = "Europe/Berlin"
USE_TZ = True
LANGUAGE_CODE = "en"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
