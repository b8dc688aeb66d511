"""/team and /tell: the team that a person runs in a terminal, its members spoken to one by one, never by the lead."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence

from agents.contract import HubError
from agents.contract.teams import AgentTeams, MemberState, Team, TeamHost, TeamMember, TellState
from bridge.commands.table import Call
from bridge.markdown import Part, render
from bridge.sheet import bold, clip, lines, row
from bridge.texts import tr, trn
from bridge.topics.topic import Topic

log = logging.getLogger(__name__)

TEAM = "team"
FILES_TIMEOUT = 20.0
LOOK_EVERY = 5.0
LISTEN_FOR = 3600.0
"""Seconds after a message in which the members' answers are looked for."""
REPLIES_KEPT = 5_000


async def show_team(topic: Topic, call: Call) -> None:
    """``/team``."""
    del call
    teams = await running_teams(topic)
    if not teams:
        topic.context.say(
            topic.place,
            lines(
                tr("No team runs on this computer."),
                tr("Teams of Claude Code exist only in a session that you started in a terminal."),
            ),
        )
        return
    shown = [
        lines(bold(tr("Team {name}", name=team.name)), *(member_row(member) for member in team.members))
        for team in teams
    ]
    topic.context.say(topic.place, lines(*shown, tr("/tell NAME text writes to a member. Its answers come here.")))


def member_row(member: TeamMember) -> Part:
    """Name, how it does, what waits for it."""
    words = {
        MemberState.ACTIVE: "🟢 " + tr("active"),
        MemberState.IDLE: "💤 " + tr("idle"),
        MemberState.ENDED: "⏹ " + tr("ended"),
    }
    unread = trn("{count} message waits", "{count} messages wait", member.unread) if member.unread else ""
    facts = [words[member.state], member.model, unread]
    return row("• ", bold(member.name), " · " + " · ".join(fact for fact in facts if fact))


async def tell(topic: Topic, call: Call) -> None:
    """``/tell MEMBER text``; ``TEAM/MEMBER`` where two teams have one of that name."""
    name, _, text = call.arguments.strip().partition(" ")
    if not name or not text.strip():
        raise HubError(tr("Who, and what?"), tr("Write: /tell NAME text. /team shows the names."))
    team, member = choose(await running_teams(topic), name)
    await deliver(topic, team, member, text.strip())


def choose(teams: Sequence[Team], name: str) -> tuple[str, str]:
    """The one member that is meant. Raises HubError."""
    wanted_team, slash, wanted = name.rpartition("/")
    found = [
        (team.name, member.name)
        for team in teams
        for member in team.members
        if member.name.casefold() == wanted.casefold() and (not slash or team.name == wanted_team)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{team}/{member}" for team, member in found)
        raise HubError(tr("Several teams have a member of that name."), tr("Write one of: {names}", names=names))
    names = ", ".join(member.name for team in teams for member in team.members)
    raise HubError(tr("There is no member {name}.", name=name), tr("Members: {names}", names=names or "-"))


async def deliver(topic: Topic, team: str, member: str, text: str) -> None:
    """Write it, say what became of it, and listen for answers."""
    async with asyncio.timeout(FILES_TIMEOUT):
        state = await teams_of(topic).tell(team, member, text)
    if state is TellState.OVERWRITTEN:
        with topic.context.database.transaction():
            value = json.dumps([team, member, text])
            keyboard = topic.context.buttons.keyboard(topic.place, TEAM, [(tr("Send it again"), value)])
            said = tr("Another writer overwrote the message to {name}; it was not read.", name=member)
            topic.context.say(topic.place, f"⚠️ {said}", keyboard=keyboard)
        return
    words = {
        TellState.READ: tr("{name} has read it.", name=member),
        TellState.WAITING: tr("It lies in {name}'s inbox and is read when its turn ends.", name=member),
    }
    topic.context.say(topic.place, "✉️ " + words[state])
    if team not in topic.listened_teams:
        topic.listened_teams.add(team)
        topic.crew.start(listen(topic, team), "team")


async def pressed(topic: Topic, value: str, menu: str) -> None:
    """Send again what another writer overwrote."""
    del menu
    team, member, text = json.loads(value)
    await deliver(topic, team, member, text)


async def listen(topic: Topic, team: str) -> None:
    """Show what members write to the person, each once, for an hour."""
    clock = topic.context.clock
    until = clock.monotonic() + LISTEN_FOR
    try:
        while clock.monotonic() < until:
            try:
                async with asyncio.timeout(FILES_TIMEOUT):
                    await show_replies(topic, team)
            except (HubError, TimeoutError, OSError) as error:
                log.info("the replies of a team could not be read: %r", error)
            await clock.sleep(LOOK_EVERY)
    finally:
        topic.listened_teams.discard(team)


async def show_replies(topic: Topic, team: str) -> None:
    """What is new; shown and remembered in one commit."""
    database, now = topic.context.database, topic.context.clock.now()
    for reply in await teams_of(topic).replies(team):
        if database.row("SELECT 1 FROM team_replies WHERE key = ?", (reply.key,)):
            continue
        with database.transaction():
            database.execute("INSERT INTO team_replies (key, seen) VALUES (?, ?)", (reply.key, now))
            for number, part in enumerate(render(reply.text)):
                head = bold(f"💬 {clip(reply.sender, 60)}")
                topic.context.say(topic.place, lines(head, part) if number == 0 else part, rings=number == 0)
    database.execute(
        "DELETE FROM team_replies WHERE key NOT IN (SELECT key FROM team_replies ORDER BY seen DESC LIMIT ?)",
        (REPLIES_KEPT,),
    )


def teams_of(topic: Topic) -> AgentTeams:
    """The teams of any agent that has some. Raises HubError."""
    for backend in topic.context.backends.values():
        if isinstance(backend, TeamHost):
            return backend.teams
    raise HubError(tr("No agent here works in teams."), tr("Claude Code does, in a terminal."))


async def running_teams(topic: Topic) -> list[Team]:
    async with asyncio.timeout(FILES_TIMEOUT):
        return [team for team in await teams_of(topic).list() if team.is_running]
