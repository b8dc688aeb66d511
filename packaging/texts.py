"""Collects what people read from the code, brings the catalogues up to date and compiles them (needs Babel).

python packaging/texts.py            update resources/locale/*/LC_MESSAGES/agent-hub.po and .mo
python packaging/texts.py --missing  print the English sentences that have no Russian yet
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
LOCALES = ROOT / "resources" / "locale"
PACKAGES = ("app", "agents", "bridge")
KEYWORDS = {"tr": None, "trn": (1, 2), "mark": None, "sentence": None}
TRANSLATED = ("ru",)


def collect() -> Catalog:
    """Every sentence of the code with its files (no line numbers: they would change with every edit)."""
    catalog = Catalog(domain="agent-hub", project="agent-hub", charset="utf-8")
    for package in PACKAGES:
        found = extract_from_dir(str(ROOT / package), method_map=[("**.py", "python")], keywords=KEYWORDS)
        for file, _line, message, comments, context in found:
            if not any(letter.isalpha() for letter in str(message)):
                continue  # an f-string that Babel takes for a call
            place = f"{package}/{Path(file).as_posix()}"
            catalog.add(message, None, [(place, None)], context=context, auto_comments=comments)
    for sentence in settings_texts():
        catalog.add(sentence, None, [("app/settings.py", None)])
    return catalog


def settings_texts() -> list[str]:
    """What the settings page shows: it takes its sentences from the model, so no call of ``tr`` names them."""
    sys.path.insert(0, str(ROOT))
    from app.settings_fields import fields

    known = fields()
    return [
        *(field.description for field in known),
        *sorted({field.name.split(".")[0].capitalize() for field in known}),
        *sorted({field.label for field in known}),
        *sorted({word for field in known for word in field.choices if word and field.name != "hub.language"}),
    ]


def po_file(language: str) -> Path:
    return LOCALES / language / "LC_MESSAGES" / "agent-hub.po"


def load(language: str) -> Catalog:
    """The catalogue of a language as it stands in the repository, or an empty one."""
    file = po_file(language)
    if not file.exists():
        return Catalog(locale=language, domain="agent-hub", project="agent-hub", charset="utf-8")
    with file.open("rb") as handle:
        return read_po(handle, locale=language, domain="agent-hub")


def untranslated(language: str) -> list[str]:
    """English sentences of the code without a translation."""
    catalog = load(language)
    missing = []
    for message in collect():
        if not message.id:
            continue
        known = catalog.get(message.id)
        forms = known.string if known else ""
        if not forms or (isinstance(forms, tuple) and not all(forms)):
            missing.append(str(message.id[0] if isinstance(message.id, tuple) else message.id))
    return missing


def compiled(catalog: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def update(language: str) -> int:
    """Merge the code's sentences into the catalogue, write .po and .mo; returns how many are untranslated."""
    catalog = load(language)
    catalog.update(collect(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    file = po_file(language)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as handle:
        write_po(handle, catalog, sort_output=True, width=110, include_previous=False)
    file.with_suffix(".mo").write_bytes(compiled(load(language)))
    return len(untranslated(language))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true")
    args = parser.parse_args()
    for language in TRANSLATED:
        if args.missing:
            sys.stdout.write("\n".join(untranslated(language)) + "\n")
        else:
            sys.stdout.write(f"{language}: {update(language)} sentences without a translation\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
