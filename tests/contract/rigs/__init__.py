"""What the suite needs to know of each kind of agent. One module per kind."""
