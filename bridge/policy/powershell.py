"""Reads PowerShell with tree-sitter's grammar. Pure.

Aliases are spelled out where they matter; commands inside script blocks, parentheses and strings are found, and calls
of .NET methods are looked at by name.
"""

from __future__ import annotations

import re

import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

from bridge.policy.bash import text_of
from bridge.policy.classes import Finding, RiskClass
from bridge.policy.commands import Command, Redirect, Script, Word
from bridge.texts import tr

_PARSER = Parser(Language(tree_sitter_powershell.language()))
ALIASES = {
    "ri": "remove-item",
    "rm": "remove-item",
    "rmdir": "remove-item",
    "rd": "remove-item",
    "del": "remove-item",
    "erase": "remove-item",
    "iex": "invoke-expression",
    "kill": "stop-process",
    "spps": "stop-process",
    "sp": "set-itemproperty",
    "rp": "remove-itemproperty",
    "curl": "invoke-webrequest",
    "wget": "invoke-webrequest",
}
_BAD_METHODS = re.compile(
    r"::\s*(Delete|WriteAllText|WriteAllBytes|Move|Replace|DownloadString|DownloadFile|Load|Start)\b", re.IGNORECASE
)
_DELETING_METHODS = re.compile(r"\.\s*Delete\w*\s*\(", re.IGNORECASE)
_TYPOGRAPHIC = str.maketrans("–—―‘’‚‛“”„", "---" + "'" * 4 + '"' * 3)
"""PowerShell takes the dashes and quotes of a text editor for the plain ones."""
_WEB_METHODS = re.compile(
    r"\.\s*(DownloadString|DownloadFile|DownloadData|OpenRead|GetStringAsync|UploadString|UploadFile)\b", re.IGNORECASE
)
_LATER = re.compile(r"[$`(@]")


def read_powershell(text: str) -> Script:
    """The commands of a script. A part the grammar can't read makes the script not clean."""
    root = _PARSER.parse(text.translate(_TYPOGRAPHIC).encode("utf-8", "replace")).root_node
    commands: list[Command] = []
    findings: list[Finding] = []
    visit(root, commands, findings, ())
    return Script(tuple(commands), tuple(findings), is_clean=not root.has_error)


def visit(node: Node, commands: list[Command], findings: list[Finding], feeders: tuple[Command, ...]) -> None:
    """Find commands and method calls in any node."""
    if node.type == "pipeline_chain":
        before = len(commands)
        for child in node.named_children:
            visit(child, commands, findings, tuple(commands[before:]))
        return
    if node.type == "command":
        inner: list[Command] = []
        for child in node.named_children:
            visit(child, inner, findings, ())
        commands.extend(inner)
        commands.append(command_of(node, feeders))
        return
    if node.type == "invokation_expression":
        method(text_of(node), findings)
    for child in node.named_children:
        visit(child, commands, findings, feeders)


def method(text: str, findings: list[Finding]) -> None:
    """A call of a .NET method: harmless ones are many, bad ones have names."""
    if _BAD_METHODS.search(text) or _DELETING_METHODS.search(text):
        findings.append(Finding(RiskClass.DESTRUCTIVE, tr("calls a system function that deletes, writes or starts")))
    elif _WEB_METHODS.search(text):
        findings.append(Finding(RiskClass.NETWORK, tr("downloads")))
    else:
        findings.append(Finding(RiskClass.EXECUTE))


def command_of(node: Node, feeders: tuple[Command, ...]) -> Command:
    """One command with its words."""
    name, args, redirects = Word("", is_literal=False), [], []
    for child in node.named_children:
        if child.type in ("command_name", "command_name_expr"):
            name = word_of(text_of(child))
            name = Word(ALIASES.get(name.text.lower(), name.text), name.is_literal)
        elif child.type == "command_elements":
            for element in child.named_children:
                if element.type == "redirection":
                    redirects.append(Redirect(word_of(text_of(element).lstrip("0123456789*>&").strip()), is_write=True))
                elif element.type != "command_argument_sep":
                    args.append(word_of(text_of(element)))
    return Command(name, tuple(args), tuple(redirects), feeders)


def word_of(source: str) -> Word:
    """A word without its quotes and backticks."""
    source = source.strip()
    if len(source) >= 2 and source[0] == source[-1] == "'":
        return Word(source[1:-1].replace("''", "'"))
    if len(source) >= 2 and source[0] == source[-1] == '"':
        return Word(source[1:-1].replace('`"', '"'), not _LATER.search(source[1:-1]))
    plain = source.replace("`", "")
    return Word(plain, not (plain[:1] in "$(@{" and plain.lower() not in ("$true", "$false", "$null")))
