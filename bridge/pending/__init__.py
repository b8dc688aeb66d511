"""The approval desk: open requests and questions, their cards, and the one door that decides them."""

from __future__ import annotations

from bridge.pending.desk import AskDesk
from bridge.pending.records import (
    DESK_OWNER,
    AnsweredCard,
    AskKind,
    AskOrigin,
    AskState,
    Decider,
    DecisionOutcome,
    DecisionWay,
    DueWords,
    OpenAsk,
    PressReply,
    Ruling,
    Scope,
)
from bridge.pending.rulebook import Rule, RuleDraft, RuleMatch, RuleScope, exact_of

__all__ = [
    "DESK_OWNER",
    "AnsweredCard",
    "AskDesk",
    "AskKind",
    "AskOrigin",
    "AskState",
    "Decider",
    "DecisionOutcome",
    "DecisionWay",
    "DueWords",
    "OpenAsk",
    "PressReply",
    "Rule",
    "RuleDraft",
    "RuleMatch",
    "RuleScope",
    "Ruling",
    "Scope",
    "exact_of",
]
