"""What the hub itself shows: cards, status, notices. Builders from values to one ``Part``; pure.

Everything an agent or a person wrote is escaped, and cut by meaning where it is too long: a path and a command keep
head and tail, a text keeps its head. Nothing here decides; the buttons under a card belong to who posts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.contract import HubError, PermissionRequest, Question, QuestionKind, ToolKind, ToolStatus, Usage
from bridge.diffs import FileDiff, read_diff
from bridge.markdown import Composer, Part, StyledText, clip, keep_ends, keep_head, read, stack, utf16_length
from bridge.texts import told, tr, trn
from bridge.unseen import readable

ROOM = 3_800
"""UTF-16 units of a card that may be filled with what can be cut; the rest is for the lines that can't."""
LONG_COMMAND = 500
"""UTF-16 units; a longer command shows its ends, and the whole of it in a folded quote."""
WHOLE_COMMAND = 2_000
LONG_LINES = 12
SUBJECT = 600
CLOSED_SUBJECT = 200
TOOL_SUBJECT = 36
"""About what a line of a phone holds beside the name of the tool."""
DIFF_LINES = 40
DIFF_UNITS = 1_600
PLAN_UNITS = 2_800
ARGUMENTS_UNITS = 1_000
REASON_UNITS = 500
DETAIL_UNITS = 1_500

_KIND_SIGNS = {
    ToolKind.READ: "📖",
    ToolKind.EDIT: "✏️",
    ToolKind.EXECUTE: "⚡",
    ToolKind.NETWORK: "🌐",
    ToolKind.OTHER: "🔧",
}
_STATUS_SIGNS = {
    ToolStatus.OK: "✅",
    ToolStatus.FAILED: "❌",
    ToolStatus.DENIED: "🚫",
    ToolStatus.CANCELLED: "⏹",
}


def permission_card(
    request: PermissionRequest,
    *,
    folder: Path | None = None,
    folder_note: str = "",
    risk: str = "",
    verdict: str = "",
    below: Part | None = None,
) -> Part:
    """The agent asks before it acts. With a ``verdict`` the card is closed: shorter, ``below`` under it.

    ``folder`` is the session's: files in it are named from there on.
    """
    request = readable(request)
    card = Composer()
    folder = folder or request.cwd
    files = [replace(file, path=_path_from(folder, file.path)) for file in read_diff(request.diff, request.subject)]
    request = replace(request, subject=shown_subject(request.kind, request.subject, folder))
    if verdict:
        card.bold(keep_head(verdict, REASON_UNITS)).line()
    _permission_head(card, request)
    if risk and not verdict:
        card.line().text("⚠️ ").bold(keep_head(risk, REASON_UNITS))
    if request.subject:
        _subject(card, request, files, is_closed=bool(verdict))
    if folder_note:
        card.line().text("📁 ").code(keep_ends(folder_note, CLOSED_SUBJECT))
    if request.reason and not verdict:
        card.line().italic(keep_head(request.reason, REASON_UNITS))
    if not verdict:
        _permission_body(card, request, files)
    else:
        for file in files[:3]:
            _diff_title(card.line(), file, sign="")
    return stack(card.part(), below)


def question_card(
    question: Question, *, number: int, total: int, chosen: Sequence[str] = (), verdict: str = ""
) -> Part:
    """One question of ``total``, with every label and description in full as far as a message holds them."""
    for label, description in ((500, 1_000), (500, 300), (500, 100), (200, 0), (60, 0), (24, 0)):
        card = _question(question, number, total, chosen, verdict, (label, description))
        if utf16_length(card.styled().text) <= ROOM:
            break
    return card.part()


def tool_line(title: str, subject: str, status: ToolStatus | None) -> StyledText:
    """One tool call on one line; ``status`` None = still running."""
    line = Composer().text(_STATUS_SIGNS[status] if status else "▶️").text(" ").text(_one_line(title))
    subject = _one_line(subject)
    if subject and subject not in title:
        line.text(" ").code(keep_ends(subject, TOOL_SUBJECT))
    return line.styled()


def status_block(
    *,
    doing: str,
    tools: Sequence[StyledText | str],
    elapsed: float,
    tail: Part | None,
    waiting: str = "",
) -> Part:
    """What runs now: one line, the last tools, what it waits for, and the tail of the text being written."""
    block = Composer().text("⏳ ").bold(_one_line(doing)).text(f" · {duration(elapsed)}")
    _lines(block, tools)
    if waiting:
        block.line().text("⏸ ").italic(keep_head(waiting, REASON_UNITS))
    return stack(block.part(), tail)


def turn_log(
    *,
    title: str,
    tools: Sequence[StyledText | str] = (),
    files: Sequence[FileDiff] = (),
    texts: Sequence[str] = (),
    elapsed: float | None = None,
) -> Part:
    """What a turn did, compact: tools, files changed, and the texts written between in a folded quote."""
    log = Composer().bold(_one_line(title))
    if elapsed is not None:
        log.text(f" · {duration(elapsed)}")
    shown = tools[-20:]
    if len(shown) < len(tools):
        hidden = len(tools) - len(shown)
        log.line().italic(trn("… and {count} tool before", "… and {count} tools before", hidden))
    _lines(log, shown)
    for file in files[:15]:
        _diff_title(log.line(), file)
    if len(files) > 15:
        log.line().italic(trn("… and {count} more file", "… and {count} more files", len(files) - 15))
    between = "\n\n".join(text.strip() for text in texts if text.strip())
    if between:
        with log.quote(expandable=True):
            log.extend(clip(read(between), _room(log))[0])
    return log.part()


def diff_card(path: str, unified_diff: str) -> Part:
    """An edit as a person reads it: ``file +3 −3`` and the changed lines."""
    card = Composer()
    _diffs(card, read_diff(unified_diff, path))
    if not len(card):
        card.text("✏️ ").bold(keep_ends(path, CLOSED_SUBJECT))
    return card.part()


def notice(text: str, *, hint: str = "", detail: str = "") -> Part:
    """A message of the hub: what happened, what to do, and the technical part folded."""
    card = Composer().text(keep_head(text, 2_000))
    return _with_hint(card, hint, detail)


def error_notice(error: HubError) -> Part:
    """Any error a person may see."""
    card = Composer().text("⚠️ ").bold(keep_head(told(error.title), 1_000))
    return _with_hint(card, told(error.hint), error.detail)


def footer(usage: Usage | None = None, *, elapsed: float | None = None, note: str = "") -> Part:
    """The small line under a final answer: time, tokens, cost, context; an empty part when nothing is known."""
    facts = [note] if note else []
    if elapsed is not None:
        facts.append(duration(elapsed))
    if usage is not None:
        facts += _usage_facts(usage)
    return Composer().italic(" · ".join(facts)).part() if facts else Part("", "")


def key_values(title: str, rows: Sequence[tuple[str, str]]) -> Part:
    """A titled list of facts, as /status answers."""
    card = Composer().bold(title)
    for key, value in rows:
        card.line().text(f"{key}: ").text(keep_head(value, 1_000))
    return card.part()


def duration(seconds: float) -> str:
    """Time that passed, as short as can be: ``12 s``, ``3:05``, ``1:02:00``."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return tr("{seconds} s", seconds=whole)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def shown_subject(kind: ToolKind, subject: str, folder: Path) -> str:
    """What a request is about; a file in the session's folder is named from there on, as short as a phone is narrow."""
    if kind not in (ToolKind.READ, ToolKind.EDIT):
        return subject
    return "\n".join(_path_from(folder, line) for line in subject.split("\n"))


# --- pieces -------------------------------------------------------------------------------------------------------


def _path_from(folder: Path, path: str) -> str:
    """A path that climbs is shown as it stands: a person must see where it leads."""
    try:
        inner = Path(path).relative_to(folder)
    except ValueError:
        return path
    return str(inner) if inner.parts and ".." not in inner.parts else path


def _permission_head(card: Composer, request: PermissionRequest) -> None:
    card.text(_KIND_SIGNS[request.kind] + " ").bold(_one_line(request.tool))
    title = _one_line(request.title)
    if title and title not in {request.tool, request.subject, _one_line(request.subject)}:
        card.text(" · ").text(keep_head(title, CLOSED_SUBJECT))
    if request.sub_agent:
        card.line().italic(tr("asked by the helper {name}", name=_one_line(request.sub_agent)))


def _permission_body(card: Composer, request: PermissionRequest, files: Sequence[FileDiff]) -> None:
    if request.plan:
        plan, is_cut = clip(read(request.plan), min(PLAN_UNITS, _room(card)))
        card.gap().extend(plan)
        if is_cut:
            card.line().italic(tr("The plan goes on; it is too long for one message."))
    if request.diff:
        card.line()
        _diffs(card, files, sign="")
    if request.arguments:
        card.pre(keep_head(request.arguments, min(ARGUMENTS_UNITS, _room(card))), "json")
    if request.time_limit is not None:
        card.line().italic(tr("The agent waits {time}.", time=duration(request.time_limit)))


def _subject(card: Composer, request: PermissionRequest, files: Sequence[FileDiff], *, is_closed: bool) -> None:
    subject = request.subject
    if request.kind is not ToolKind.EXECUTE:
        if subject not in {file.path for file in files}:
            card.line().code(keep_ends(subject, CLOSED_SUBJECT if is_closed else SUBJECT))
        return
    is_long = utf16_length(subject) > LONG_COMMAND or subject.count("\n") > LONG_LINES
    if not is_long:
        card.pre(keep_ends(subject, CLOSED_SUBJECT) if is_closed else subject, "bash")
        return
    card.pre(_ends_of_command(subject), "bash")
    whole = keep_ends(subject, WHOLE_COMMAND)
    with card.quote(expandable=True):
        card.code(whole)
    hidden = len(subject) - len(whole)
    if hidden > 0:
        card.line().text("⚠️ ").bold(trn("{count} character is not shown", "{count} characters are not shown", hidden))


def _ends_of_command(command: str) -> str:
    lines = command.strip().splitlines()
    if len(lines) > 6:
        command = "\n".join([*lines[:3], "…", *lines[-2:]])
    return keep_ends(command, CLOSED_SUBJECT)


def _room(card: Composer) -> int:
    """Units left for what may be cut."""
    return max(ROOM - utf16_length(card.styled().text), 100)


def _diff_title(card: Composer, file: FileDiff, sign: str = "✏️ ") -> None:
    card.text(sign).bold(keep_ends(file.path, CLOSED_SUBJECT)).text(f"  +{file.added} −{file.removed}")


def _diffs(card: Composer, files: Sequence[FileDiff], sign: str = "✏️ ") -> None:
    """Titles of all files, lines as far as they fit; what is left out is counted."""
    units, lines = min(DIFF_UNITS, _room(card)), DIFF_LINES
    for file in files[:10]:
        _diff_title(card.line(), file, sign)
        shown: list[str] = []
        for line in file.lines[:lines]:
            units -= utf16_length(line) + 1
            if units < 0:
                break
            shown.append(line)
        lines -= len(shown)
        if shown:
            card.pre("\n".join(shown), "diff")
        if hidden := len(file.lines) - len(shown):
            card.line().italic(trn("… {count} more line", "… {count} more lines", hidden))
    if len(files) > 10:
        card.line().italic(trn("… and {count} more file", "… and {count} more files", len(files) - 10))


def _question(
    question: Question, number: int, total: int, chosen: Sequence[str], verdict: str, units: tuple[int, int]
) -> Composer:
    """``units``: what a label and a description may take."""
    card = Composer()
    labels, description = units
    if verdict:
        card.bold(keep_head(verdict, REASON_UNITS)).line()
    card.text("❓ ").bold(keep_head(_one_line(question.header) or tr("Question"), CLOSED_SUBJECT))
    if total > 1:
        card.text(" · ").text(tr("{number} of {total}", number=number, total=total))
    card.line().extend(clip(read(question.text), 1_500)[0])
    if question.choices:
        card.gap()
    for place, choice in enumerate(question.choices, start=1):
        mark = "✅ " if choice.label in chosen else ""
        card.line().text(f"{mark}{place}. ").bold(keep_ends(_one_line(choice.label), labels))
        if choice.description and description:
            card.text(" — ").text(keep_head(_one_line(choice.description), description))
    if question.link:
        card.line().text(keep_ends(question.link, 1_000))
    hint = "" if verdict else _how_to_answer(question)
    if hint:
        card.gap().italic(hint)
    return card


def _how_to_answer(question: Question) -> str:
    match question.kind:
        case QuestionKind.TEXT:
            return tr("Write your answer here.")
        case QuestionKind.NUMBER:
            return tr("Write a number here.")
        case QuestionKind.LINK:
            return tr("Open the link, then press Done.")
        case QuestionKind.CONFIRM:
            return ""
        case QuestionKind.CHOICE:
            if question.is_multiple:
                return tr("Choose any, then press Done.")
            return tr("Press a button, or write your own answer.") if question.allows_free_text else ""


def _lines(card: Composer, lines: Sequence[StyledText | str]) -> None:
    for line in lines:
        card.line()
        if isinstance(line, StyledText):
            card.extend(line)
        else:
            card.text(keep_ends(_one_line(line), CLOSED_SUBJECT))


def _with_hint(card: Composer, hint: str, detail: str) -> Part:
    if hint:
        card.line().text(keep_head(hint, 1_000))
    if detail.strip():
        with card.quote(expandable=True):
            card.code(keep_ends(detail.strip(), DETAIL_UNITS))
    return card.part()


def _usage_facts(usage: Usage) -> list[str]:
    facts = []
    if usage.input_tokens is not None and usage.output_tokens is not None:
        facts.append(
            tr("tokens {read} in, {written} out", read=_count(usage.input_tokens), written=_count(usage.output_tokens))
        )
    if usage.cost_usd is not None:
        facts.append(f"${usage.cost_usd:.2f}")
    if usage.context_used is not None and usage.context_window:
        share = round(100 * usage.context_used / usage.context_window)
        facts += [tr("context {share}\u00a0%", share=share)] if share else []
    return facts


def _count(number: int) -> str:
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def _one_line(text: str) -> str:
    return " ".join(text.split())
