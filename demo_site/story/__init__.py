"""The story: one tenant's big import beside many small ones, on one list and on fair lanes."""
