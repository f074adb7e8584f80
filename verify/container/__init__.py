"""The container that we ship, built and run."""
