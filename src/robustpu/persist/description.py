"""What lies in a folder besides the model."""

import os
from dataclasses import dataclass

from robustpu.persist.contents import attached, read_contents, reading
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.objects import KINDS
from robustpu.persist.reading import SUMS, Folder, read_checked
from robustpu.persist.values import refuse


@dataclass(frozen=True)
class Description:
    """What a folder is, without the model: class, versions, bytes of its files, attached ones.

    ``checksum`` is that of the list of checksums: folders with the same one are the same.
    """

    kind: str
    schema: int
    written_by: dict[str, str]
    files: dict[str, int]
    attachments: tuple[str, ...]
    checksum: str


def read_attachment(path: str | os.PathLike[str], name: str) -> bytes:
    """Read a file that was attached to the model.

    Parameters
    ----------
    path
        The folder.
    name
        Its name.
    """

    def read(folder: Folder) -> bytes:
        contents = read_contents(folder)
        if name not in attached(contents.entries):
            raise ModelFolderError(f"no file {name!r} is attached to the model.")
        return read_checked(folder, name, contents.sums)

    return reading(path, read)


def describe(path: str | os.PathLike[str]) -> Description:
    """Tell what a folder holds, after all its checksums were checked.

    Parameters
    ----------
    path
        The folder.
    """

    def read(folder: Folder) -> Description:
        contents = read_contents(folder)
        entries, model = contents.entries, contents.entries["model"]
        name = model.get("class") if isinstance(model, dict) else None
        if not isinstance(name, str) or name not in KINDS:
            refuse("model", f"{str(name)[:60]!r} is no class that a model folder may hold.")
        return Description(
            KINDS[name].name,
            entries["schema"],
            entries["written_by"],
            {name: folder.size(name) for name in sorted({SUMS, *contents.sums})},
            attached(entries),
            folder.digest(SUMS),
        )

    return reading(path, read)
