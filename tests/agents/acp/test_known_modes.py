"""A mode that is known is told in words that can be translated; any other one as the agent sent it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.acp.dialect import AcpDialect
from agents.acp.translate import Offering
from agents.acp.wire import ConfigOption, OptionValue
from agents.acp.wire_opening import AgentInfo, Offers
from agents.contract import AgentChoice, SessionId
from agents.contract.sentences import Sentence
from agents.demo.backend import DemoDialect
from agents.demo.program import MODES as DEMO_MODES
from agents.hermes.dialect import HermesDialect
from agents.qwen.dialect import QwenDialect

SENT = {
    "qwen": ("plan", "default", "auto-edit", "auto"),
    "hermes": ("default", "accept_edits", "dont_ask"),
    "demo": tuple(mode for mode, _, _ in DEMO_MODES),
}
DIALECTS = {"qwen": QwenDialect("qwen"), "hermes": HermesDialect("hermes"), "demo": DemoDialect()}


def shown(dialect: AcpDialect, agent: str, *modes: OptionValue) -> tuple[AgentChoice, ...]:
    offering = Offering(dialect, AgentInfo(name=agent), Offers(modes=modes), Path("/work"))
    return offering.event(SessionId("s1")).modes


@pytest.mark.parametrize("kind", SENT)
def test_every_mode_of_an_agent_we_know_can_be_said_in_another_language(kind: str) -> None:
    modes = shown(DIALECTS[kind], kind, *(OptionValue(mode, "Sent", "as the agent sent it") for mode in SENT[kind]))
    assert tuple(mode.id for mode in modes) == SENT[kind]
    for mode in modes:
        assert isinstance(mode.label, Sentence)
        assert isinstance(mode.description, Sentence)


def test_a_mode_we_do_not_know_stays_as_it_was_sent() -> None:
    new = OptionValue("careful", "Careful", "Asks twice")
    assert shown(DIALECTS["qwen"], "qwen-code", new) == (AgentChoice("careful", "Careful", "Asks twice"),)


def test_opencode_is_known_by_its_own_name_whatever_the_settings_call_it() -> None:
    option = ConfigOption("mode", "mode", "build", (OptionValue("build", "build"), OptionValue("plan", "plan")))
    offering = Offering(AcpDialect("mine"), AgentInfo(name="OpenCode"), Offers(options=(option,)), Path("/work"))
    assert [mode.label for mode in offering.event(SessionId("s1")).modes] == ["Build", "Plan"]


def test_the_same_ids_of_an_agent_we_do_not_know_stay_as_they_were_sent() -> None:
    sent = OptionValue("plan", "plan", "Makes plans of houses")
    assert shown(AcpDialect("mine"), "Architect", sent) == (AgentChoice("plan", "plan", "Makes plans of houses"),)
