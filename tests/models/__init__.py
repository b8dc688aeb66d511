"""A scripted model on loopback for real agent programs: one script, one server per wire format."""
