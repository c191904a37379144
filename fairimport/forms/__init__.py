"""What customers fill in: a file to import, and which of its columns is what."""

from fairimport.forms.mapping import MappingForm, Target
from fairimport.forms.uploads import CorrectedForm, FileForm, UploadForm

__all__ = ["CorrectedForm", "FileForm", "MappingForm", "Target", "UploadForm"]
