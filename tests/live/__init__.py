"""Real agent CLIs against scripted models on loopback."""
