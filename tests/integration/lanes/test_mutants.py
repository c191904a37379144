"""What `python -m bench mutate` found untested: one test for each fault that nobody noticed."""
