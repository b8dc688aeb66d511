"""What the demo agent says, in English and Russian, and the words in a prompt by which it chooses what to do. Pure.

It answers in the language of the prompt, as a model would; these are not the hub's own texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)


def is_russian(prompt: str) -> bool:
    """Whether to answer in Russian."""
    return bool(_CYRILLIC.search(prompt))


@dataclass(frozen=True, slots=True)
class Words:
    """Beginnings of words; one of them in the prompt chooses the scene."""

    scene: str
    beginnings: tuple[str, ...]


SCENES: tuple[Words, ...] = (
    Words("crash", ("crash", "упади", "сломай")),
    Words("silence", ("silen", "молчи", "молчан")),
    Words("flood", ("flood", "затопи", "поток")),
    Words("garbage", ("garbage", "мусор")),
    Words("huge", ("huge", "3 mb", "огромн")),
    Words("unknown", ("unknown", "неизвестн")),
    Words("failure", ("fail", "quota", "ошибк", "сбой")),
    Words("background", ("background", "фон")),
    Words("slow", ("slow", "медлен")),
    Words("memory", ("before", "remember", "раньше", "помнишь", "говорил")),
    Words("two", ("two command", "две команды")),
    Words("run", ("run", "command", "shell", "команд", "запусти", "выполни")),
    Words("edit", ("edit", "note", "change", "измени", "правк", "заметк")),
    Words("form", ("form", "questions", "анкет", "вопросы", "три вопроса")),
    Words("ask", ("ask", "question", "choose", "спроси", "вопрос", "выбор")),
    Words("send", ("file", "report", "send me", "файл", "отчёт", "отчет", "пришли")),
    Words("plan", ("plan", "план")),
    Words("think", ("think", "подума", "мысл")),
    Words("picture", ("markdown", "table", "heading", "таблиц", "разметк", "формат")),
    Words("echo", ("echo", "say", "скажи", "повтори")),
)


def scene_of(prompt: str) -> str:
    """The scene that a prompt chooses, "tour" when none of the words is in it. The part in back quotes is no word."""
    low = re.sub(r"`[^`]*`", " ", prompt.lower())
    for words in SCENES:
        if any(re.search(rf"(?<!\w){re.escape(one)}", low) for one in words.beginnings):
            return words.scene
    return "tour"


def quoted(prompt: str) -> str:
    """What stands in back quotes, empty when nothing does."""
    found = re.search(r"`([^`]+)`", prompt)
    return found.group(1).strip() if found else ""


TOUR = {
    False: """## Hello, I am the demo agent

I am a small program on your computer. There is no model behind me and I use no network, so you can try \
everything here without an account. Write one of these words:

| Word | What happens |
|---|---|
| **run** | I ask, then run a harmless command |
| **edit** | I ask, then change a note and show the difference |
| **ask** | I ask you a question with choices |
| **form** | Three questions at once: one choice, several, your own words |
| **file** | I make a report and send it to you |
| **plan** | I work through a plan |
| **table** | Headings, lists, a table and code |
| **think** | You see what I think |
| **slow** | A long answer: a good moment for /stop |
| **before** | What you told me earlier |

To see how trouble is handled: **silence**, **crash**, **fail**, **flood**, **garbage**, **huge**, **unknown**, \
**background**.

Your own command works too: run `date`. Nothing runs before you tap *Allow*.""",
    True: """## Привет, я демо-агент

Я маленькая программа на вашем компьютере. За мной нет модели, и сеть мне не нужна, поэтому здесь можно попробовать \
всё без учётной записи. Напишите одно из слов:

| Слово | Что будет |
|---|---|
| **команда** | Спрошу и выполню безобидную команду |
| **измени** | Спрошу, поправлю заметку и покажу разницу |
| **вопрос** | Задам вопрос с вариантами |
| **анкета** | Три вопроса сразу: один вариант, несколько, свои слова |
| **файл** | Составлю отчёт и пришлю его |
| **план** | Пройду по плану |
| **таблица** | Заголовки, списки, таблица и код |
| **подумай** | Покажу свои мысли |
| **медленно** | Длинный ответ: удобно попробовать /stop |
| **раньше** | Что вы мне говорили |

Как видны неполадки: **молчи**, **упади**, **ошибка**, **поток**, **мусор**, **огромное**, **неизвестное**, **фон**.

Можно и свою команду: выполни `date`. Без вашего «Разрешить» ничего не запускается.""",
}

PICTURE = {
    False: """# A short report

The folder looks healthy. Three things stand out:

1. **Tests** pass, the slowest takes *0.8 s*.
2. The file `settings.toml` has an unused key.
   - It is called `colour`.
   - Nothing reads it.
3. ~~The old script~~ is gone.

| Part | Files | State |
|:--|--:|:-:|
| core | 42 | ok |
| screens | 17 | ok |
| tests | 61 | slow |

```python
def greet(name: str) -> str:
    return f"Hello, {name}! 2 < 3 & 5 > 4"
```

> Everything here came from a script, not from a model.

More: [the protocol I speak](https://agentclientprotocol.com).""",
    True: """# Короткий отчёт

С папкой всё хорошо. Заметны три вещи:

1. **Тесты** проходят, самый долгий идёт *0,8 с*.
2. В файле `settings.toml` лишний ключ.
   - Он называется `colour`.
   - Его никто не читает.
3. ~~Старого скрипта~~ больше нет.

| Часть | Файлов | Состояние |
|:--|--:|:-:|
| ядро | 42 | ok |
| экраны | 17 | ok |
| тесты | 61 | медленно |

```python
def greet(name: str) -> str:
    return f"Привет, {name}! 2 < 3 & 5 > 4"
```

> Всё это написал сценарий, а не модель.

Подробнее: [протокол, на котором я говорю](https://agentclientprotocol.com).""",
}

LINES: dict[str, tuple[str, str]] = {
    "about_to_run": ("I would like to run a command.", "Хочу выполнить команду."),
    "ran": ("Done. The command ended with exit code {code}.", "Готово. Команда завершилась с кодом {code}."),
    "its_output": ("Its output:", "Её вывод:"),
    "not_run": (
        "You said no, so I did **not** run it. Tell me what to do instead.",
        "Вы отказали, поэтому я её **не** выполнял. Скажите, что сделать вместо этого.",
    ),
    "run_reason": ("to show how a command is asked for", "чтобы показать, как запрашивается команда"),
    "about_to_edit": ("I would like to add a line to `{name}`.", "Хочу добавить строку в `{name}`."),
    "edited": ("Done: `{name}` has a new line now.", "Готово: в `{name}` появилась новая строка."),
    "not_edited": ("You said no, so `{name}` stays as it was.", "Вы отказали, `{name}` остался прежним."),
    "note_head": ("# Notes\n", "# Заметки\n"),
    "note_line": ("- The demo agent was here, line {count}.\n", "- Здесь был демо-агент, строка {count}.\n"),
    "no_tools": (
        "I have no way to reach you for that here: the program that started me gave me no tools.",
        "Здесь я не могу этого сделать: программа, которая меня запустила, не дала мне инструментов.",
    ),
    "noted": (
        "Understood: “{reason}”. Nothing was changed. What should I do instead?",
        "Понял: «{reason}». Ничего не изменено. Что сделать вместо этого?",
    ),
    "asking_one": ("I need your choice.", "Мне нужен ваш выбор."),
    "asking": ("I have three questions.", "У меня три вопроса."),
    "answered": ("Thank you. This is what you said:", "Спасибо. Вот что вы ответили:"),
    "about_to_write": ("I will write a small report and send it.", "Составлю небольшой отчёт и пришлю его."),
    "sent": ("The file is on its way: {detail}", "Файл отправлен: {detail}"),
    "not_sent": ("The file could not be sent: {detail}", "Файл не отправлен: {detail}"),
    "planning": ("I work in three steps.", "Работаю в три шага."),
    "planned": ("All three steps are done.", "Все три шага сделаны."),
    "thought": (
        "The person wants to see a thought. It is not the answer; only those who ask for everything see it.",
        "Человек хочет увидеть мысль. Мысль — не ответ; её видят только те, кто просил показывать всё.",
    ),
    "thought_done": ("I thought about it, and the answer is 42.", "Я подумал, и ответ — 42."),
    "nothing_before": ("This is your first message here.", "Это ваше первое сообщение здесь."),
    "before": ("You told me:", "Вы говорили мне:"),
    "slow_start": ("I will count slowly; stop me with /stop.", "Считаю медленно; остановить можно командой /stop."),
    "silence": ("(I say nothing now. Stop me with /stop.)", "(Теперь я молчу. Остановить можно командой /stop.)"),
    "crash": ("I will crash now.", "Сейчас я аварийно завершусь."),
    "after_trouble": ("That was it, and I am still here.", "Вот и всё, и я всё ещё здесь."),
    "failure": ("demo: 429 rate limit, this is a failure on request", "demo: 429 rate limit, сбой по вашей просьбе"),
    "background": ("I will write again in a moment, by myself.", "Скоро я напишу сам, без вашего сообщения."),
    "background_done": ("Here I am again: the background task is done.", "Это снова я: фоновая задача закончена."),
    "forgotten": ("I have forgotten everything said here.", "Я забыл всё, что здесь было сказано."),
    "about": ("Demo agent {version}. No model, no network.", "Демо-агент {version}. Без модели и без сети."),
    "unknown_command": ("I have no command {name}.", "У меня нет команды {name}."),
}

QUESTION: dict[bool, list[dict[str, object]]] = {
    False: [
        {
            "question": "Which database should the project use?",
            "header": "Database",
            "options": [
                {"label": "SQLite", "description": "one file, nothing to install"},
                {"label": "PostgreSQL", "description": "a server, for many users"},
            ],
        }
    ],
    True: [
        {
            "question": "Какую базу данных взять для проекта?",
            "header": "База",
            "options": [
                {"label": "SQLite", "description": "один файл, ставить ничего не надо"},
                {"label": "PostgreSQL", "description": "сервер, для многих пользователей"},
            ],
        }
    ],
}
QUESTIONS: dict[bool, list[dict[str, object]]] = {
    False: [
        {
            "question": "Which colour should the button have?",
            "header": "Colour",
            "options": [
                {"label": "Green", "description": "calm"},
                {"label": "Red", "description": "loud"},
                {"label": "Blue", "description": "like everyone else"},
            ],
        },
        {
            "question": "What should I check?",
            "header": "Checks",
            "multiple": True,
            "options": [{"label": "Spelling"}, {"label": "Links"}, {"label": "Pictures"}],
        },
        {"question": "What should the page be called?", "header": "Title"},
    ],
    True: [
        {
            "question": "Какого цвета сделать кнопку?",
            "header": "Цвет",
            "options": [
                {"label": "Зелёная", "description": "спокойная"},
                {"label": "Красная", "description": "громкая"},
                {"label": "Синяя", "description": "как у всех"},
            ],
        },
        {
            "question": "Что проверить?",
            "header": "Проверки",
            "multiple": True,
            "options": [{"label": "Орфографию"}, {"label": "Ссылки"}, {"label": "Картинки"}],
        },
        {"question": "Как назвать страницу?", "header": "Название"},
    ],
}

STEPS = {
    False: ("Read the folder", "Count the files", "Write the summary"),
    True: ("Прочитать папку", "Сосчитать файлы", "Написать итог"),
}


def line(name: str, /, *, russian: bool, **values: object) -> str:
    """One sentence in the right language."""
    return LINES[name][russian].format(**values)
