"""Pictures of everything that people see, made by one command each, to be looked at."""
