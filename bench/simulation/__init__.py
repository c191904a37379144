"""A discrete-event simulator: a policy hands out jobs, workers and the clock are simulated."""
