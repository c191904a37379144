"""The operator's pages: what tenants may use, all imports, and whether it is fair."""

from fairimport.admin.limits import TenantLimitAdmin
from fairimport.admin.runs import ImportRunAdmin

__all__ = ["ImportRunAdmin", "TenantLimitAdmin"]
