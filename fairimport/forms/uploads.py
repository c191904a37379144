"""What customers fill in to send a file."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fairimport.conf import settings
from fairimport.importers import registry
from fairimport.wording import refusal

__all__ = ["CorrectedForm", "FileForm", "UploadForm"]

ACCEPT = ".xlsx,.xlsm,.xls,.xlsb,.ods,.csv,.tsv,.txt"


class FileForm(forms.Form):
    """A file and the token that makes sending it twice harmless."""

    token = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
    file = forms.FileField(
        label=gettext_lazy("File"),
        max_length=4096,
        error_messages={
            "required": gettext_lazy("Choose a file first."),
            "empty": gettext_lazy("This file is empty. Choose the file that has your rows."),
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit = settings.max_upload_mib
        field = self.fields["file"]
        field.help_text = _("Excel, OpenDocument or CSV, up to %(size)s MB and %(rows)s rows.") % {
            "size": limit,
            "rows": f"{settings.max_rows:,}",
        }
        field.widget.attrs = {
            "accept": ACCEPT,
            "data-max-bytes": limit * 1024 * 1024,
            "data-too-large": refusal("file_too_large", {"limit": limit}),
        }

    def refuse(self, sentence: str) -> None:
        """Say beside the file why it was not taken."""
        self.errors.pop("file", None)
        self.add_error("file", sentence)


class UploadForm(FileForm):
    """A file, and what is in it."""

    importer = forms.ChoiceField(
        label=gettext_lazy("What is in the file?"),
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Say what is in the file.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = registry.all()
        self.fields["importer"].choices = [(i.get_name(), i.get_title()) for i in offered]  # type: ignore[attr-defined]
        if len(offered) == 1:
            self.initial.setdefault("importer", offered[0].get_name())


class CorrectedForm(FileForm):
    """The corrected rows of a run."""
