"""System checks of the `FAIRIMPORT` setting."""
