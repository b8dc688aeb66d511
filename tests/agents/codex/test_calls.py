"""The parameters of our calls, and what is read of the answers. Pure."""

from __future__ import annotations

from pathlib import Path

from agents.codex.modes import FULL_ACCESS, MODES, offered
from agents.codex.wire import calls
from agents.contract import FilePart, Prompt

FOLDER = Path("/project")


def test_a_thread_is_started_without_a_sandbox_so_that_no_folder_gets_trusted() -> None:
    started = calls.start_thread(FOLDER, calls.Settings(MODES["untrusted"]))
    assert "sandbox" not in started
    assert started["historyMode"] == "legacy"
    assert started["approvalsReviewer"] == "user"
    assert [tool["name"] for tool in started["dynamicTools"]] == [calls.SEND_FILE]


def test_every_mode_has_a_sandbox_codex_knows() -> None:
    for mode in MODES.values():
        settings = calls.settings_of(calls.Settings(mode), "gpt-5.5")
        assert settings["sandboxPolicy"]["type"] in {"workspaceWrite", "readOnly", "dangerFullAccess"}
        assert settings["approvalPolicy"] in {"untrusted", "on-request", "never"}


def test_planning_is_a_way_of_working_and_needs_the_models_name() -> None:
    plan = calls.settings_of(calls.Settings(MODES["plan"], effort="low"), "gpt-5.5")["collaborationMode"]
    assert plan == {
        "mode": "plan",
        "settings": {"model": "gpt-5.5", "reasoning_effort": "low", "developer_instructions": None},
    }


def test_full_access_is_offered_only_where_the_settings_file_names_it() -> None:
    assert FULL_ACCESS not in [mode.id for mode in offered(None)]
    assert FULL_ACCESS in [mode.id for mode in offered(FULL_ACCESS)]


def test_a_file_is_named_in_the_text() -> None:
    parts = calls.user_input(Prompt("look", files=(FilePart(FOLDER / "a.pdf"),)))
    assert parts == [{"type": "text", "text": "look\nAttached file: /project/a.pdf"}]


def test_the_version_stands_after_the_slash() -> None:
    assert calls.version_of({"userAgent": "agent_hub/0.171.0 (Debian 12)"}) == "0.171.0"
    assert calls.version_of(None) == ""


def test_a_login_is_needed_only_where_the_provider_wants_one() -> None:
    assert calls.needs_login({"account": None, "requiresOpenaiAuth": True})
    assert not calls.needs_login({"account": None, "requiresOpenaiAuth": False})
    assert not calls.needs_login({"account": {"type": "apiKey"}, "requiresOpenaiAuth": True})


def test_hidden_models_are_left_out_and_the_default_comes_first() -> None:
    answer = {
        "data": [
            {"id": "b", "displayName": "B"},
            {"id": "x", "hidden": True},
            {
                "id": "a",
                "displayName": "A",
                "isDefault": True,
                "supportedReasoningEfforts": [{"reasoningEffort": "low"}],
            },
        ]
    }
    models = calls.read_models(answer)
    assert [model.id for model in models] == ["a", "b"]
    assert models[0].efforts == (("low", ""),)


def test_answers_of_wrong_shapes_read_as_empty() -> None:
    assert calls.read_models([1]) == ()
    assert calls.read_terminals({"data": "x"}) == ()
    assert calls.read_threads(None) == ((), "")
    assert calls.read_turn_id({"turn": 7}) == ""
    assert calls.read_thread({}).path is None
