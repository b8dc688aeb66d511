"""``agent-hub demo``: simulator, hub and agent in one process tree; a phone page instead of an account.

Everything lives in a folder of its own and is gone at the end. ``--check`` plays the person, too, and restarts the
hub on the same data in the middle, as a crash and a new start would.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents.catalogue import Finder, build_backends
from agents.contract import AgentBackend, AgentHealth, AgentLaunch, HubError
from agents.demo.history import HOME as DEMO_HOME
from app import logs
from app.console import complain, say, say_json
from app.demo_check import DEMO_SCRIPT, MODEL_SCRIPT, Check, Script, Step
from app.doctor import State, check_display, check_qt
from app.engine import Engine
from app.health import HubView
from app.host import OnView, ThreadedHost
from app.paths import Folders, folders
from app.settings import AgentsSettings, HubSettings, Settings, TelegramSettings, WorkspaceSettings, load
from bridge.config import Role
from bridge.simulator.human import Human
from bridge.simulator.simulator import Simulator
from bridge.simulator.stage import AgentChoice
from bridge.simulator.world import OWNER
from bridge.texts import told, tr

log = logging.getLogger(__name__)

DEFAULT_AGENT = "demo"
HUB_FOLDER = "hub"
PROBE_SECONDS = 20.0
"""An agent that has not answered by then is not offered; a cold start of a large one was seen to take ten."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """``data_dir`` None: a temporary folder that is deleted at the end."""

    agent: str = DEFAULT_AGENT
    language: str = "en"
    data_dir: Path | None = None
    launches: tuple[tuple[str, AgentLaunch], ...] = ()


def demo_command(
    *,
    agent: str,
    is_check: bool,
    as_json: bool,
    headless: bool,
    language: str,
    data_dir: Path | None,
    settings_file: Path | None,
) -> int:
    """Run the demo; exit code 0 only if (with ``is_check``) every step held."""
    known = load(settings_file or folders(None).settings_file)
    options = DemoOptions(agent, language, data_dir, tuple(known.launches().items()))
    if is_check:
        steps = asyncio.run(check(options, is_quiet=as_json))
        is_ok = all(step.is_ok for step in steps)
        if as_json:
            say_json({"ok": is_ok, "steps": [as_value(step) for step in steps]})
        return 0 if is_ok else 1
    if headless or not can_show_window():
        return asyncio.run(serve(options))
    from app.ui.demo_desktop import run_demo_window

    return run_demo_window(options)


def can_show_window() -> bool:
    """Whether this computer has a display and Qt starts on it; if only Qt fails, it says why."""
    if check_display().state is not State.OK:
        return False
    window = check_qt()
    if window.state is not State.OK:
        complain(f"{window.message}. {window.hint}")
    return window.state is State.OK


def as_value(step: Step) -> dict[str, object]:
    value: dict[str, object] = {"name": step.name, "ok": step.is_ok, "ms": step.ms}
    return value if step.is_ok else {**value, "why": step.why}


def step_line(step: Step) -> str:
    return f"{'✓' if step.is_ok else '✗'} {step.name} ({step.ms} ms)" + (f"\n    {step.why}" if step.why else "")


# --- the parts of a demo


class Demo:
    """Simulator and hub on one folder. ``async with`` starts both; ``restart`` gives the hub a second life."""

    def __init__(
        self,
        options: DemoOptions,
        root: Path,
        on_view: OnView = lambda view: None,
        on_engine: Callable[[Engine | None], None] = lambda engine: None,
    ) -> None:
        self.options = options
        self._on_view = on_view
        self._on_engine = on_engine
        # Beside each other: everything in the hub's own folder is guarded, and the agent works in the workspace.
        self.folders: Folders = folders(root / HUB_FOLDER)
        self.workspace = root / "workspace"
        self.simulator = Simulator()
        self.engine: Engine | None = None

    async def __aenter__(self) -> Demo:
        self.folders.make()
        self.workspace.mkdir(exist_ok=True)
        logs.set_up(self.folders.logs)
        await self.simulator.start()
        await self.start_hub()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_hub()
        await self.simulator.stop()

    def settings(self) -> Settings:
        telegram = TelegramSettings(
            base_url=self.simulator.base_url,
            base_file_url=self.simulator.base_file_url,
            chats=(self.simulator.group.id,),
            users={OWNER.id: Role.OWNER},
        )
        return Settings(
            telegram=telegram,
            workspace=WorkspaceSettings(roots=(self.workspace,)),
            agents=AgentsSettings(default=self.options.agent),
            hub=HubSettings(language="ru" if self.options.language == "ru" else "en"),
        )

    async def start_hub(self) -> None:
        """A new life of the hub on the data of the former one."""
        launches = dict(self.options.launches)
        demo = launches.get("demo", AgentLaunch())
        launches["demo"] = replace(demo, env={**demo.env, DEMO_HOME: str(self.folders.data / "demo-agent")})
        backends = build_backends(launches, Finder())
        if self.options.agent not in backends:
            raise HubError(f"There is no agent named {self.options.agent}.", hint=f"Known: {', '.join(backends)}")
        engine = Engine(self.settings(), self.simulator.token, self.folders, backends=backends, on_view=self._on_view)
        await engine.start()
        self.engine = engine
        self._on_engine(engine)

    async def stop_hub(self) -> None:
        if self.engine is not None:
            engine, self.engine = self.engine, None
            self._on_engine(None)
            await engine.stop()

    async def offer_agents(self) -> None:
        """Let the person choose on the page, if there is more than the demo agent that could be used now."""
        if self.engine is None or self.options.agent != DEFAULT_AGENT:
            return
        backends = self.engine.backends
        healths = await asyncio.gather(*(health_of(backend) for backend in backends.values()))
        usable = [health for health in healths if health is not None and health.is_usable]
        if len(usable) > 1:
            choices = [AgentChoice(health.kind, health.title, note_of(health)) for health in usable]
            self.simulator.phone.stage.offer(sorted(choices, key=lambda one: one.name != DEFAULT_AGENT), self.choose)

    async def choose(self, agent: str) -> None:
        """Work with another agent: the hub begins a new life with it as the default."""
        if agent == self.options.agent:
            return
        before, self.options = self.options, replace(self.options, agent=agent)
        try:
            await self.restart_hub()
        except HubError:
            self.options = before
            await self.start_hub()
            raise

    async def restart_hub(self) -> None:
        await self.stop_hub()
        await self.start_hub()


async def health_of(backend: AgentBackend) -> AgentHealth | None:
    """What can be said of an agent within some seconds; None when it did not answer."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await backend.probe()
    except (HubError, TimeoutError) as error:
        log.info("agent %s is not offered: %s", backend.kind, type(error).__name__)
        return None


def note_of(health: AgentHealth) -> str:
    if health.kind == DEFAULT_AGENT:
        return tr("A small program that shows everything; no account needed.")
    if not health.version:
        return tr("Installed here. It works for real, in the demo's own folder.")
    return tr("Version {version}, installed here. It works for real, in the demo's own folder.", version=health.version)


class DemoHost(ThreadedHost):
    """The demo's engine behind the same desktop as a real one."""

    def __init__(self, options: DemoOptions) -> None:
        self._root = tempfile.TemporaryDirectory(prefix="agent-hub-demo-")
        self._place = options.data_dir or Path(self._root.name)
        super().__init__(folders(self._place / HUB_FOLDER))
        self.options = options
        self._address: asyncio.Future[str] | None = None

    async def address(self) -> str:
        """The phone page's address, as soon as it is served."""
        if self._address is None:
            self._address = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._address)

    async def run(self, on_view: OnView) -> None:
        self._on_view = on_view
        if self._address is None:
            self._address = asyncio.get_running_loop().create_future()
        try:
            await usable_agent(self.options)
            async with Demo(self.options, self._place, self._show, self._engine_changed) as demo:
                self.settings = demo.settings()
                await demo.offer_agents()
                self._address.set_result(demo.simulator.phone_url)
                await asyncio.Event().wait()
        except HubError as error:
            self._show(HubView(problem=told(error.title), hint=told(error.hint)))
            self._address.set_exception(error)
            await asyncio.Event().wait()
        finally:
            self.engine = None
            await asyncio.to_thread(self._root.cleanup)

    def _engine_changed(self, engine: Engine | None) -> None:
        self.engine = engine


@contextlib.asynccontextmanager
async def demo_in(options: DemoOptions) -> AsyncIterator[Demo]:
    """A running demo in the folder of the options, or in one that is deleted afterwards."""
    with contextlib.ExitStack() as stack:
        root = options.data_dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent-hub-demo-")))
        async with Demo(options, root) as demo:
            yield demo


async def usable_agent(options: DemoOptions) -> AgentHealth:
    """The chosen agent's health; raises HubError with what to do when it can't be used."""
    launches = dict(options.launches)
    backends = build_backends(launches, Finder())
    backend = backends.get(options.agent)
    if backend is None:
        raise HubError(f"There is no agent named {options.agent}.", hint=f"Known: {', '.join(backends)}")
    health = await backend.probe()
    if not health.is_usable:
        raise HubError(health.problem or f"{health.title} can't be used.", hint=health.hint)
    return health


async def check(options: DemoOptions, *, script: Script | None = None, is_quiet: bool = False) -> Sequence[Step]:
    """Play every step; the report goes out line by line unless ``is_quiet``."""
    await usable_agent(options)
    chosen = script or (DEMO_SCRIPT if options.agent == "demo" else MODEL_SCRIPT)
    async with demo_in(options) as demo:
        return await Check(
            human=Human(demo.simulator),
            stranger=Human.stranger(demo.simulator),
            script=chosen,
            restart=demo.restart_hub,
            report=(lambda _step: None) if is_quiet else (lambda step: say(step_line(step))),
        ).run()


async def serve(options: DemoOptions) -> int:
    """Serve the phone page until Ctrl-C."""
    await usable_agent(options)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C arrives as KeyboardInterrupt
            loop.add_signal_handler(number, stopped.set)
    async with demo_in(options) as demo:
        await demo.offer_agents()
        say(f"The phone: {demo.simulator.phone_url}")
        say("Ctrl-C ends it; nothing is left behind.")
        await stopped.wait()
    return 0
