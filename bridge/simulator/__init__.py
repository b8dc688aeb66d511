"""An honest loopback Bot API with a phone page, to try and to test the hub without Telegram."""
