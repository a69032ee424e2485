"""Make the bundled data sets from the two R data files that Debian ships.

The files are ``data/spam.rda`` of ``r-cran-kernlab`` and ``data/Shuttle.rda`` of
``r-cran-mlbench``::

    apt-get download r-cran-kernlab r-cran-mlbench
    dpkg -x r-cran-kernlab_*.deb unpacked
    dpkg -x r-cran-mlbench_*.deb unpacked
    pip install rdata
    python tools/bundle_datasets.py unpacked/usr/lib/R/site-library/kernlab/data/spam.rda \
        unpacked/usr/lib/R/site-library/mlbench/data/Shuttle.rda

Writes ``spambase.csv.xz`` and ``shuttle.csv.xz`` to ``src/robustpu/datasets/bundled`` and prints
their SHA-256, which ``src/robustpu/datasets/uci.py`` holds. Rows keep their order, numbers have
no more digits than they need, lines end in LF: the text is the same on every machine, and the
compressed bytes are the same for a given release of liblzma.
"""

import argparse
import hashlib
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import rdata
from numpy.typing import NDArray

BUNDLED = Path(__file__).parents[1] / "src" / "robustpu" / "datasets" / "bundled"

# kernlab renames UCI's columns; words have their own name, or "num" and a name that has a digit.
SPAM_RENAMED = {
    "charSemicolon": "char_freq_;",
    "charRoundbracket": "char_freq_(",
    "charSquarebracket": "char_freq_[",
    "charExclamation": "char_freq_!",
    "charDollar": "char_freq_$",
    "charHash": "char_freq_#",
    "capitalAve": "capital_run_length_average",
    "capitalLong": "capital_run_length_longest",
    "capitalTotal": "capital_run_length_total",
}

# In UCI's order: the first is class 1.
SHUTTLE_CLASSES = [
    "Rad.Flow",
    "Fpv.Close",
    "Fpv.Open",
    "High",
    "Bypass",
    "Bpv.Close",
    "Bpv.Open",
]


def main() -> None:
    """Read the two files named on the command line and write the two bundled ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spam", type=Path, help="data/spam.rda of r-cran-kernlab")
    parser.add_argument("shuttle", type=Path, help="data/Shuttle.rda of r-cran-mlbench")
    parser.add_argument("--out", type=Path, default=BUNDLED, help="folder to write to")
    args = parser.parse_args()
    write(args.out / "spambase.csv.xz", *spambase(read_frame(args.spam, "spam")))
    write(args.out / "shuttle.csv.xz", *shuttle(read_frame(args.shuttle, "Shuttle")))


def read_frame(path: Path, name: str) -> Any:
    """Return the data frame ``name`` of an R data file."""
    return rdata.read_rda(path, default_encoding="ascii")[name]


def spambase(frame: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Return UCI's column names and the table (4601, 58), whose last column is 1 for spam."""
    *features, _ = frame.columns
    names = [
        SPAM_RENAMED.get(name, f"word_freq_{str(name).removeprefix('num')}") for name in features
    ]
    is_spam = (frame["type"] == "spam").to_numpy()
    return [*names, "spam"], np.column_stack([frame[features].to_numpy(), is_spam])


def shuttle(frame: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Return the column names and the table (58000, 10), whose last column is the class 1 to 7."""
    *features, _ = frame.columns
    names = ["time", *(f"attribute_{number}" for number in range(2, len(features) + 1))]
    classes = [SHUTTLE_CLASSES.index(value) + 1 for value in frame["Class"]]
    return [*names, "class"], np.column_stack([frame[features].to_numpy(), classes])


def write(path: Path, names: list[str], table: NDArray[np.float64]) -> None:
    """Write a header and a table as compressed CSV, and print the sum of what was written."""
    lines = [",".join(names), *(format_row(row) for row in table)]
    packed = lzma.compress(
        "".join(f"{line}\n" for line in lines).encode("ascii"), preset=9 | lzma.PRESET_EXTREME
    )
    path.write_bytes(packed)
    print(f"{hashlib.sha256(packed).hexdigest()}  {path.name}  {len(packed)} bytes")


def format_row(row: Iterable[float]) -> str:
    """Return numbers joined by commas, each in the fewest digits that read back the same."""
    return ",".join(np.format_float_positional(value, trim="-") for value in row)


if __name__ == "__main__":
    main()
