"""The one settings file (TOML): read, checked field by field, turned into the bridge's frozen values.

Written back only through ``edit`` so that comments and order stay (tomlkit). Paths are made absolute here; whether
a root exists is checked when it is used, so that a missing disk does not make the whole file invalid.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agents.contract import AgentLaunch, HubError
from bridge.config import BridgeConfig, LimitSettings, LockSettings, Role, Verbosity, VoiceSettings
from bridge.policy.classes import Mode, OwnClass, PolicySettings, RiskClass
from bridge.texts import mark, tr

DEFAULT_BASE_URL = "https://api.telegram.org/bot"
DEFAULT_BASE_FILE_URL = "https://api.telegram.org/file/bot"


class SettingsError(HubError):
    """The settings file can't be used; the title names the line or the field."""


def host_of(address: str) -> str:
    """The host an address names, "" when it is no address at all."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # a broken IPv6 address
        return ""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TelegramSettings(_Section):
    """The way to Telegram, and who may use the hub."""

    chats: tuple[int, ...] = Field((), description="Ids of the groups the hub listens to.")
    users: Mapping[int, Role] = Field(
        default_factory=dict, description="Who may use it: a list of user ids (owners), or a table id = role."
    )
    proxy: str = Field("", description="HTTP or SOCKS5 proxy for Telegram, for example socks5://127.0.0.1:1080.")
    base_url: str = Field(DEFAULT_BASE_URL, description="Bot API address without the token; change for an own server.")
    base_file_url: str = Field(DEFAULT_BASE_FILE_URL, description="Address files are downloaded from.")

    @field_validator("users", mode="before")
    @classmethod
    def _users_from_list(cls, value: Any) -> Any:
        return dict.fromkeys(value, Role.OWNER) if isinstance(value, list | tuple) else value

    @field_validator("base_url", "base_file_url", "proxy")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if value and not host_of(value):
            raise ValueError(mark("must be an address such as https://host/path"))
        return value


class WorkspaceSettings(_Section):
    """Where agents may work."""

    roots: tuple[Path, ...] = Field((), description="Folders agents may work in; nothing outside is offered.")

    @field_validator("roots")
    @classmethod
    def _absolute(cls, value: tuple[Path, ...]) -> tuple[Path, ...]:
        if any("\0" in str(root) for root in value):
            raise ValueError(mark("a path can't hold a NUL character"))
        try:
            return tuple(Path(os.path.abspath(root.expanduser())) for root in value)  # noqa: PTH100 - keeps symlinks
        except RuntimeError:
            raise ValueError(mark("~name is nobody on this computer; write the whole path")) from None


class AgentSettings(_Section):
    """One agent: replaces what was found, adds to how it is started."""

    kind: Literal["", "acp"] = Field("", description='"acp" makes this entry any program that speaks ACP.')
    title: str = Field("", description="Name shown to people (ACP entries).")
    command: str = Field("", description="Program to start instead of the one found.")
    args: tuple[str, ...] = Field((), description="Arguments added when it starts.")
    env: Mapping[str, str] = Field(default_factory=dict, description="Environment added for this agent only.")
    model: str = Field("", description="Model for new sessions; empty = the agent's own choice.")
    mode: str = Field("", description="Permission mode for new sessions; empty = the mode that asks the most.")

    @model_validator(mode="after")
    def _acp_needs_command(self) -> AgentSettings:
        if self.kind == "acp" and not self.command:
            raise ValueError(mark("an ACP entry needs a command"))
        return self

    def launch(self) -> AgentLaunch:
        return AgentLaunch(
            command=self.command or None,
            args=self.args,
            env=dict(self.env),
            model=self.model or None,
            mode=self.mode or None,
            title=self.title,
        )


class AgentsSettings(_Section):
    """Which agent new topics get, and a table per agent."""

    default: str = Field("claude", description="Agent of a new topic.")
    entries: Mapping[str, AgentSettings] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather_entries(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "entries" in value:
            return value
        tables = {name: table for name, table in value.items() if isinstance(table, dict)}
        return {**{name: rest for name, rest in value.items() if name not in tables}, "entries": tables}


Seconds = Annotated[float, Field(gt=0, le=7 * 86400)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=10**12)]


class HubSettings(_Section):
    """How the hub behaves."""

    language: Literal["en", "ru"] = Field("en", description="Language of the bot and the window.")
    verbosity: Verbosity = Field(Verbosity.NORMAL, description="How much of a running turn is shown.")
    ask_timeout: Seconds = Field(600, description="Seconds until an unanswered request is denied.")
    open_asks_per_topic: Annotated[int, Field(ge=1, le=500)] = Field(50, description="Open requests a topic may have.")
    idle_close: Seconds = Field(900, description="Seconds until an idle session's process is ended (it resumes).")
    background_limit: Seconds = Field(1800, description="Seconds a background task keeps an idle session awake.")
    silence_notice: Seconds = Field(600, description="Seconds of silence until a running agent is asked about.")
    run_backlog: bool = Field(False, description="Run what was written while the hub was off, without asking.")
    session_scope: bool = Field(False, description='Offer "Allow for this session" on cards.')
    audit_days: Annotated[int, Field(ge=1, le=3650)] = Field(90, description="Days that decisions are remembered.")
    reads_pass: bool = Field(True, description="Reads inside the session's folder pass without asking.")
    desktop_notices: bool = Field(True, description="Show requests and ended turns as notifications on this computer.")
    update_check: bool = Field(True, description="Ask once a day whether there is a newer version; never installs it.")
    update_url: str = Field("", description="Address that tells the newest version (JSON); empty = never asked.")

    @field_validator("update_url")
    @classmethod
    def _is_safe_address(cls, value: str) -> str:
        host = host_of(value)
        if value and not (host and (value.startswith("https:") or (value.startswith("http:") and host == "127.0.0.1"))):
            raise ValueError(mark("must be an https address"))
        return value


class OwnClassSettings(_Section):
    """A class of requests of your own, by tool and pattern ("*" and "?")."""

    tool: str = Field("*", description="Tool name, with * and ?.")
    subject: str = Field("*", description="Command, path or address, with * and ?.")
    mode: Mode = Field(Mode.ASK, description="ask, allow or deny.")
    second_step: bool = Field(False, description='Ask "Really run" even after an Allow.')


class PolicySettingsSection(_Section):
    """What the hub answers by itself. Destructive requests always need a second step."""

    read: Mode | None = Field(None, description="Reads outside the session's folder: ask, allow or deny.")
    edit: Mode | None = Field(None, description="Changes of files.")
    execute: Mode | None = Field(None, description="Commands and tools nobody knows.")
    network: Mode | None = Field(None, description="Requests that reach the network.")
    destructive: Mode | None = Field(None, description="Deletion, system commands, secrets: ask or deny.")
    own: Mapping[str, OwnClassSettings] = Field(default_factory=dict, description="Classes of your own, by name.")

    @field_validator("read", "edit", "execute", "network", "destructive", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: Any) -> Any:
        return None if value == "" else value

    @field_validator("destructive")
    @classmethod
    def _never_by_itself(cls, value: Mode | None) -> Mode | None:
        if value is Mode.ALLOW:
            raise ValueError(mark("destructive requests can be asked or denied, never allowed by themselves"))
        return value

    def bridge(self, guarded: tuple[Path, ...]) -> PolicySettings:
        modes = {risk: mode for risk in RiskClass if (mode := getattr(self, risk.value)) is not None}
        own = tuple(
            OwnClass(name, entry.tool, entry.subject, entry.mode, entry.second_step) for name, entry in self.own.items()
        )
        return PolicySettings(modes=modes, own_classes=own, guarded=guarded)


class LockSection(_Section):
    """A second factor against a stolen Telegram account."""

    enabled: bool = Field(False, description="Lock the hub when nobody used it for a while.")
    idle: Seconds = Field(1800, description="Seconds without a person until it locks.")
    open_for: Seconds = Field(3600, description="Seconds that /unlock CODE opens it for.")

    def bridge(self) -> LockSettings:
        return LockSettings(is_enabled=self.enabled, idle=self.idle, open_for=self.open_for)


class LimitsSection(_Section):
    """Spend caps, where the agent tells what it spends: a warning at 80 %, an interruption at 100 %. 0 = none."""

    turn_usd: Dollars = Field(0, description="Dollars that one turn may cost.")
    session_usd: Dollars = Field(0, description="Dollars that one session may cost.")
    day_usd: Dollars = Field(0, description="Dollars that all topics together may cost in a day.")
    turn_tokens: Tokens = Field(0, description="Tokens that one turn may use.")
    session_tokens: Tokens = Field(0, description="Tokens that one session may use.")
    day_tokens: Tokens = Field(0, description="Tokens that all topics together may use in a day.")

    def bridge(self) -> LimitSettings:
        return LimitSettings(**self.model_dump())


class VoiceSection(_Section):
    """Voice notes as text: a program of yours, or a service that speaks as OpenAI's does."""

    command: str = Field("", description='Program that prints the text; "{file}" stands for the sound file.')
    url: str = Field("", description="Address, for example http://127.0.0.1:8000/v1/audio/transcriptions.")
    model: str = Field("whisper-1", description="Model that the service is asked for.")
    language: str = Field("", description="Language that is spoken (ISO code), empty = the service finds out.")
    key_variable: str = Field("", description="Name of the environment variable that holds the service's key.")

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        if value and not (value.startswith(("http://", "https://")) and host_of(value)):
            raise ValueError(mark("must be an address such as https://host/v1/audio/transcriptions"))
        return value

    def bridge(self) -> VoiceSettings:
        return VoiceSettings(**self.model_dump())


class Settings(_Section):
    """The whole file."""

    telegram: TelegramSettings = Field(default_factory=TelegramSettings)
    workspace: WorkspaceSettings = Field(default_factory=WorkspaceSettings)
    agents: AgentsSettings = Field(default_factory=AgentsSettings)
    hub: HubSettings = Field(default_factory=HubSettings)
    policy: PolicySettingsSection = Field(default_factory=PolicySettingsSection)
    lock: LockSection = Field(default_factory=LockSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    voice: VoiceSection = Field(default_factory=VoiceSection)

    def bridge_config(self, guarded: tuple[Path, ...] = ()) -> BridgeConfig:
        """What the bridge needs to know, frozen. ``guarded``: the hub's own files, which no agent may touch lightly."""
        return BridgeConfig(
            chats=frozenset(self.telegram.chats),
            users=dict(self.telegram.users),
            roots=self.workspace.roots,
            default_agent=self.agents.default,
            language=self.hub.language,
            verbosity=self.hub.verbosity,
            ask_timeout=self.hub.ask_timeout,
            open_asks_per_topic=self.hub.open_asks_per_topic,
            idle_close=self.hub.idle_close,
            background_limit=self.hub.background_limit,
            silence_notice=self.hub.silence_notice,
            runs_backlog=self.hub.run_backlog,
            allows_session_scope=self.hub.session_scope,
            reads_pass=self.hub.reads_pass,
            agent_modes={name: entry.mode for name, entry in self.agents.entries.items() if entry.mode},
            policy=self.policy.bridge(guarded),
            lock=self.lock.bridge(),
            audit_days=self.hub.audit_days,
            limits=self.limits.bridge(),
            voice=self.voice.bridge(),
        )

    def launches(self) -> dict[str, AgentLaunch]:
        """Per agent kind or ACP entry: how the user wants it started."""
        return {name: entry.launch() for name, entry in self.agents.entries.items()}


def parse(text: str, source: str = "settings.toml") -> Settings:
    """Check a settings text; raises SettingsError whose title names the line or the field."""
    try:
        values = tomllib.loads(text.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            tr("The settings file is not valid TOML: {error}", error=error),
            hint=tr("Mend {file} at that place.", file=source),
            detail=source,
        ) from error
    except RecursionError:
        raise SettingsError(
            tr("The settings file is nested too deeply."), hint=tr("Mend {file} and save it.", file=source)
        ) from None
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(
            _first_problem(error), hint=tr("Mend {file} and save it.", file=source), detail=_places(error)
        ) from error


def _places(error: ValidationError) -> str:
    """Every wrong field and why, without the values: an agent's table may hold its key."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(step) for step in first["loc"] if step not in {"entries", "[key]"})
    more = error.error_count() - 1
    text = tr("Setting {name}: {problem}", name=field, problem=first_fault(error))
    return text + (tr(" (and {count} more)", count=more) if more else "")


def first_fault(error: ValidationError) -> str:
    """The first fault for a person: our own sentences are in the catalogue, the library's are said in ours."""
    first = error.errors(include_url=False, include_input=False)[0]
    limits, kind = first.get("ctx", {}), first["type"]
    match kind:
        case "greater_than":
            return tr("must be more than {limit}", limit=whole(limits["gt"]))
        case "greater_than_equal":
            return tr("must be at least {limit}", limit=whole(limits["ge"]))
        case "less_than_equal":
            return tr("must be at most {limit}", limit=whole(limits["le"]))
        case "enum" | "literal_error":
            words = str(limits.get("expected", "")).replace("'", "").replace(" or ", ", ")
            return tr("must be one of: {words}", words=words)
    return tr(_FAULTS.get(kind, first["msg"].removeprefix("Value error, ")))


def whole(limit: float) -> float:
    """A limit without a needless ".0"."""
    return int(limit) if limit == int(limit) else limit


_FAULTS = {
    "extra_forbidden": mark("there is no such setting"),
    "tuple_type": mark("must be a list in square brackets"),
    **dict.fromkeys(("model_type", "dict_type", "mapping_type"), mark("must be a table of settings")),
    **dict.fromkeys(("string_type", "path_type"), mark("must be a text in quotes")),
    **dict.fromkeys(("bool_type", "bool_parsing"), mark("must be true or false")),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), mark("must be a number")),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), mark("must be a whole number")),
}
"""Kinds of faults as pydantic names them, in our words."""


def load(path: Path) -> Settings:
    """Read the file; a missing file means the defaults."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            tr("The settings file can't be read."),
            hint=tr("Check the rights and the encoding (UTF-8) of {file}.", file=path),
            detail=str(error),
        ) from error
    return parse(text, str(path))


def edit(path: Path, change: Callable[[tomlkit.TOMLDocument], None]) -> Settings:
    """Apply ``change`` to the file, keeping comments; nothing is written unless the outcome is valid."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    document = tomlkit.parse(text)
    change(document)
    changed = tomlkit.dumps(document)
    settings = parse(changed, str(path))
    path = path.resolve()  # a link stays one: what it points to is written
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(path.name + ".new")
    try:
        # As closed as the file was, and a new one to others altogether: agents' tables may hold their keys.
        beside.touch(mode=0o600)
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.write_text(changed, encoding="utf-8")
        beside.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    return settings
