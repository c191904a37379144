"""Play one scene inside the story's own servers: `python -m demo_site.story SCENE`, as JSON.

`fairstory` starts this with the environment of its private servers; the workers run already.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django


def main(text: str) -> dict[str, Any]:
    """Play a scene on one list or on lanes; `text` is a JSON object with `act` and the scene."""
    django.setup()
    from demo_site.story.acts import Lanes, OneList, Scene

    given = json.loads(text)
    acts = {"fifo": OneList, "lanes": Lanes}
    act = acts[given.pop("act")](Scene(**given))
    measured = act.play()
    lost, twice = act.effects()
    if isinstance(act, Lanes):
        measured |= {"max_in_flight": act.most_in_flight, "cap": act.scene.cap, **act.runs()}
    return {"measured": measured, "lost": lost, "twice": twice}


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
