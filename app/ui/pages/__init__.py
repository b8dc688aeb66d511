"""The pages of the main window, one idea each. A page shows a snapshot and says by signals what the person wants."""
