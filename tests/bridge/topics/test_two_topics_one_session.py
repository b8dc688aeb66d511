"""Two topics that reach for the same stored session at once: one gets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.topics.paper_archive import PaperArchive
from tests.bridge.topics.stage import OTHER, TOPIC, stage


@pytest.mark.asyncio
async def test_of_two_topics_that_resume_one_session_at_once_only_one_gets_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        hub.claude.archive = archive = PaperArchive()
        archive.add("term-1", hub.root, "mend the door", hub.clock.now() - 7200)
        await hub.hub.handle(hub.message("/resume term-1"))
        await hub.hub.handle(hub.message("/resume term-1", place=OTHER))
        both = (TOPIC, OTHER)
        await hub.until(lambda: all(hub.texts(place) for place in both))
        holders = [topic for topic in hub.hub.topics() if topic.binding.session_id == "term-1"]
        assert len(holders) == 1
        assert sum("belongs to the topic" in text for place in both for text in hub.texts(place)) == 1
