"""What a person can say with a slash: one table of commands for topics and General."""
