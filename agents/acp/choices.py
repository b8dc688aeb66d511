"""Changing mode, model and effort of an ACP session, by whichever of the protocol's two ways the agent offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agents.acp.wire import ConfigUpdate, ModeUpdate, OptionValue, mapping, read_config_options
from agents.contract import AgentError, sentence
from agents.jsonrpc import RpcError

if TYPE_CHECKING:
    from agents.acp.session import AcpSession

_LIMIT = 20.0


async def change_mode(session: AcpSession, mode: str) -> None:
    """Raises AgentError when the agent has no such mode."""
    offers, option = session.offering.offers, session.offering.option("mode")
    if offers.modes:
        wanted = find(mode, session.offering.modes, sentence("mode"))
        await _call(session, "session/set_mode", {"modeId": wanted})
        session.offering.take(ModeUpdate(wanted))
    elif option is not None:
        await _set_option(session, option.id, find(mode, session.offering.modes, sentence("mode")))
    else:
        raise AgentError(sentence("{agent} has no modes.", agent=session.dialect.title))


async def change_model(session: AcpSession, model: str) -> None:
    """Raises AgentError when the agent has no such model."""
    offers, option = session.offering.offers, session.offering.option("model")
    if offers.models:
        wanted = find(model, offers.models, sentence("model"))
        await _call(session, "session/set_model", {"modelId": wanted})
        session.offering.choose_model(wanted)
    elif option is not None:
        await _set_option(session, option.id, find(model, option.values, sentence("model")))
    else:
        raise AgentError(sentence("{agent} offers no choice of models.", agent=session.dialect.title))


async def change_effort(session: AcpSession, effort: str) -> None:
    """Raises AgentError when the agent has no such level."""
    option = session.offering.option("thought_level")
    if option is None:
        raise AgentError(sentence("{agent} has no levels of effort.", agent=session.dialect.title))
    await _set_option(session, option.id, find(effort, option.values, sentence("level of effort")))


def find(wanted: str, values: Sequence[OptionValue], what: str) -> str:
    """The id of a choice by id or by label, letters' case aside. Raises AgentError that lists what there is."""
    low = wanted.strip().lower()
    for value in values:
        if low in {value.id.lower(), value.name.lower()}:
            return value.id
    offered = ", ".join(value.name for value in values[:20])
    raise AgentError(
        sentence("There is no {what} “{wanted}”.", what=what, wanted=wanted),
        sentence("Choose one of: {offered}", offered=offered),
    )


async def _set_option(session: AcpSession, option_id: str, value: str) -> None:
    result = await _call(session, "session/set_config_option", {"configId": option_id, "value": value})
    options = read_config_options(mapping(result).get("configOptions"))
    if options:
        session.offering.take(ConfigUpdate(options))
    else:
        session.offering.choose_option(option_id, value)


async def _call(session: AcpSession, method: str, params: dict[str, Any]) -> Any:
    try:
        return await session.connection.call(method, {"sessionId": session.session_id, **params}, within=_LIMIT)
    except RpcError as error:
        raise AgentError(
            sentence("{agent} refused the change.", agent=session.dialect.title), detail=error.detail or error.message
        ) from error
