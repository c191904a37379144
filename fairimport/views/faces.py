"""How each state of a run looks: its label, its step, and whether its page asks again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fairimport.states import State
from fairimport.templatetags.fairimport import count, plain_name

__all__ = ["FACES", "Face", "PageFace", "Step", "quarter_of"]

STEPS = (
    gettext_lazy("Upload"),
    gettext_lazy("Columns"),
    gettext_lazy("Check"),
    gettext_lazy("Import"),
    gettext_lazy("Done"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """The look of a state. `every` is seconds between two questions of the page; 0 is never."""

    label: str | Promise
    tone: str
    step: int
    every: int = 0


FACES: Mapping[State, Face] = {
    State.RECEIVED: Face(label=gettext_lazy("Waiting to be read"), tone="active", step=1, every=1),
    State.READING: Face(label=gettext_lazy("Being read"), tone="active", step=1, every=1),
    State.MAPPING: Face(label=gettext_lazy("Needs your choice"), tone="ask", step=1),
    State.CHECKING: Face(label=gettext_lazy("Being checked"), tone="active", step=2, every=1),
    State.READY: Face(label=gettext_lazy("Ready to start"), tone="ask", step=2),
    State.QUEUED: Face(label=gettext_lazy("Waiting"), tone="active", step=3, every=1),
    State.RUNNING: Face(label=gettext_lazy("Running"), tone="active", step=3, every=1),
    State.PAUSING: Face(label=gettext_lazy("Pausing"), tone="ask", step=3, every=1),
    State.PAUSED: Face(label=gettext_lazy("Paused"), tone="ask", step=3, every=5),
    State.CANCELLING: Face(label=gettext_lazy("Cancelling"), tone="ask", step=3, every=1),
    State.CANCELLED: Face(label=gettext_lazy("Cancelled"), tone="quiet", step=3),
    State.FINISHED: Face(label=gettext_lazy("Finished"), tone="good", step=5),
    State.FAILED: Face(label=gettext_lazy("Failed"), tone="bad", step=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of the five steps on the way of a file."""

    label: str | Promise
    is_done: bool
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFace:
    """A state's look on the page of one run, with what it says aloud and in the title."""

    state: State
    filename: str
    done: int = 0
    total: int | None = None
    rejected: int = 0

    @property
    def _face(self) -> Face:
        return FACES[self.state]

    @property
    def label(self) -> str:
        return str(self._face.label)

    @property
    def tone(self) -> str:
        return self._face.tone

    @property
    def every(self) -> int:
        return self._face.every

    @property
    def polls(self) -> bool:
        """Whether something can happen without the customer."""
        return self.every > 0

    @property
    def reload(self) -> int:
        """Seconds after which a page without scripts reloads itself."""
        return 3 if self.every == 1 else 10

    @property
    def template(self) -> str:
        return f"fairimport/states/{self.state}.html"

    @property
    def steps(self) -> list[Step]:
        """The five steps, seen from here."""
        here = self._face.step
        return [
            Step(label=label, is_done=number < here, is_current=number == here)
            for number, label in enumerate(STEPS)
        ]

    @property
    def quarter(self) -> int:
        return quarter_of(self.done, self.total)

    @property
    def milestone(self) -> str:
        """Changes when something is worth saying aloud."""
        return f"{self.state}-{self.quarter if self._counts else 0}-{int(self.rejected > 0)}"

    @property
    def say(self) -> str:
        """What a screen reader hears at this milestone."""
        if not self._counts or self.total is None:
            return f"{self.label}."
        numbers = {"label": self.label, "done": count(self.done), "total": count(self.total)}
        said = _("%(label)s. %(done)s of %(total)s rows done.") % numbers
        if self.rejected:
            said += " " + _("%(n)s rejected.") % {"n": count(self.rejected)}
        return said

    @property
    def title(self) -> str:
        """The page's title, with the percentage while rows are counted."""
        name = plain_name(self.filename)
        if self._counts and self.total:
            return f"{self.done * 100 // self.total} % · {name}"
        return f"{self.label} · {name}"

    @property
    def _counts(self) -> bool:
        return self.state in (State.CHECKING, State.QUEUED, State.RUNNING, State.PAUSING)


def quarter_of(done: int, total: int | None) -> int:
    """How many quarters of the rows are done: 0 to 4."""
    return done * 4 // total if total else 0
