"""Reads scripts for sh, bash and zsh with tree-sitter's grammar (22 microseconds for a line). Pure.

Quotes, escapes and ``$'..'`` are undone, variables that were set to a plain text in the same script are filled in,
and commands inside substitutions, functions, loops and subshells are found like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from bridge.policy.classes import Finding, RiskClass
from bridge.policy.commands import Command, Redirect, Script, Word
from bridge.policy.variables import WATCHED
from bridge.texts import tr

_PARSER = Parser(Language(tree_sitter_bash.language()))
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_STRING_ESCAPE = re.compile(r'\\([\\"$`\n])')
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_ARGUMENTS = frozenset(
    {
        "word",
        "string",
        "raw_string",
        "ansi_c_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "number",
        "brace_expression",
        "translated_string",
        "arithmetic_expansion",
        "regex",
        "==",
        "=~",
    }
)


def read_bash(text: str) -> Script:
    """The commands of a script. A part the grammar can't read makes the script not clean."""
    root = _PARSER.parse(text.encode("utf-8", "replace")).root_node
    reader = _Reader()
    reader.visit(root)
    return Script(tuple(reader.commands), tuple(reader.findings), is_clean=not root.has_error)


class _Reader:
    """Walks one tree; ``values`` are variables with a text known before the script runs."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.findings: list[Finding] = []
        self.values: dict[str, str] = {"HOME": "~", "IFS": " "}
        self._parts_words: dict[int, str] = {}

    def visit(self, node: Node) -> None:
        """Find commands in any node, in the order they run."""
        match node.type:
            case "command":
                self._command(node, (), ())
            case "pipeline":
                self._pipeline(node)
            case "redirected_statement":
                self._redirected(node, ())
            case "variable_assignment":
                self._assignment(node)
            case "function_definition":
                self._function(node)
            case _:
                for child in node.named_children:
                    self.visit(child)

    def _pipeline(self, node: Node, feeders: tuple[Command, ...] = ()) -> None:
        for child in node.named_children:
            before = len(self.commands)
            if child.type == "command":
                self._command(child, feeders, ())
            elif child.type == "redirected_statement":
                self._redirected(child, feeders)
            else:
                self.visit(child)
            feeders = (*feeders, *self.commands[before:])

    def _redirected(self, node: Node, feeders: tuple[Command, ...]) -> None:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        if body is not None and body.type == "command":
            self._command(body, feeders, redirects)
            return
        if body is not None:
            self.visit(body)
        self._bare_redirects(redirects)

    def _bare_redirects(self, redirects: Sequence[Node]) -> None:
        """Redirections of a block or of nothing (``> file`` empties it)."""
        for redirect in redirects:
            self._substitutions(redirect)
        found = tuple(entry for redirect in redirects for entry in self._redirects(redirect))
        if found:
            self.commands.append(Command(Word(":"), redirects=found))

    def _command(self, node: Node, feeders: tuple[Command, ...], outer: Sequence[Node]) -> None:
        name, args, redirects, document = Word(""), [], list[Redirect](), None
        variables: list[tuple[str, Word]] = []
        for child in [*node.named_children, *outer]:
            if child.type == "command_name":
                name = self._word(child.named_children[0]) if child.named_children else Word("", is_literal=False)
            elif child.type == "variable_assignment":
                variables.append(self._named(child))
            elif child.type.endswith("redirect"):
                redirects += self._redirects(child)
                document = self._document(child) or document
            elif child.type in _ARGUMENTS:
                args.append(self._word(child))
            self._substitutions(child)
        command = Command(name, tuple(args), tuple(redirects), feeders, document, tuple(variables))
        self.commands.append(command)
        for redirect in outer:
            self._after_document(redirect, command)

    def _redirects(self, node: Node) -> Iterator[Redirect]:
        if node.type != "file_redirect":
            return
        target = node.child_by_field_name("destination")
        operators = {child.type for child in node.children if not child.is_named}
        if target is not None and not (target.type == "number" and operators & {">&", "<&"}):
            yield Redirect(self._word(target), is_write=bool(operators & _WRITES))

    def _document(self, node: Node) -> Word | None:
        if node.type == "herestring_redirect" and node.named_children:
            return self._word(node.named_children[-1])
        if node.type == "heredoc_redirect":
            bodies = [child for child in node.named_children if child.type == "heredoc_body"]
            if bodies:
                return Word(text_of(bodies[0]), is_literal=not bodies[0].named_children)
        return None

    def _after_document(self, node: Node, command: Command) -> None:
        """``cat <<EOF | sh``: the grammar puts what follows the first line inside the redirection."""
        if node.type != "heredoc_redirect":
            return
        for child in node.named_children:
            if child.type == "command":
                self._command(child, (command,), ())
            elif child.type == "pipeline":
                self._pipeline(child, (command,))
            elif child.type not in ("heredoc_start", "heredoc_body", "heredoc_end", "file_redirect"):
                self.visit(child)

    def _substitutions(self, node: Node) -> None:
        """Commands inside words and redirections run as well."""
        if node.type in ("command_substitution", "process_substitution"):
            for child in node.named_children:
                self.visit(child)
            return
        for child in node.named_children:
            if node.type != "heredoc_redirect" or child.type == "heredoc_body":
                self._substitutions(child)

    def _assignment(self, node: Node) -> None:
        name, word = self._named(node)
        self._substitutions(node)
        if name in WATCHED:  # it holds for every later program
            self.commands.append(Command(Word(":"), variables=((name, word),)))
        if name == "IFS":
            self._parts_words = str.maketrans(dict.fromkeys(word.text, " "))
        if word.is_literal:
            self.values[name] = word.text
        else:
            self.values.pop(name, None)

    def _named(self, node: Node) -> tuple[str, Word]:
        """The two sides of an assignment."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        return text_of(name) if name else "", self._word(value) if value else Word("")

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        before = len(self.commands)
        if body is not None:
            self.visit(body)
        inner = self.commands[before:]
        if name is not None and any(command.name.text == text_of(name) and command.feeders for command in inner):
            self.findings.append(Finding(RiskClass.DESTRUCTIVE, tr("a function that multiplies itself")))

    # --- words

    def _word(self, node: Node) -> Word:
        text = text_of(node)
        match node.type:
            case "word" | "number" | "{" | "}" | "," | "`":
                word = Word(_ESCAPE.sub(lambda match: match[1].replace("\n", ""), text) if "\\" in text else text)
            case "raw_string":
                word = Word(text[1:-1])
            case "ansi_c_string":
                word = Word(ansi_text(text[2:-1]))
            case "string":
                word = self._string(node)
            case "concatenation":
                word = joined([self._word(child) for child in node.children])
            case "simple_expansion" | "expansion":
                word = self._variable(node)
            case _:
                word = Word(text, is_literal=False)
        return word

    def _string(self, node: Node) -> Word:
        parts, last = [], node.start_byte + 1
        for child in node.children:
            gap = child.start_byte - last
            if gap > 0:  # the grammar leaves white space between parts out of the tree
                parts.append(Word(" " * gap))
            last = child.end_byte
            if child.type == "string_content":
                parts.append(Word(_STRING_ESCAPE.sub(lambda match: match[1].replace("\n", ""), text_of(child))))
            elif child.is_named:
                parts.append(self._word(child))
        return joined(parts)

    def _variable(self, node: Node) -> Word:
        names = node.named_children
        if len(names) == 1 and names[0].type == "variable_name" and text_of(node) in forms(text_of(names[0])):
            value = self.values.get(text_of(names[0]))
            if value is not None:
                return Word(value.translate(self._parts_words))
        return Word(text_of(node), is_literal=False)


def forms(name: str) -> tuple[str, str]:
    """The two spellings of a variable's bare value."""
    return f"${name}", f"${{{name}}}"


def joined(parts: Sequence[Word]) -> Word:
    """Words written without a blank between."""
    return Word("".join(part.text for part in parts), all(part.is_literal for part in parts))


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def ansi_text(text: str) -> str:
    """What ``$'...'`` stands for."""

    def decode(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            return chr(min(int(code[1:], 16), 0x10FFFF))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _ANSI_LETTERS.get(code, code)

    return _ANSI.sub(decode, text)
