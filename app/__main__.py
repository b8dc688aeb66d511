"""``python -m app`` is ``agent-hub``."""

from app.cli import main

raise SystemExit(main())
