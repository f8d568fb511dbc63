"""The look of our pages: one style sheet inside each page, nothing loaded from elsewhere."""

from __future__ import annotations

import html

_CSS = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #ffffff; --soft: #5b6470; --line: #d9dde2;
  --link: #005a9c; --good: #00664a; --bad: #a33c00; --band: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #17191c; --soft: #a4adb8; --line: #3a4047;
  --link: #7cc0f2; --good: #5fd0a8; --bad: #ff9d66; --band: #20242a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .6rem 0; } h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; } p { margin: .5rem 0; max-width: 52rem; }
a { color: var(--link); } .meta, figcaption { color: var(--soft); font-size: .9rem; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
table { border: 0; border-collapse: collapse; font-size: .9rem; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; border: 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; } thead th { border-bottom: 2px solid var(--line); }
tr.differs td { background: var(--band); } .wide { overflow-x: auto; }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--link); }
.figures { columns: 20rem; column-gap: 1.2rem; margin: 1rem 0; }
figure { margin: 0 0 1.2rem; break-inside: avoid; }
figure img { width: 100%; height: auto; background: #fff; border: 1px solid var(--line); }
pre { background: var(--band); padding: .7rem; overflow-x: auto; font-size: .85rem; white-space: pre-wrap; }
.notebook img { max-width: 100%; height: auto; background: #fff; } .notebook svg { max-width: 100%; background: #fff; }
.notebook .prompt, .notebook .anchor-link { display: none; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
"""


def page(title: str, body: str) -> str:
    """Return a whole HTML page around `body`, which is HTML already; `title` is text."""
    return (
        '<!doctype html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
