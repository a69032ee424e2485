"""Every data set: what it holds, its official files with their checksums, and addresses."""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from robustpu.datasets.sources import Download, File, Source
from robustpu.validation.names import suggest


def _direct(bases: tuple[str, ...], files: tuple[File, ...]) -> tuple[Download, ...]:
    """Files that are offered as they are, at every one of the addresses."""
    return tuple(
        Download(tuple(base + file.path for base in bases), file, (file,)) for file in files
    )


_MUSHROOMS = (File("agaricus-lepiota.data", 373_704, "md5:08abc775ae2a79b402cc75f3a29e4b7d"),)
_SHUTTLE = (
    File("shuttle.trn", 1_153_518, "md5:53cbd0c3ae4986fdf48b0570978b92bc"),
    File("shuttle.tst", 384_257, "md5:279c252ee3b56ae6016825afd6821ee7"),
)
_MNIST = (
    File("train-images-idx3-ubyte.gz", 9_912_422, "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    File("train-labels-idx1-ubyte.gz", 28_881, "md5:d53e105ee54ea40749a09fcbcd1e9432"),
    File("t10k-images-idx3-ubyte.gz", 1_648_877, "md5:9fb629c4189551a2d022fa330f9573f3"),
    File("t10k-labels-idx1-ubyte.gz", 4_542, "md5:ec29112dd5afa0611ce80d1b7f02629c"),
)
_FASHION_MNIST = (
    File("train-images-idx3-ubyte.gz", 26_421_880, "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
    File("train-labels-idx1-ubyte.gz", 29_515, "md5:25c81989df183df01b3e8a0aad5dffbe"),
    File("t10k-images-idx3-ubyte.gz", 4_422_102, "md5:bef4ecab320f06d8554ea6380940ec79"),
    File("t10k-labels-idx1-ubyte.gz", 5_148, "md5:bb300cfdad3c16e7a12a480ee83cd310"),
)
_CIFAR10 = tuple(
    File(f"cifar-10-batches-bin/{batch}.bin", 30_730_000, f"md5:{md5}", optional)
    for batch, md5, optional in (
        ("data_batch_1", "5dd7e06a14cb22eb9f671a540d1b7c25", False),
        ("data_batch_2", "5ea93a67294ea407fff1d09f752e9692", True),
        ("data_batch_3", "942cd6a4bcdd0dd3c604fbe906cb4421", True),
        ("data_batch_4", "ae636b3ba5c66a11e91e8cb52e771fcb", True),
        ("data_batch_5", "53f37980c15c3d472c316c40844f3f0d", True),
        ("test_batch", "803d5f7f4d78ea53de84dbe85f74fb6d", False),
    )
)
_STL10 = (
    File("stl10_binary/train_X.bin", 138_240_000, "md5:918c2871b30a85fa023e0c44e0bee87f"),
    File("stl10_binary/train_y.bin", 5_000, "md5:5a34089d4802c674881badbb80307741"),
    File("stl10_binary/test_X.bin", 221_184_000, "md5:7f263ba9f9e0b06b93213547f721ac82"),
    File("stl10_binary/test_y.bin", 8_000, "md5:36f9794fa4beb8a2c72628de14fa638e"),
)

_ALZHEIMER_BY_HAND = """\
Kaggle gives this set only to people who are signed in, so get it by hand:
1. Open https://www.kaggle.com/datasets/tourist55/alzheimers-dataset-4-class-of-images
   ("Alzheimer's Dataset (4 class of images)" by tourist55), sign in, and download the archive.
2. Unpack it so that the folders "Alzheimer_s Dataset/train" and "Alzheimer_s Dataset/test" are in
   the folder {folder}
3. Check it with: robustpu datasets verify alzheimer --data-dir {root}"""

_SHUTTLE_SOURCE = Source(
    "shuttle",
    58_000,
    (9,),
    ("other", "Rad Flow"),
    45_586,
    "CC BY 4.0",
    folder="shuttle",
    files=_SHUTTLE,
    bundled="robustpu",
)

SOURCES: Final[dict[str, Source]] = {
    source.name: source
    for source in (
        Source(
            "spambase",
            4_601,
            (57,),
            ("other", "spam"),
            1_813,
            "CC BY 4.0",
            folder="spambase",
            files=(File("spambase.data", 702_942, "md5:e7368d48fa690b0331a09b430d55fb6a"),),
            bundled="robustpu",
        ),
        _SHUTTLE_SOURCE,
        replace(
            _SHUTTLE_SOURCE,
            name="shuttle-minority",
            classes=("Rad Flow", "other"),
            positives=12_414,
        ),
        Source("digits", 1_797, (64,), ("odd", "even"), 891, "CC BY 4.0", bundled="scikit-learn"),
        Source(
            "breast_cancer",
            569,
            (30,),
            ("benign", "malignant"),
            212,
            "CC BY 4.0",
            bundled="scikit-learn",
        ),
        Source(
            "mushrooms",
            8_124,
            (112,),
            ("edible", "poisonous"),
            3_916,
            "CC BY 4.0",
            folder="mushrooms",
            files=_MUSHROOMS,
            downloads=(
                Download(
                    ("https://archive.ics.uci.edu/static/public/73/mushroom.zip",),
                    File(
                        "mushroom.zip",
                        141_318,
                        "sha256:face32f32647e0d939f6233f36dd30dd5d619ae9f3f9b8e10bea4ac7e1f60b1a",
                    ),
                    _MUSHROOMS,
                ),
                *_direct(
                    ("https://archive.ics.uci.edu/ml/machine-learning-databases/mushroom/",),
                    _MUSHROOMS,
                ),
            ),
        ),
        Source(
            "mnist",
            70_000,
            (1, 28, 28),
            ("odd", "even"),
            34_418,
            "CC BY-SA 3.0",
            folder="mnist",
            files=_MNIST,
            downloads=_direct(
                (
                    "https://ossci-datasets.s3.amazonaws.com/mnist/",
                    "https://storage.googleapis.com/cvdf-datasets/mnist/",
                ),
                _MNIST,
            ),
        ),
        Source(
            "fashion-mnist",
            70_000,
            (1, 28, 28),
            ("other", "top"),
            28_000,
            "MIT",
            folder="fashion-mnist",
            files=_FASHION_MNIST,
            downloads=_direct(
                (
                    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
                ),
                _FASHION_MNIST,
            ),
        ),
        Source(
            "cifar10",
            60_000,
            (3, 32, 32),
            ("animal", "vehicle"),
            24_000,
            "research use",
            folder="cifar10",
            files=_CIFAR10,
            downloads=(
                Download(
                    (
                        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                        "https://cave.cs.toronto.edu/kriz/cifar-10-binary.tar.gz",
                    ),
                    File(
                        "cifar-10-binary.tar.gz",
                        170_052_171,
                        "md5:c32a1d4ab5d03f1284b67883e8d87530",
                    ),
                    _CIFAR10,
                ),
            ),
        ),
        Source(
            "stl10",
            13_000,
            (3, 96, 96),
            ("other animal", "vehicle or cat"),
            6_500,
            "research use",
            folder="stl10",
            files=_STL10,
            downloads=(
                Download(
                    (
                        "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                        "https://cs.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                    ),
                    File(
                        "stl10_binary.tar.gz",
                        2_640_397_119,
                        "md5:91f7769df0f17e558f3565bffb0c7dfb",
                    ),
                    _STL10,
                ),
            ),
        ),
        Source(
            "alzheimer",
            6_400,
            (1, 208, 176),
            ("none or very mild", "mild or moderate"),
            960,
            "ODbL",
            folder="alzheimer",
            pictures=MappingProxyType(
                {
                    "Alzheimer_s Dataset/train/NonDemented": 2_560,
                    "Alzheimer_s Dataset/train/VeryMildDemented": 1_792,
                    "Alzheimer_s Dataset/train/MildDemented": 717,
                    "Alzheimer_s Dataset/train/ModerateDemented": 52,
                    "Alzheimer_s Dataset/test/NonDemented": 640,
                    "Alzheimer_s Dataset/test/VeryMildDemented": 448,
                    "Alzheimer_s Dataset/test/MildDemented": 179,
                    "Alzheimer_s Dataset/test/ModerateDemented": 12,
                }
            ),
            manual=_ALZHEIMER_BY_HAND,
        ),
    )
}


def find(name: str) -> Source:
    """The data set of that name.

    Parameters
    ----------
    name
        A key of `SOURCES`.

    Raises
    ------
    ValueError
        There is none of that name; the error suggests the nearest.

    Examples
    --------
    >>> from robustpu.datasets.catalogue import find
    >>> find("mnist").rows
    70000
    """
    if name in SOURCES:
        return SOURCES[name]
    raise ValueError(f"unknown data set {name!r}{suggest(name, SOURCES)}")
