"""Faults planted into the Lua scripts line by line, and tests run against each."""
