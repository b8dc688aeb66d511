"""``agent-hub setup``: the wizard's steps in a terminal, for servers and for those who like it."""

from __future__ import annotations

import asyncio
import getpass
from pathlib import Path

from agents.contract import HubError
from app import secrets
from app.agents_report import line, probe_all
from app.console import say
from app.daemon_thread import in_daemon_thread
from app.paths import folders
from app.setup_steps import SetUp
from bridge.telegram.client import BotAccount
from bridge.texts import set_language, told, tr


def setup_command(settings_file: Path | None, data_dir: Path | None) -> int:
    """Go through the steps that are missing; Ctrl-C leaves what was done."""
    place = folders(data_dir)
    place.make()
    asyncio.run(_steps(SetUp(place, settings_file)))
    return 0


async def _ask(prompt: str) -> str:
    """In a thread of its own: one of asyncio's would hold up Ctrl-C until somebody presses Enter."""
    return (await in_daemon_thread(input, prompt)).strip()


async def _steps(set_up: SetUp) -> None:
    async with set_up:
        set_language(set_up.current().hub.language)
        await _language(set_up)
        await _token(set_up)
        chat_id = await _group(set_up)
        await _roots(set_up)
        say(tr("Agents on this computer:"))
        found = await probe_all(set_up.current())
        for health in found:
            say(line(health))
        if chosen := set_up.choose_agent(found):
            titles = {health.kind: health.title for health in found}
            say(tr("New topics start with {agent}.", agent=titles[chosen]))
        if (await _ask(tr("Make a test topic now? [Y/n] "))).lower() not in {"n", "no", "н"}:
            person = await set_up.test_topic(chat_id, say)
            say(tr("{name} pressed the button.", name=person.name))
        say(tr("Done. Start the hub with: agent-hub run"))


async def _language(set_up: SetUp) -> None:
    answer = (await _ask("Language / Язык [en/ru]: ")).lower()
    if answer in {"en", "ru"}:
        set_up.keep_language(answer)
        set_language(answer)


async def _token(set_up: SetUp) -> None:
    try:
        account = await set_up.connect_stored()
    except HubError as error:
        if not isinstance(error, secrets.NoTokenError):
            say(f"{told(error.title)} {told(error.hint)}")
        say(tr("Talk to @BotFather on Telegram: /newbot. It gives you a token."))
        account = await _new_token(set_up)
    say(tr("Connected as @{bot}.", bot=account.username))


async def _new_token(set_up: SetUp) -> BotAccount:
    while True:
        token = await in_daemon_thread(getpass.getpass, tr("Bot token (not shown): "))
        try:
            account = await set_up.connect(token)
        except HubError as error:
            say(f"{told(error.title)} {told(error.hint)}")
            continue
        try:
            source = await set_up.keep_token(token)
        except secrets.KeyringUnavailableError as error:
            say(f"{told(error.title)} {told(error.hint)}")
            if (await _ask(tr("Keep the token in a file only you can read? [y/N] "))).lower() not in {"y", "yes", "д"}:
                raise
            source = await set_up.keep_token(token, allow_plaintext=True)
        say(secrets.kept_text(source))
        return account


async def _group(set_up: SetUp) -> int:
    known = set_up.current().telegram
    if known.chats and known.users:
        return known.chats[0]
    say(
        tr(
            "Make a Telegram group, switch Topics on, add the bot and make it an administrator. "
            "Then write any message in the group: it appears here."
        )
    )
    while True:
        seen = await set_up.next_sighting()
        facts, checks = await set_up.check_group(seen.chat_id)
        for check in checks:
            say(f"{'✓' if check.is_fine else '✗'} {check.name}" + ("" if check.is_fine else f" - {check.hint}"))
        if not all(check.is_fine for check in checks):
            say(tr("Mend it and write again in the group."))
            continue
        question = tr("Use the group {group}, with {name} as owner? [Y/n] ", group=facts.title, name=seen.person.name)
        if (await _ask(question)).lower() in {"n", "no", "н"}:
            continue
        set_up.keep_group(seen.chat_id)
        set_up.keep_person(seen.person.id)
        return seen.chat_id


async def _roots(set_up: SetUp) -> None:
    while not set_up.current().workspace.roots:
        answer = await _ask(tr("Folder agents may work in: "))
        try:
            set_up.keep_roots([Path(answer)])
        except HubError as error:
            say(f"{told(error.title)} {told(error.hint)}")
