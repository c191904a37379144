"""The pages for customers; each view is a few lines over a verb or a read model."""

from fairimport.views.examples import example_file
from fairimport.views.files import rejected_file, source_file
from fairimport.views.pages import fragment, run_list, run_page
from fairimport.views.uploads import corrected, upload
from fairimport.views.verbs import ask_cancel, columns, verb

__all__ = [
    "ask_cancel",
    "columns",
    "corrected",
    "example_file",
    "fragment",
    "rejected_file",
    "run_list",
    "run_page",
    "source_file",
    "upload",
    "verb",
]
