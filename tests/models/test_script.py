"""The scripted model answers by the request alone."""

from __future__ import annotations

from tests.models.script import Fail, Role, Said, Say, ScriptedModel

USER = Said(Role.USER, "play:run go")
MODEL = Said(Role.MODEL, "Running.")


def test_the_answer_is_chosen_by_how_many_follow_the_prompt() -> None:
    model = ScriptedModel()
    assert model.answer([USER], "")[0] == Say("Running.")
    assert model.answer([USER, MODEL, Said(Role.TOOL, "ok")], "") == (Say("finished"),)
    assert model.answer([USER, MODEL, Said(Role.TOOL, "ok"), MODEL, Said(Role.USER, "play:hello")], "")[0] == Say(
        "Hello **world**.", chunks=4
    )


def test_a_failure_counts_its_times_and_then_gives_the_rest() -> None:
    model = ScriptedModel()
    prompt = [Said(Role.USER, "play:limited")]
    assert isinstance(model.answer(prompt, "")[0], Fail)
    assert model.answer(prompt, "") == (Say("recovered"),)


def test_past_the_end_the_model_echoes_what_it_was_told_last() -> None:
    model = ScriptedModel()
    assert model.answer([Said(Role.USER, "no mark here")], "") == (Say("echo: no mark here"),)
    assert model.was_told("no mark")
    assert not model.was_told("never said")
