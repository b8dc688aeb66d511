"""The cards of the desk with their buttons. Pure; the drawing is done by ``bridge.cards``.

callback_data is ``<verb>:<answer>:<token>``: labels and names never enter it. An open request shows all there is to
know; a closed one has its verdict first, for good, and can be drawn from its stored row alone.
"""

from __future__ import annotations

from agents.contract import AskId, PermissionRequest, Question, QuestionKind
from bridge.cards import notice, permission_card, question_card
from bridge.markdown import Composer, Part, keep_ends, keep_head
from bridge.messenger import Button, Keyboard
from bridge.pending import wording
from bridge.pending.questionnaire import NO, YES, Questionnaire
from bridge.pending.records import AskKind
from bridge.pending.registry import LiveAsk
from bridge.pending.rows import PastAsk
from bridge.texts import tr
from bridge.unseen import reveal

ASK, QUESTION, LIST, RULE = "ask", "q", "asks", "rule"
LABEL_LIMIT = 40
"""UTF-16 units of a button's label that phones still show; the whole label stands in the text."""
HEAD_SUBJECT = 120
BODY_LIMIT = 1500

__all__ = ["closed_card", "notice", "open_card"]


def data_of(verb: str, answer: str, token: str) -> str:
    """callback_data; at most 64 bytes as long as tokens are (Bot API)."""
    return f"{verb}:{answer}:{token}"


# --- open ----------------------------------------------------------------------------------------------------------


def open_card(live: LiveAsk, *, is_locked: bool) -> Part:
    """The whole card of a request that waits for a person."""
    if live.questionnaire is not None:
        return open_question(live.questionnaire)
    assert isinstance(live.ask, PermissionRequest)  # noqa: S101 - only questions have no such request
    ask = live.ask
    marks = [wording.really_run(reasons_of(live)) if live.is_armed else wording.risk_mark(live.assessment)]
    if is_locked:
        marks.append(wording.locked_mark())
    return permission_card(
        ask,
        folder=live.origin.cwd,
        folder_note="" if ask.cwd == live.origin.cwd else str(ask.cwd),
        risk=" · ".join(mark for mark in marks if mark),
    )


def open_question(form: Questionnaire) -> Part:
    """The question to answer now; former answers stand in its choices' place once given."""
    question = form.current
    if question is None:
        return Part("", "")
    chosen = [question.choices[option].label for option in sorted(form.picked)]
    return question_card(question, number=form.index + 1, total=len(form.questions), chosen=chosen)


def reasons_of(live: LiveAsk) -> str:
    """Why the policy thinks what it thinks, in a few words."""
    if live.assessment is None:
        return ""
    return "; ".join(live.assessment.reasons) or live.assessment.label


# --- closed --------------------------------------------------------------------------------------------------------


def closed_card(ask: LiveAsk | PastAsk) -> Part:
    """The whole card of a request that is not open any more."""
    line = wording.verdict_line(ask)
    if isinstance(ask, PastAsk):
        return closed_past(ask, line)
    if ask.questionnaire is not None:
        return closed_question(ask.title, line, ask.questionnaire)
    assert isinstance(ask.ask, PermissionRequest)  # noqa: S101 - only questions have no such request
    return permission_card(ask.ask, folder=ask.origin.cwd, verdict=line)


def closed_past(ask: PastAsk, line: str) -> Part:
    """From the stored row alone."""
    if ask.kind is AskKind.QUESTION:
        return closed_question(ask.title, line, None)
    request = PermissionRequest(
        id=AskId(ask.token),
        tool=ask.tool,
        kind=ask.tool_kind,
        title=ask.title,
        subject=ask.subject,
        cwd=ask.cwd,
        sub_agent=ask.sub_agent,
    )
    return permission_card(request, verdict=line)


def closed_question(title: str, line: str, form: Questionnaire | None) -> Part:
    """The verdict, then what was asked with what was answered."""
    card = Composer().bold(keep_head(line, BODY_LIMIT))
    answered = form.given() if form else ()
    if not answered:
        card.line().text("❓ ").text(keep_head(title, BODY_LIMIT))
    for question, values in answered:
        card.line().text("❓ ").text(keep_head(question.header or question.text, 300))
        card.line().text("→ ").bold(keep_head(", ".join(values) or tr("skipped"), 300))
    return card.part()


def answered_head(live: LiveAsk) -> Part:
    """The short form of a decided card, to be followed by the turn's live status."""
    title = " ".join(reveal(live.shown_subject or live.title).split())
    return Composer().bold(wording.verdict_line(live)).line().code(keep_ends(title, HEAD_SUBJECT)).part()


def moved_card(live: LiveAsk) -> Part:
    """An older card of a request that was shown again further down."""
    return notice(wording.asked_again(), hint=wording.first_line(reveal(live.shown_subject or live.title)))


# --- buttons -------------------------------------------------------------------------------------------------------


def permission_keyboard(live: LiveAsk, *, offers_session: bool) -> Keyboard:
    """Allow and Deny, or the second step."""
    token = live.token
    deny = Button(tr("⛔ Deny"), data_of(ASK, "deny", token))
    if live.kind is AskKind.PLAN:
        return ((Button(tr("✅ Approve"), data_of(ASK, "allow", token)), Button(tr("📝 Keep planning"), deny.data)),)
    if live.is_armed:
        really, back = data_of(ASK, "really", token), data_of(ASK, "back", token)
        return ((Button(tr("🔥 Really run"), really), deny), (Button(tr("Back"), back),))
    rows: Keyboard = ((Button(tr("✅ Allow"), data_of(ASK, "allow", token)), deny),)
    if offers_session and not live.needs_second_step:
        rows = (*rows, (Button(tr("✅ Allow for this session"), data_of(ASK, "session", token)),))
    return rows


def question_keyboard(live: LiveAsk) -> Keyboard:
    """Options of the current question, then Done, Skip or Decline."""
    form = live.questionnaire
    question = form.current if form else None
    if form is None or question is None:
        return ()
    number, token = form.index, live.token

    def answer(label: str, value: str) -> Button:
        return Button(label, data_of(QUESTION, f"{number}.{value}", token))

    rows: list[tuple[Button, ...]] = []
    if question.kind is QuestionKind.CHOICE:
        labels = [option_label(question, option, form.picked) for option in range(len(question.choices))]
        rows += [(answer(label, str(option)),) for option, label in enumerate(labels)]
        if question.is_multiple:
            rows.append((answer(tr("Done"), "done"),))
    elif question.kind is QuestionKind.CONFIRM:
        rows.append((answer(tr("Yes"), YES), answer(tr("No"), NO)))
    elif question.kind is QuestionKind.LINK:
        rows += link_rows(question, answer(tr("Done"), YES))
    if question.is_required:
        rows.append((Button(tr("Decline"), data_of(QUESTION, "decline", token)),))
    else:
        rows.append((answer(tr("Skip"), "skip"),))
    return tuple(rows)


def link_rows(question: Question, done: Button) -> list[tuple[Button, ...]]:
    """A button that opens the page where Telegram takes the address; the text shows it in any case."""
    if question.link.startswith(("https://", "http://")) and "." in question.link:
        return [(Button(tr("Open the page"), url=question.link),), (done,)]
    return [(done,)]


def option_label(question: Question, option: int, picked: set[int]) -> str:
    """The number and as much of the label as a phone shows."""
    label = keep_ends(" ".join(question.choices[option].label.split()), LABEL_LIMIT)
    mark = ("☑️ " if option in picked else "⬜ ") if question.is_multiple else ""
    return f"{mark}{option + 1}. {label}"
