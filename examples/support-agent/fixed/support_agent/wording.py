"""Sentences of the recovery flow, by language."""

from __future__ import annotations

from datetime import datetime

TEXTS = {
    "en": {
        "handoff": "A colleague from account recovery is taking over now; please stay in this chat.",
        "schedule_callback": "Our recovery desk is closed. A colleague will call you on {day}/{month} from {time}.",
        "not_arranged": "I could not arrange help just now, so nothing is booked. Please write to us again later.",
    },
    "de": {
        "handoff": "Eine Kollegin aus der Kontowiederherstellung übernimmt jetzt; bitte bleiben Sie im Chat.",
        "schedule_callback": "Dafür ist gerade niemand da. Wir rufen Sie am {day}.{month}. ab {time} Uhr an.",
        "not_arranged": "Das hat nicht geklappt, es ist nichts vereinbart. Bitte schreiben Sie später noch einmal.",
    },
}


def say(locale: str | None, name: str, at: datetime | None = None) -> str:
    texts = TEXTS.get((locale or "en").split("-")[0], TEXTS["en"])
    if at is None:
        return texts[name]
    return texts[name].format(day=at.day, month=at.month, time=at.strftime("%H:%M"))
