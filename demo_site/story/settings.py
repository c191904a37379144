"""The demo's settings, the story's app, and the one list that the lanes are compared with."""

from __future__ import annotations

import os

from demo_site.settings import *  # noqa: F403  (the demo's settings, and these)
from demo_site.settings import FAIRIMPORT as DEMO
from demo_site.settings import INSTALLED_APPS as APPS
from demo_site.settings import REDIS_URL as URL

INSTALLED_APPS = [*APPS, "demo_site.story"]
RQ_QUEUES = {"imports": {"URL": URL}, "one-list": {"URL": URL}}
FAIRIMPORT = {**DEMO, "CAP": int(os.environ.get("STORY_CAP", "4"))}
