"""The settings as a list of fields: for the window's form, the reference in the docs, and checking one value. Pure."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from app.settings import Settings, first_fault

PROTECTED_WHOLE = ("policy", "lock", "limits", "voice")
PROTECTED_SECTIONS = (*(f"{name}." for name in PROTECTED_WHOLE), "agents.NAME.")
"""``agents.NAME``: another program, or a mode in which an agent no longer asks."""
PROTECTED = frozenset(
    {
        "telegram.chats",
        "telegram.users",
        # Where the bot token is sent to.
        "telegram.base_url",
        "telegram.base_file_url",
        "telegram.proxy",
        "workspace.roots",
        # What passes without a person.
        "hub.reads_pass",
        "hub.session_scope",
        # How long what was decided is remembered, and who may say that there is something to install.
        "hub.audit_days",
        "hub.update_url",
    }
)
"""Who may use the hub, where, and what passes: changed in the file, these wait for a yes in the window or a start."""

NEEDS_RESTART = ("telegram.base_url", "telegram.base_file_url", "telegram.proxy")
"""Settings that are used when an engine is made; the agents' own tables are, too. A new life interrupts turns."""


LABELS = {
    "telegram.chats": "Groups",
    "telegram.users": "People",
    "telegram.base_url": "Bot API address",
    "telegram.base_file_url": "Address of files",
    "workspace.roots": "Folders",
    "agents.default": "Agent of new topics",
    "hub.verbosity": "Detail",
    "hub.ask_timeout": "Wait for an answer",
    "hub.open_asks_per_topic": "Requests in a topic",
    "hub.idle_close": "Put to sleep after",
    "hub.background_limit": "Wait for background work",
    "hub.silence_notice": "Ask about silence",
    "hub.run_backlog": "Written meanwhile",
    "hub.session_scope": "Allow for a session",
    "hub.audit_days": "Keep decisions",
    "hub.reads_pass": "Read without asking",
    "hub.desktop_notices": "Notifications",
    "hub.update_check": "New versions",
    "hub.update_url": "Address of versions",
    "policy.read": "Read elsewhere",
    "policy.edit": "Change files",
    "policy.execute": "Commands",
    "lock.enabled": "Lock",
    "lock.idle": "Lock after",
    "lock.open_for": "Unlock for",
    "limits.turn_usd": "Dollars a turn",
    "limits.session_usd": "Dollars a session",
    "limits.day_usd": "Dollars a day",
    "limits.turn_tokens": "Tokens a turn",
    "limits.session_tokens": "Tokens a session",
    "limits.day_tokens": "Tokens a day",
    "voice.url": "Address",
    "voice.key_variable": "Variable with the key",
}
"""What a form calls a setting whose name in the file says too little to a person."""


class FieldKind(StrEnum):
    """What editor a field needs."""

    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting: ``name`` is its dotted place in the file ("hub.language"), ``default`` as it stands in TOML."""

    name: str
    kind: FieldKind
    description: str
    default: Any
    choices: tuple[str, ...] = ()
    is_whole: bool = False

    @property
    def label(self) -> str:
        """What a form calls it, in English."""
        return LABELS.get(self.name) or self.name.split(".")[1].replace("_", " ").capitalize()


def fields() -> tuple[SettingField, ...]:
    """Every setting but the agents' own tables, in the order of the model."""
    found: list[SettingField] = []
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            found += [
                described(f"{section}.{name}", inner)
                for name, inner in model.model_fields.items()
                if name not in {"entries", "own"}
            ]
    return tuple(found)


def is_protected(name: str) -> bool:
    """Whether a change in the file waits for a yes."""
    return name in PROTECTED or name.startswith(PROTECTED_SECTIONS)


def described(name: str, info: FieldInfo) -> SettingField:
    kind, choices = kind_of(info.annotation)
    return SettingField(
        name,
        kind,
        info.description or "",
        as_toml(info.get_default(call_default_factory=True)),
        choices,
        is_whole=info.annotation is int,
    )


def kind_of(annotation: Any) -> tuple[FieldKind, tuple[str, ...]]:
    """The editor for a type, and the words to choose from."""
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return FieldKind.CHOICE, tuple(str(word) for word in typing.get_args(annotation))
    if origin in {typing.Union, types.UnionType}:
        return FieldKind.CHOICE, ("", *words_of(*typing.get_args(annotation)))
    if words := words_of(annotation):
        return FieldKind.CHOICE, words
    if origin is tuple or origin in _MAPPINGS:
        return FieldKind.LINES, ()
    return {bool: FieldKind.SWITCH, int: FieldKind.NUMBER, float: FieldKind.NUMBER}.get(annotation, FieldKind.TEXT), ()


def words_of(*kinds: Any) -> tuple[str, ...]:
    """The values of every enum among the types."""
    enums = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return tuple(str(member.value) for kind in enums for member in kind)


_MAPPINGS = {typing.get_origin(Mapping[str, str])}


def as_toml(value: Any) -> Any:
    """A value of the model as it is written in the file."""
    if value is None:
        return ""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [as_toml(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_toml(item) for key, item in value.items()}
    return value


def current(settings: Settings, name: str) -> Any:
    """The value of a dotted name, as it is written in the file."""
    section, field = name.split(".", 1)
    return as_toml(getattr(getattr(settings, section), field))


def problem_with(name: str, value: Any) -> str:
    """What is wrong with a value of one setting, "" when nothing."""
    section, field = name.split(".", 1)
    try:
        Settings.model_validate({section: {field: value}})
    except ValidationError as error:
        return first_fault(error)
    return ""


def put(document: tomlkit.TOMLDocument, changes: Mapping[str, Any]) -> None:
    """Write dotted names into the file's tree; for ``app.settings.edit``."""
    for name, value in changes.items():
        section, field = name.split(".", 1)
        if section not in document:
            document[section] = tomlkit.table()
        table = typing.cast("dict[str, Any]", document[section])
        table[field] = value


def changed(old: Settings, new: Settings) -> Iterator[str]:
    """Dotted names whose values differ."""
    for field in fields():
        if current(old, field.name) != current(new, field.name):
            yield field.name
