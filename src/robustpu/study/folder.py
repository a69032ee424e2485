"""Studies <-> model folders: the model, the vectorizer, the findings and the page."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from robustpu.page import render
from robustpu.persist import ModelFolderError, load, read_extra, save
from robustpu.study.findings import SCHEMA
from robustpu.study.seen import Seen
from robustpu.study.soundness import fault
from robustpu.study.study import Study
from robustpu.tables import TableError, Vectorizer

PAGE: Final = "report.html"
PARTS: Final = frozenset({"vectorizer", "findings", "background", "seen"})


def save_study(study: Study, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a model folder with all of a study in it, at once or not at all.

    Parameters
    ----------
    study
        What to write.
    path
        The folder.
    overwrite
        Whether to replace a model that is there.
    """
    extra = {
        "vectorizer": study.vectorizer.state(),
        "findings": study.findings,
        "background": study.background,
        "seen": {"prints": study.seen.prints, "answers": study.seen.answers},
    }
    page = {PAGE: render(study.findings)}
    save(study.model, path, overwrite=overwrite, extra=extra, attachments=page)


def open_study(path: str | os.PathLike[str]) -> Study:
    """Read a model folder that :meth:`Study.save` or ``robustpu fit`` wrote.

    Parameters
    ----------
    path
        The folder. All of it is checked, and nothing in it is run.

    Raises
    ------
    ModelFolderError
        It is no model folder, it is damaged, or its model was not fitted on a table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from robustpu.study import fit_table, open_study
    >>> frame = {"x": [own**0.5 for own in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     study.save(f"{folder}/model")
    ...     again = open_study(f"{folder}/model")
    >>> bool((again.score(frame) == study.score(frame)).all())
    True
    """
    model = load(path)
    with damage_told(path):
        vectorizer, findings, background, seen = _parts(path, read_extra(path))
        width = len(vectorizer.feature_names_out_)
        if int(model.n_features_in_) != width or background.shape[1:] != (width,):
            raise ModelFolderError(
                f"{path}: the model takes {model.n_features_in_} features, and its columns make "
                f"{width}: they do not belong together. Fit it again."
            )
        return Study(model, vectorizer, findings, background, seen)


def _parts(
    path: str | os.PathLike[str], extra: Any
) -> tuple[Vectorizer, dict[str, Any], Any, Seen]:
    if not isinstance(extra, dict) or not extra.keys() >= PARTS:
        raise ModelFolderError(
            f"{path}: its model was not fitted on a table by `robustpu fit`, so it is not known "
            "how tables become its rows. Load it with robustpu.load and give it numbers."
        )
    findings = extra["findings"]
    if not isinstance(findings, dict) or findings.get("schema") != SCHEMA:
        raise ModelFolderError(
            f"{path}: its findings are not of schema {SCHEMA}: install a newer version of robustpu."
        )
    check_findings(path, findings)
    background = extra["background"]
    if (
        not isinstance(background, np.ndarray)
        or background.ndim != 2
        or background.dtype != np.float32
        or not len(background)
        or not np.isfinite(background).all()
    ):
        raise ModelFolderError(f"{path}: its background rows are damaged. Fit it again.")
    seen = _seen(extra["seen"])
    if seen is None:
        raise ModelFolderError(f"{path}: its list of training rows is damaged. Fit it again.")
    return Vectorizer.from_state(extra["vectorizer"]), findings, background, seen


def _seen(stored: Any) -> Seen | None:
    """The training rows, if they are sound."""
    if not isinstance(stored, dict):
        return None
    prints, answers = stored.get("prints"), stored.get("answers")
    if not isinstance(prints, np.ndarray) or not isinstance(answers, np.ndarray):
        return None
    is_sound = (
        (prints.dtype, answers.dtype) == (np.uint64, np.float64)
        and prints.shape == answers.shape == (prints.size,)
        and prints.size > 0
        and bool((prints[1:] > prints[:-1]).all())
        and bool(((answers >= 0) & (answers <= 1)).all())
    )
    return Seen(prints, answers) if is_sound else None


def check_findings(path: str | os.PathLike[str], findings: dict[str, Any]) -> None:
    """Refuse findings that are not what a fit writes: types, ranges, counts.

    Parameters
    ----------
    path
        Of the folder, for the message.
    findings
        What it holds.

    Raises
    ------
    ModelFolderError
        Something is wrong with them.
    """
    found = fault(findings)
    if found is not None:
        raise ModelFolderError(f"{path}: its findings are damaged: {found[1:]}. Fit it again.")


@contextmanager
def damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong with the contents of a folder into an error that names it.

    Parameters
    ----------
    path
        Of the folder.
    """
    try:
        yield
    except ModelFolderError:
        raise
    except (
        *(TableError, KeyError, IndexError, TypeError, ValueError),
        *(AttributeError, ArithmeticError, RecursionError, MemoryError),
    ) as error:
        raise ModelFolderError(
            f"{path}: what was stored with the model is damaged: {error!r:.200}. Fit it again."
        ) from error
