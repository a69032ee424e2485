"""The table of sources holds together."""

import re
from urllib.parse import urlparse

import pytest

from robustpu.datasets.catalogue import SOURCES, find

FETCHABLE = [source for source in SOURCES.values() if source.downloads]


def test_every_set_comes_from_somewhere():
    for name, source in SOURCES.items():
        assert source.name == name
        ways = [bool(source.bundled), bool(source.downloads), bool(source.manual)]
        assert sum(ways) == 1
        assert bool(source.folder) == bool(source.files or source.pictures)


@pytest.mark.parametrize("source", FETCHABLE, ids=lambda source: source.name)
def test_downloads_give_every_file(source):
    assert {file for offer in source.downloads for file in offer.gives} == set(source.files)
    for offer in source.downloads:
        assert all(urlparse(url).scheme in ("http", "https") for url in offer.urls)
        assert all(url.endswith("/" + offer.whole.path) for url in offer.urls)


def test_checksums_are_well_formed():
    files = {file for source in SOURCES.values() for file in source.files}
    files |= {offer.whole for source in SOURCES.values() for offer in source.downloads}
    assert all(re.fullmatch("md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", f.checksum) for f in files)
    assert len({file.checksum for file in files}) == len(files)
    assert all(file.size > 0 for file in files)


def test_find_suggests():
    assert find("mnist") is SOURCES["mnist"]
    with pytest.raises(ValueError, match="did you mean 'fashion-mnist'"):
        find("fashion_mnist")
    with pytest.raises(ValueError, match=r"unknown data set 'zzz'\. Give one of alzheimer"):
        find("zzz")
