"""The truth about imports: runs, their chunks, rejected rows, and what a tenant may use at once."""

from fairimport.models.chunk import Chunk
from fairimport.models.limit import TenantLimit
from fairimport.models.row import KeyIndex, RejectedRow
from fairimport.models.run import ImportRun

__all__ = ["Chunk", "ImportRun", "KeyIndex", "RejectedRow", "TenantLimit"]
