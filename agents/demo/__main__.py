"""``python -m agents.demo``: the demo agent on stdin and stdout."""

from __future__ import annotations

import sys

from agents.demo.program import main

if __name__ == "__main__":
    sys.exit(main())
