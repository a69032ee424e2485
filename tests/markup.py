"""Reading HTML back."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "wbr"}


class Reader(HTMLParser):
    """Collects elements, and refuses a document whose tags do not match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.found, self.text, self.inline = [], [], [], {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.inline[self.open[-1]] = self.inline.get(self.open[-1], "") + data
        else:
            self.text.append(data)

    def all(self, tag, **wanted):
        return [a for t, a in self.found if t == tag and wanted.items() <= a.items()]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())
