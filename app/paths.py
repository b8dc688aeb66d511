"""Where this computer keeps the hub's things. Folders are made on demand, for the user alone (0700)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from agents.contract import HubError
from bridge.texts import tr

APP_NAME = "agent-hub"
DATA_VARIABLE = "AGENT_HUB_DATA"


@dataclass(frozen=True, slots=True)
class Folders:
    """``config`` holds settings.toml, ``data`` the database and snapshots, ``runtime`` the lock.

    ``instance`` is "" for the platform's folders, else the folder that keeps this instance apart from others.
    """

    config: Path
    data: Path
    logs: Path
    runtime: Path
    instance: str = ""

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    @property
    def database_file(self) -> Path:
        return self.data / "hub.sqlite3"

    def make(self) -> None:
        """Create what is missing, closed to other users. Raises HubError that names the folder."""
        for folder in (self.config, self.data, self.logs, self.runtime):
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise _folder_error(folder, error) from error
        if os.name == "posix":
            try:
                self.data.chmod(0o700)
            except OSError as error:
                raise _folder_error(self.data, error) from error


def folders(data_dir: Path | None = None) -> Folders:
    """The platform's folders, or everything below ``data_dir`` (option, else AGENT_HUB_DATA)."""
    chosen = data_dir or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if chosen is not None:
        root = at_home(chosen).absolute()
        return Folders(config=root, data=root / "data", logs=root / "logs", runtime=root / "run", instance=str(root))
    dirs = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
    data = Path(dirs.user_data_dir)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return Folders(
        config=Path(dirs.user_config_dir),
        data=data,
        logs=Path(dirs.user_log_dir),
        runtime=Path(runtime) / APP_NAME if runtime else data / "run",
    )


def at_home(path: Path) -> Path:
    """``~`` and ``~name`` as a folder; raises HubError for a person this computer does not know."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise HubError(
            tr("{path}: this computer knows no such person.", path=path), tr("Write the whole path of the folder.")
        ) from error


def _folder_error(folder: Path, error: OSError) -> HubError:
    return HubError(
        tr("The folder {folder} can't be used: {problem}.", folder=folder, problem=error.strerror),
        tr("Choose another with --data-dir, or make it one you may write to."),
        str(error),
    )
