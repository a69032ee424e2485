"""Data folders for tests (none, tiny sets in official form, the real ones), and a web server."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from robustpu.datasets.catalogue import SOURCES

LayOut = Callable[[str, dict[str, bytes]], Path]


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    """Whatever this machine has, a test sees only what it lays out."""
    monkeypatch.setenv("ROBUSTPU_DATA", str(tmp_path / "nothing"))


@pytest.fixture
def lay_out(monkeypatch, tmp_path) -> LayOut:
    """Write files of a set, and make them the official ones; returns the data folder."""

    def write(name: str, contents: dict[str, bytes]) -> Path:
        source, root = SOURCES[name], tmp_path / "data"
        files = []
        for file in source.files:
            content = contents.get(file.path)
            if content is not None:
                path = root / source.folder / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                checksum = "md5:" + hashlib.md5(content).hexdigest()
                file = replace(file, size=len(content), checksum=checksum)
            files.append(file)
        monkeypatch.setitem(SOURCES, name, replace(source, files=tuple(files)))
        return root

    return write


@pytest.fixture
def real() -> Callable[[str], Path]:
    """The data folder that holds a real set; skips the test where there is none."""

    def find(name: str) -> Path:
        beside = Path(__file__).parents[3] / "shared" / "data"
        source = SOURCES[name]
        inside = [*source.pictures, *(file.path for file in source.files if not file.optional)]
        for root in (Path(os.environ.get("ROBUSTPU_TEST_DATA", beside)), beside):
            if all((root / source.folder / path).exists() for path in inside):
                return root
        pytest.skip(f"no real copy of {name}: set ROBUSTPU_TEST_DATA to a data folder")

    return find


@dataclass
class Shop:
    """A web server with whims."""

    url: str
    goods: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    says_length: bool = True
    # Answers that come first, one a request: a "status", how many bytes before the line is "cut",
    # or by how many bytes the part that was asked for is "shifted".
    whims: list[tuple[str, int]] = field(default_factory=list)
    # Seconds before each 64 KiB.
    delay: float = 0.0
    # (path, the Range that was asked for, bytes that were sent)
    log: list[tuple[str, str | None, int]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def do_GET(self) -> None:
        shop = self.server.shop
        whim, number = shop.whims.pop(0) if shop.whims else ("", 0)
        name, asked = self.path.lstrip("/"), self.headers["Range"]
        if whim == "status" or name not in shop.goods:
            shop.log.append((name, asked, 0))
            self.send_error(number or 404)
            return
        whole = shop.goods[name]
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and shop.ranges else 0
        if start >= len(whole) > 0:
            shop.log.append((name, asked, 0))
            self.send_error(416)
            return
        start += number if whim == "shifted" else 0
        body = whole[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
        if shop.says_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = body[:number] if whim == "cut" else body
        shop.log.append((name, asked, len(sent)))
        for place in range(0, len(sent), 1 << 16):
            time.sleep(shop.delay)
            self.wfile.write(sent[place : place + (1 << 16)])

    def log_message(self, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    shop: Shop

    def handle_error(self, *args: object) -> None:
        """A client that hangs up is part of the tests."""


@pytest.fixture
def shop() -> Iterator[Shop]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.shop = Shop(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.shop
        server.shutdown()
        thread.join()
