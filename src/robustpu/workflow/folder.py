"""Studies <-> model folders: the model, the vectorizer, the results and the page."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from robustpu.persist import ModelFolderError, load, read_extra, save
from robustpu.report import render
from robustpu.results import read_results
from robustpu.tables import TableError, Vectorizer
from robustpu.validation.schema import SchemaError
from robustpu.workflow.study import Study
from robustpu.workflow.training_rows import TrainingRows

PAGE: Final = "report.html"
PARTS: Final = frozenset({"vectorizer", "results", "background", "training_rows"})


def save_study(study: Study, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a model folder with all of a study in it, atomically.

    Parameters
    ----------
    study
        What to write.
    path
        The folder.
    overwrite
        Whether to replace a model that is there.
    """
    save(
        study.model,
        path,
        overwrite=overwrite,
        extra=stored_parts(study),
        attachments={PAGE: render(study.results)},
    )


def stored_parts(study: Study) -> dict[str, Any]:
    """What a folder keeps in addition to the model."""
    rows = study.training_rows
    return {
        "vectorizer": study.vectorizer.state(),
        "results": study.results.to_json(),
        "background": study.background,
        "training_rows": {
            "fingerprints": rows.fingerprints,
            "scores": rows.scores,
            "settled": rows.settled,
        },
    }


def open_study(path: str | os.PathLike[str]) -> Study:
    """Read a model folder that :meth:`Study.save` or ``robustpu fit`` wrote.

    Parameters
    ----------
    path
        The folder. All of it is checked, and nothing in it is run.

    Raises
    ------
    ModelFolderError
        It is not a model folder, it is damaged, or its model was not fitted on a table.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from robustpu.workflow import fit_table, open_study
    >>> frame = {"x": [row**0.5 for row in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     study.save(f"{folder}/model")
    ...     again = open_study(f"{folder}/model")
    >>> bool((again.score(frame) == study.score(frame)).all())
    True
    """
    model = load(path)
    with name_damage(path):
        study = _read_parts(path, model, read_extra(path))
        width = len(study.vectorizer.feature_names_out_)
        if int(model.n_features_in_) != width or study.background.shape[1:] != (width,):
            raise ModelFolderError(
                f"{path}: the model takes {model.n_features_in_} features, but its vectorizer "
                f"makes {width}. Fit it again."
            )
        return study


def _read_parts(path: str | os.PathLike[str], model: Any, extra: Any) -> Study:
    if isinstance(extra, dict) and "findings" in extra:
        raise ModelFolderError(
            f"{path}: an earlier version of robustpu wrote it. Fit it again; robustpu.load reads "
            "its model alone."
        )
    if not isinstance(extra, dict) or not extra.keys() >= PARTS:
        raise ModelFolderError(
            f"{path}: its model was not fitted on a table by `robustpu fit`, so it cannot read "
            "tables. Load it with robustpu.load and give it numbers."
        )
    background = extra["background"]
    if (
        not isinstance(background, np.ndarray)
        or background.ndim != 2
        or background.dtype != np.float32
        or not len(background)
        or not np.isfinite(background).all()
    ):
        raise ModelFolderError(f"{path}: its background rows are damaged. Fit it again.")
    rows = _read_training_rows(extra["training_rows"])
    if rows is None:
        raise ModelFolderError(f"{path}: its list of training rows is damaged. Fit it again.")
    try:
        results = read_results(extra["results"])
    except SchemaError as error:
        raise ModelFolderError(f"{path}: {error}") from error
    return Study(model, Vectorizer.from_state(extra["vectorizer"]), results, background, rows)


def _read_training_rows(stored: Any) -> TrainingRows | None:
    """The training rows, or None if they are damaged."""
    if not isinstance(stored, dict):
        return None
    prints, scores = stored.get("fingerprints"), stored.get("scores")
    if not isinstance(prints, np.ndarray) or not isinstance(scores, np.ndarray):
        return None
    settled = stored.get("settled", prints[:0])
    if not isinstance(settled, np.ndarray) or settled.dtype != np.uint64 or settled.ndim != 1:
        return None
    is_sound = (
        (prints.dtype, scores.dtype) == (np.uint64, np.float64)
        and prints.shape == scores.shape == (prints.size,)
        and prints.size > 0
        and bool((prints[1:] > prints[:-1]).all())
        and bool(((scores >= 0) & (scores <= 1)).all())
    )
    return TrainingRows(prints, scores, settled) if is_sound else None


@contextmanager
def name_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors in the contents of a folder into one that names the folder.

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
