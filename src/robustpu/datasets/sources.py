"""What the loaders and the fetcher know of a data set: its files and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class File:
    """An official file: its path below the folder of its set, bytes, and `"md5:..."`.

    The loader does without a file that is `optional`.
    """

    path: str
    size: int
    checksum: str
    optional: bool = False


@dataclass(frozen=True)
class Download:
    """What the net offers: `whole`, at each of `urls`, which is or holds the files `gives`."""

    urls: tuple[str, ...]
    whole: File
    gives: tuple[File, ...]


@dataclass(frozen=True)
class Source:
    """A data set.

    `shape` is that of a row. `classes` are the names of the negatives and of the positives.
    `folder` is below the data folder, and empty for a set without files. `pictures` are folders of
    pictures and how many are in each. `downloads` are tried one after another until no
    file is missing. `bundled` says what the set comes with, `manual` how to get it by hand.
    """

    name: str
    rows: int
    shape: tuple[int, ...]
    classes: tuple[str, str]
    positives: int
    licence: str
    folder: str = ""
    files: tuple[File, ...] = ()
    pictures: Mapping[str, int] = field(default_factory=dict)
    downloads: tuple[Download, ...] = ()
    bundled: str = ""
    manual: str = ""
