"""The errors that the paper prints: table -> method -> prior -> data set -> mean and deviation."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class MeanSD(NamedTuple):
    """Mean and standard deviation of test errors, in percent; NaN where there is none."""

    mean: float
    sd: float

    @property
    def low(self) -> float:
        """One standard deviation below the mean; a single trial has none."""
        return self.mean if math.isnan(self.sd) else self.mean - self.sd

    @property
    def high(self) -> float:
        """One standard deviation above the mean; a single trial has none."""
        return self.mean if math.isnan(self.sd) else self.mean + self.sd


@dataclass(frozen=True)
class Reference:
    """One table of the paper.

    Parameters
    ----------
    title
        What it compares.
    source
        Where it is printed.
    trials
        Trials behind each mean.
    errors
        Test errors in percent, by method, prior and data set.
    """

    title: str
    source: str
    trials: int
    errors: Mapping[str, Mapping[str, Mapping[str, MeanSD]]]

    def find(self, method: str, prior: float, dataset: str) -> MeanSD | None:
        """Look an error up.

        Parameters
        ----------
        method
            Key of the method, ``"robust-pu"``.
        prior
            Share of positives among the unlabelled rows.
        dataset
            Name of the data set; ``_`` and ``-`` are the same.

        Returns
        -------
        error
            None where the paper has none.

        Examples
        --------
        >>> references()["main"].find("robust-pu", 0.2, "cifar10")
        MeanSD(mean=7.58, sd=0.4)
        """
        by_dataset = self.errors.get(method, {}).get(f"{prior:g}", {})
        return by_dataset.get(dataset.replace("_", "-"))

    def datasets(self) -> list[str]:
        """List the data sets in the order of its columns.

        Examples
        --------
        >>> references()["main"].datasets()[:3]
        ['cifar10', 'stl10', 'mnist']
        """
        rows = (row for by_prior in self.errors.values() for row in by_prior.values())
        return list(dict.fromkeys(dataset for row in rows for dataset in row))


@cache
def references() -> Mapping[str, Reference]:
    """Read the tables of the paper.

    Returns
    -------
    references
        By name: ``"main"``, ``"alzheimer"``, ``"weighting"``, ``"pacing"``, ``"hardness"``.
    """
    text = files("robustpu.bench").joinpath("paper.json").read_text(encoding="utf-8")
    return {
        name: Reference(
            table["title"],
            table["source"],
            table["trials"],
            {
                method: {
                    prior: {dataset: MeanSD(*error) for dataset, error in row.items()}
                    for prior, row in by_prior.items()
                }
                for method, by_prior in table["errors"].items()
            },
        )
        for name, table in json.loads(text).items()
    }
