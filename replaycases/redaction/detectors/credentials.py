"""Secrets that no issuer's format gives away: where they stand says what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from replaycases.fixture.patterns import compile_pattern
from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.detectors.fields import is_masked, is_secret
from replaycases.redaction.folding import encodable
from replaycases.redaction.places import Certainty
from replaycases.redaction.policy import folded_key

_NO_FIELD = r"(?!&[\w.-]{1,40}=)"
"""What no password is looked for behind: the next field of a form."""

_PATTERNS: tuple[tuple[str, str, Certainty], ...] = (
    ("bearer", r"(?i:\bbearer|\btoken)[ \t:=]{1,3}(?P<secret>[A-Za-z0-9._~+/-]{16,}={0,2})", "certain"),
    ("basic", r"(?i:\bbasic)[ \t]{1,3}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/=])", "certain"),
    ("cookie", r"(?i:\b(?:set-)?cookie)[\"']?[ \t]*:[ \t]*[\"']?(?P<secret>[^\r\n\"']{4,4000})", "certain"),
    (
        "url-user",
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<secret>[^\s/?#@\"'<>:]{0,200}:[^\s/?#@\"'<>]{1,200})@",
        "certain",
    ),
    (
        "connection-string",
        r"(?i:\b(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue))[ \t]*=[ \t]*"
        rf"(?P<secret>(?:{_NO_FIELD}[^;\s\"']){{4,300}})(?=[;&]|\s|[\"']|\Z)",
        "certain",
    ),
    (
        "signed-url",
        r"[?&](?i:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|access_token"
        r"|auth_token|id_token|refresh_token|token|key|api_?key|code|client_secret|password|secret)=(?P<secret>[^&#\s\"'<>]{6,4000})",
        "certain",
    ),
    (
        "header",
        r"(?i:\b(?:authorization|proxy-authorization|x-[a-z-]{0,30}(?:key|token|secret|auth)))[\"']?[ \t]*[:=]"
        r"[ \t]*[\"']?"
        r"(?P<secret>[^\s\"',;]{6,4000}(?:[ \t][^\s\"',;]{6,4000})?)",
        "certain",
    ),
    (
        "prose",
        r"(?i:\b(?:password|passwd|passphrase|passcode|pass word|pwd|pin(?: code)?|access code|security code"
        r"|secret(?: key)?|api key|one[- ]time code|verification code))[\"'`]?"
        r"(?i:[ \t]{1,3}(?:is|was|to|are|=|:)|[ \t]{0,2}[:=])"
        r"(?i:[ \t]{1,3}now)?[ \t]{0,3}"
        rf"[\"'`]?(?P<secret>(?:{_NO_FIELD}[^\s\"'`,;]){{0,60}}{_NO_FIELD}[0-9!@#$%^&*_+]"
        rf"(?:{_NO_FIELD}[^\s\"'`,;]){{0,60}})",
        "likely",
    ),
)
_COMPILED = tuple((name, re.compile(pattern), certainty) for name, pattern, certainty in _PATTERNS)
_MEMBER = re.compile(
    r"[\"'`](?P<key>[A-Za-z][\w. -]{1,40})[\"'`]\s{0,8}(?:=>|[:=])\s{0,8}"
    r"(?:\"(?P<double>(?:[^\"\\\r\n]|\\.){1,4000})(?:\"|\Z)|'(?P<single>(?:[^'\\\r\n]|\\.){1,4000})(?:'|\Z)"
    r"|(?P<number>[0-9]{4,20})(?![\w.]))"
)
"""A member as JSON, Python or JavaScript write it, in a text that is none of these as a whole."""

_SIGNS = compile_pattern(
    r"(?i:bearer|token|basic|cookie|://|pass|pwd|auth|otp|cvv|cvc|dsn|credential|connection|accountkey|sharedaccess|sharedsecret|sig|x-|authorization|key|code|pin"
    r"|secret)"
)
_PLACEHOLDER = re.compile(
    r"[\s*xX•.\-_]+|[<\[({$%].*[>\])}%]|\$[A-Za-z_]\w*"
    r"|(?i:null|none|true|false|undefined|required|redacted|optional|string)",
    re.DOTALL,
)


class Credentials:
    """Headers, cookies, user information and signatures in URLs, connection strings, passwords in a sentence, and in a
    text that holds data among other things the members that are named like a secret."""

    def hits(self, text: str, context: Context) -> Iterator[Hit]:
        """The secret part of every match: the name of the header, the user's key word and the host stay."""
        if not _SIGNS.search(encodable(text)):
            return
        for name, pattern, certainty in _COMPILED:
            for match in pattern.finditer(text):
                start, end = match.span("secret")
                end -= len(match["secret"]) - len(match["secret"].rstrip(".!?)]}"))
                if end <= start:
                    continue
                kept = "a placeholder" if _PLACEHOLDER.fullmatch(text[start:end]) else ""
                yield Hit(
                    kind="secret", detector=f"secret:{name}", start=start, end=end, certainty=certainty, kept=kept
                )
        yield from _members(text)


def _members(text: str) -> Iterator[Hit]:
    for match in _MEMBER.finditer(text):
        if is_secret(folded_key(match["key"])) and match.lastgroup is not None:
            start, end = match.span(match.lastgroup)
            is_none = _PLACEHOLDER.fullmatch(text[start:end]) or is_masked(text[start:end])
            yield Hit(
                kind="secret", detector="secret:member", start=start, end=end, kept="a placeholder" if is_none else ""
            )
