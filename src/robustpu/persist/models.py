"""Models <-> folders."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from robustpu.base.classifier import BasePUClassifier
from robustpu.persist import arrays
from robustpu.persist.contents import FORMAT, SCHEMA, parse, read_contents, reading
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.objects import OTHERS, encode_other
from robustpu.persist.reading import (
    LONGEST,
    MODEL,
    MOST_ATTACHED,
    NAME,
    SUMS,
    Folder,
    sums_of,
)
from robustpu.persist.values import Decoder, Encoder, Json, refuse
from robustpu.persist.writing import check_target, write_folder
from robustpu.versions import versions

RESERVED: Final = {SUMS, MODEL, arrays.FILE}


def save(
    model: BasePUClassifier,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    extra: Any = None,
    attachments: Mapping[str, bytes | str] | None = None,
) -> None:
    """Write a fitted classifier to a folder: safetensors for arrays, JSON for the rest, no pickle.

    The folder is written completely or not at all. Your own functions, such as ``module=``, are not
    stored; give them to ``load`` again.

    Parameters
    ----------
    model
        A fitted classifier of this library.
    path
        The folder; folders above it are made.
    overwrite
        Whether to replace a model that is there.
    extra
        Something of yours to keep with it, for :func:`read_extra`: numbers, texts, lists, tuples,
        dictionaries and arrays.
    attachments
        Files to lie in the folder and to be checked with it: name -> content. They are never
        interpreted.

    Raises
    ------
    ModelFolderError
        Something in the model cannot be stored.
    FileExistsError
        There is something at ``path``, and ``overwrite`` is not given, or it is no model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from robustpu import PNClassifier, datasets, load, make_pu, save
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PNClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/spam")
    ...     again = load(f"{folder}/spam")
    >>> bool((again.predict_proba(pu.X_test) == model.predict_proba(pu.X_test)).all())
    True
    """
    if not isinstance(model, BasePUClassifier):
        raise TypeError(
            f"save takes a classifier of this library, not {type(model).__name__}. Of a pipeline "
            "or a search, save the classifier in it: pipeline[-1], search.best_estimator_."
        )
    check_is_fitted(model)
    check_target(Path(path), overwrite)
    files = _attached(attachments or {})
    encoder = Encoder(encode_other)
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "written_by": versions(),
        "files": {},
        "model": encoder.encode(model, "model"),
        "extra": Encoder(_only_plain, encoder.arrays).encode(extra, "extra"),
    }
    files[arrays.FILE] = arrays.to_bytes(encoder.arrays)
    content["files"] = {name: len(files[name]) for name in sorted(files)}
    files[MODEL] = (json.dumps(content, allow_nan=False, indent=1) + "\n").encode("ascii")
    for name in (MODEL, arrays.FILE):
        if len(files[name]) > LONGEST[name]:
            raise ModelFolderError(
                f"{name}: it would have {len(files[name])} bytes, more than {LONGEST[name]}."
            )
    # What could not be read again is better known now than when the model is gone.
    _decode(parse(files[MODEL]), arrays.from_bytes(files[arrays.FILE]), encoder.given)
    files[SUMS] = sums_of(files)
    write_folder(Path(path), files, overwrite)


def load(path: str | os.PathLike[str], /, **given: Any) -> Any:
    """Read a classifier from a folder, and run nothing that is in it.

    Only classes of this library and a few of scikit-learn's are made, all files are checked against
    their checksums, and all values against what they must be.

    Parameters
    ----------
    path
        The folder.
    given
        Functions of your own that the model was fitted with, by the names of the parameters:
        ``load(path, module=MyNetwork)``.

    Returns
    -------
    model
        The fitted classifier; it predicts as the saved one did.

    Raises
    ------
    ModelFolderError
        The folder is no model, was damaged, tampered with or written by a newer version; or
        something has to be given. The message names the file and the reason.
    """

    def read(folder: Folder) -> Any:
        contents = read_contents(folder)
        try:
            return _decode(contents.entries, contents.arrays, given)[0]
        except ModelFolderError as error:
            raise ModelFolderError(f"{error}{_other(contents.entries['written_by'])}") from error

    return reading(path, read)


def read_extra(path: str | os.PathLike[str]) -> Any:
    """Read what was given to ``save`` as ``extra``.

    Parameters
    ----------
    path
        The folder.
    """

    def read(folder: Folder) -> Any:
        contents = read_contents(folder)
        return Decoder(contents.arrays, {}, {}).decode(contents.entries["extra"], "extra")

    return reading(path, read)


def _decode(
    entries: dict[str, Json], stored: dict[str, NDArray[Any]], given: Mapping[str, Any]
) -> tuple[BasePUClassifier, Any]:
    """Make the model, and what was stored with it."""
    decoder = Decoder(stored, given, OTHERS)
    try:
        model = decoder.decode(entries["model"], "model")
    except ModelFolderError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Everything is checked before use; this is a safeguard.
        raise ModelFolderError(f"{MODEL}: unforeseen: {error!r}") from error
    if not isinstance(model, BasePUClassifier) or not hasattr(model, "threshold_"):
        refuse("model", "it is not a fitted classifier of this library.")
    # Nothing but plain values is made of what is no model.
    decoder.others = {}
    extra = decoder.decode(entries["extra"], "extra")
    if stored:
        name = sorted(stored)[0]
        raise ModelFolderError(f"{arrays.FILE}: {name[:99]!r} belongs to nothing in {MODEL}.")
    unused = sorted(given.keys() - decoder.used)
    if unused:
        raise TypeError(f"the model was not fitted with a function of yours as {unused[0]!r}.")
    return model, extra


def _other(written: Mapping[str, str]) -> str:
    """Name other versions that the folder was written by, a likely reason for an error."""
    here = versions()
    differ = [name for name in ("robustpu", "scikit-learn") if written.get(name) != here[name]]
    told = [f"{name} {str(written.get(name))[:40]}, here is {here[name]}" for name in differ]
    return f" It was written by {'; '.join(told)}." if told else ""


def _only_plain(encoder: Encoder, value: Any, path: str) -> Json:
    told = "take numbers, texts, lists, tuples, dictionaries and arrays of them"
    refuse(path, f"{type(value).__name__} cannot be stored: {told}.")


def _attached(attachments: Mapping[str, bytes | str]) -> dict[str, bytes]:
    for name in attachments:
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(
                f"a file cannot be attached as {name!r}: take letters, digits, '.', '_' and '-', "
                f"and none of {', '.join(sorted(RESERVED))}."
            )
    files = {
        name: content.encode("utf-8") if isinstance(content, str) else bytes(content)
        for name, content in attachments.items()
    }
    total = sum(map(len, files.values()))
    if total > MOST_ATTACHED:
        raise ValueError(
            f"{', '.join(files)}: {total} bytes; at most {MOST_ATTACHED} can be attached in all."
        )
    return files
