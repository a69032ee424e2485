"""Small tables that scikit-learn ships, as positive against negative."""

from typing import Final

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils import Bunch

DIGITS: Final = """\
Digits: 1,797 images of 8 x 8 pixels, 891 positive (even digits), 906 negative (odd digits).

Pixels are scikit-learn's, divided by 16, so they are in [0, 1]. Even against odd is the usual task
on MNIST.

Creator: E. Alpaydin.
Source: scikit-learn's load_digits, the test part of UCI's Optical Recognition of Handwritten
Digits.
"""

BREAST_CANCER: Final = """\
Breast cancer: 569 tumours, 30 features of their cell nuclei, 212 positive (malignant), 357 negative
(benign).

scikit-learn numbers the classes the other way round: its target 0 is malignant, 1 here.

Creators: William H. Wolberg, W. Nick Street, Olvi L. Mangasarian.
Source: scikit-learn's load_breast_cancer, UCI's Breast Cancer Wisconsin (Diagnostic).
"""


def digits() -> Bunch:
    """Even against odd digits, 1,797 images of 64 pixels in [0, 1].

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.

    Examples
    --------
    >>> from robustpu.datasets.from_sklearn import digits
    >>> int(digits().target.sum())
    891
    """
    original = load_digits()
    return Bunch(
        data=original.data / 16,
        target=(original.target % 2 == 0).astype(np.int64),
        feature_names=list(original.feature_names),
        target_names=np.array(["odd", "even"]),
        DESCR=DIGITS,
        frame=None,
    )


def breast_cancer() -> Bunch:
    """Malignant against benign tumours, 569 rows of 30 features.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.

    Examples
    --------
    >>> from robustpu.datasets.from_sklearn import breast_cancer
    >>> int(breast_cancer().target.sum())
    212
    """
    original = load_breast_cancer()
    return Bunch(
        data=original.data,
        target=(original.target == 0).astype(np.int64),
        feature_names=[str(name) for name in original.feature_names],
        target_names=np.array(["benign", "malignant"]),
        DESCR=BREAST_CANCER,
        frame=None,
    )
