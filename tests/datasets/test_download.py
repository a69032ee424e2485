"""One file over a real line that breaks, lies and dawdles."""

import hashlib

import pytest

from robustpu.datasets import download as module
from robustpu.datasets.download import DownloadError, download
from robustpu.datasets.sources import Download, File

CONTENT = bytes(range(256)) * 2000
FILE = File("thing.bin", len(CONTENT), "md5:" + hashlib.md5(CONTENT).hexdigest())


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0)


@pytest.fixture
def part(tmp_path):
    return tmp_path / "thing.bin.part"


def fetch(part, *urls, report=lambda *_: None):
    download(Download(tuple(f"{url}/thing.bin" for url in urls), FILE, (FILE,)), part, report)


def test_brings_the_file_and_reports(shop, part):
    shop.goods["thing.bin"] = CONTENT
    reports = []
    fetch(part, shop.url, report=lambda *report: reports.append(report))
    assert part.read_bytes() == CONTENT
    assert reports[-1] == ("thing.bin", len(CONTENT), len(CONTENT))
    done = [report[1] for report in reports]
    assert done == sorted(done)
    assert done[0] > 0


def test_goes_on_where_the_line_broke(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.whims = [("cut", 100_000), ("cut", 50_000)]
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked, _ in shop.log] == [None, "bytes=100000-", "bytes=150000-"]
    assert sum(sent for *_, sent in shop.log) == len(CONTENT)


def test_a_line_that_breaks_often_but_brings_something_is_borne(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.whims = [("cut", 30_000)] * 10
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT


def test_another_part_than_was_asked_for_is_refused(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.whims = [("shifted", 7)]
    part.write_bytes(CONTENT[:300_000])
    with pytest.raises(DownloadError, match="another part of the file than was asked for"):
        fetch(part, shop.url)
    assert part.read_bytes() == CONTENT[:300_000]


def test_goes_on_from_an_earlier_run(shop, part):
    shop.goods["thing.bin"] = CONTENT
    part.write_bytes(CONTENT[:300_000])
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    assert shop.log == [("thing.bin", "bytes=300000-", len(CONTENT) - 300_000)]


def test_a_file_that_is_all_here_is_not_brought_again(shop, part):
    part.write_bytes(CONTENT)
    fetch(part, shop.url)
    assert shop.log == []


def test_a_server_without_ranges_starts_again(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.ranges = False
    part.write_bytes(CONTENT[:300_000])
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    assert shop.log == [("thing.bin", "bytes=300000-", len(CONTENT))]


def test_a_server_that_never_gets_far_is_given_up(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.ranges = False
    shop.whims = [("cut", 1000)] * 99
    with pytest.raises(DownloadError, match=r"broke after 1,000 of 512,000 bytes.*run the same"):
        fetch(part, shop.url)
    assert len(shop.log) == 1 + module.TRIES
    assert part.read_bytes() == CONTENT[:1000]


def test_a_length_that_nobody_says(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.says_length = False
    shop.whims = [("cut", 100_000)]
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    shop.goods["thing.bin"] = CONTENT + b"more"
    part.unlink()
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT


WRONG = [b"\1" + CONTENT[1:], CONTENT[:-1], b"", b"<p>"]


@pytest.mark.parametrize(
    ("damage", "says_length"),
    [*((wrong, says) for wrong in WRONG for says in (True, False)), (CONTENT + b"!", True)],
)
def test_another_file_is_refused_and_the_next_address_tried(damage, says_length, shop, part):
    shop.goods["bad/thing.bin"] = damage
    shop.goods["good/thing.bin"] = CONTENT
    shop.says_length = says_length
    with pytest.raises(DownloadError, match=r"bad/thing\.bin: (what came has another|it has|the )"):
        fetch(part, f"{shop.url}/bad")
    part.unlink(missing_ok=True)
    fetch(part, f"{shop.url}/bad", f"{shop.url}/good")
    assert part.read_bytes() == CONTENT


def test_a_wrong_beginning_is_thrown_away(shop, part):
    shop.goods["thing.bin"] = CONTENT
    part.write_bytes(b"x" * 300_000)
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked, _ in shop.log] == ["bytes=300000-", None]


def test_a_beginning_that_is_too_long_is_thrown_away(shop, part):
    shop.goods["thing.bin"] = CONTENT
    part.write_bytes(b"x" * (len(CONTENT) + 1))
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT


def test_a_rest_that_the_server_does_not_have(shop, part):
    shop.goods["thing.bin"] = CONTENT[:1000]
    part.write_bytes(CONTENT[:2000])
    with pytest.raises(DownloadError, match="it has 1,000 bytes there, not 512,000"):
        fetch(part, shop.url)
    assert not part.exists()


def test_what_is_not_there_is_not_asked_for_twice(shop, part):
    with pytest.raises(DownloadError, match=r"thing.bin did not come; .*the server answers 404"):
        fetch(part, f"{shop.url}/one", f"{shop.url}/two")
    assert [path for path, *_ in shop.log] == ["one/thing.bin", "two/thing.bin"]
    assert not part.exists()


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_in_trouble_is_asked_again(status, shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.whims = [("status", status)] * 2
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT
    shop.whims = [("status", status)] * 99
    part.unlink()
    with pytest.raises(DownloadError, match=str(status)):
        fetch(part, shop.url)


def test_a_silent_server_is_given_up(shop, part, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", 0.05)
    shop.goods["thing.bin"] = CONTENT
    shop.delay = 0.3
    with pytest.raises(DownloadError, match="timed out"):
        fetch(part, shop.url)


def test_a_slow_server_is_waited_for(shop, part):
    shop.goods["thing.bin"] = CONTENT
    shop.delay = 0.02
    fetch(part, shop.url)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://[bad", "ftp2://x", "nonsense"])
def test_an_address_that_is_none(url, part):
    with pytest.raises(DownloadError, match=r"thing\.bin did not come"):
        fetch(part, url)
