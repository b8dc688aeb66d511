"""What keeps what is hard to get back: machines, volumes, backups, databases of frameworks, other VCS. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bridge.policy.classes import Finding, names
from bridge.policy.commands import Command
from bridge.policy.looking import Judging, Look, destructive, executes
from bridge.texts import tr

KEEPERS = names(
    """
    vagrant virsh vboxmanage prlctl lxc incus multipass zfs btrfs minikube kind k3d etcdctl argocd flux istioctl
    crictl ctr rclone restic borg duplicity kubectx kubens limactl colima
    """
)
LOSES = names(
    """
    delete deletefile destroy rm rmi rmdir rmdirs remove purge prune forget undefine unregistervm del cleanup
    uninstall rollback discard
    """
)
MIRRORS = frozenset(("sync", "move"))
"""Words of rclone that delete at the target or the source."""
FRAMEWORK_DROPS = re.compile(
    r"^(?:[\w-]+[:.])*(?:db|database|schema|migrate|ecto|doctrine|collection)[:.](?:[\w-]+[:.])*"
    r"(?:drop|dropall|reset|fresh|refresh|purge|wipe|truncate|load|flush|empty|clean)$"
)
"""``rails db:drop``, ``artisan migrate:fresh``, ``mix ecto.reset``, ``doctrine:database:drop``."""
FRAMEWORK_WORDS = (
    frozenset(("migrate", "reset")),
    frozenset(("db", "reset")),
    frozenset(("db", "drop")),
    frozenset(("database", "drop")),
    frozenset(("schema", "drop")),
    frozenset(("db", "downgrade")),
    frozenset(("alembic", "downgrade")),
    frozenset(("manage.py", "flush")),
    frozenset(("manage.py", "reset_db")),
    frozenset(("migrate", "down")),
    frozenset(("migrate", "drop")),
)
STARTERS = names(
    """
    rails rake bundle bin/rails php artisan python python3 py npx yarn pnpm npm bun bunx node mix flask alembic
    sequelize prisma typeorm knex dbmate migrate goose liquibase flyway drizzle-kit symfony console sqlx diesel
    """
)
VERSIONS: Mapping[str, frozenset[str]] = {
    "hg": frozenset(("strip", "revert", "purge", "rollback")),
    "svn": frozenset(("revert", "cleanup")),
    "jj": frozenset(("abandon", "restore")),
    "p4": frozenset(("revert", "obliterate")),
    "bzr": frozenset(("revert", "uncommit", "clean-tree")),
    "fossil": frozenset(("revert", "clean", "purge")),
}


def keeps(command: Command, _judge: Judging) -> Iterator[Finding]:
    """``vagrant destroy``, ``zfs destroy``, ``restic forget``."""
    said = {text.lower() for text in command.plain()[:4]}
    is_mirror = command.program == "rclone" and bool(said & MIRRORS)
    if said & LOSES or is_mirror or command.has("--delete", "--prune", "--purge"):
        yield destructive(tr("deletes a machine, a volume or a backup"))
    else:
        yield executes()


def drops_database(command: Command) -> Iterator[Finding]:
    """The commands by which web frameworks throw a whole database away."""
    if command.program not in STARTERS:
        return
    plain = [text.lower() for text in (command.program, *command.plain())][:8]
    words = {word.rsplit("/", 1)[-1] for word in plain}
    is_drop = any(FRAMEWORK_DROPS.match(word) for word in plain) or any(pair <= words for pair in FRAMEWORK_WORDS)
    if is_drop or command.has("--force-reset"):
        yield destructive(tr("deletes databases"))


def other_versions(command: Command, _judge: Judging) -> Iterator[Finding]:
    """Version control beside git: what throws work away."""
    said = {text.lower() for text in command.plain()[:1]}
    is_clean_update = command.program == "hg" and command.has("-C", "--clean") and bool(said & {"update", "up", "co"})
    if said & VERSIONS[command.program] or is_clean_update:
        yield destructive(tr("throws away changes that are not committed"))
    else:
        yield executes()


LOOKS: Mapping[str, Look] = {**dict.fromkeys(KEEPERS, keeps), **dict.fromkeys(VERSIONS, other_versions)}
