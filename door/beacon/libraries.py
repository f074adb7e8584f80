"""What checks the signatures of a beacon: one of these is enough, the first that is installed."""

BEACON_LIBRARIES = ("drand_verify", "pyblst")
