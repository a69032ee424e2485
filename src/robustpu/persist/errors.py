"""One kind of error for all that can be wrong with a model folder."""


class ModelFolderError(ValueError):
    """A model cannot be stored, or a folder is no sound model; the message names the reason."""
