"""One HTML file that needs nothing else: no network, no other file."""

import base64
import hashlib
from html import escape


def document(title: str, style: str, inside: str, script: str) -> str:
    """Write a whole document, in which only this style and this script are allowed.

    Parameters
    ----------
    title
        A text.
    style, script
        Files of ours, as they are.
    inside
        Markup of the body.

    Examples
    --------
    >>> document("a < b", "", "<p>c</p>", "").count("sha256-")
    2
    """
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n"
        f"<body>{inside}<script>{script}</script></body></html>\n"
    )


def _digest(content: str) -> str:
    """What the policy knows a style or a script by."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
