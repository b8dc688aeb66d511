"""One life of the hub for the soak: the real ``agent-hub run --headless``, with a wider flood budget.

With Telegram's twenty messages a minute a life of a few seconds would end before much was said. The simulated server
is opened in the same way; everything else is as shipped.
"""

from __future__ import annotations

import sys

from app.cli import main
from bridge import budget

budget.GROUP = budget.Limits((1200,) * 6, burst=40, gap=0.05)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
