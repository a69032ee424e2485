"""The reader of mushrooms, on lines written here."""

import numpy as np
import pytest

from robustpu import datasets
from robustpu.datasets.mushrooms import ATTRIBUTES, mushrooms

LINES = [
    "p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u",
    "e,x,s,y,t,a,f,c,b,k,e,?,s,s,w,w,p,w,o,p,n,n,g",
]


def content(*lines):
    return "".join(line + "\n" for line in lines).encode()


def test_letters_become_columns(lay_out):
    root = lay_out("mushrooms", {"agaricus-lepiota.data": content(*LINES)})
    bunch = mushrooms(root / "mushrooms", stalk_root=True)
    assert bunch.target.tolist() == [1, 0]
    assert bunch.target_names[bunch.target].tolist() == ["poisonous", "edible"]
    for row, line in enumerate(LINES):
        letters = line.split(",")[1:]
        expected = {f"{name}={letter}" for name, letter in zip(ATTRIBUTES, letters, strict=True)}
        found = {bunch.feature_names[i] for i in np.flatnonzero(bunch.data[row])}
        assert found == expected
    without = datasets.load("mushrooms", data_dir=root)
    assert not any(name.startswith("stalk-root") for name in without.feature_names)


@pytest.mark.parametrize(
    "damage",
    [
        content(*LINES).replace(b",", b";"),
        content(*LINES).replace(b"\n", b" "),
        content(*LINES).replace(b"p,x", b"z,x"),
        content(*LINES)[:-1],
        content(*LINES)[:50],
    ],
)
def test_wrong_lines_are_refused(damage, lay_out):
    root = lay_out("mushrooms", {"agaricus-lepiota.data": damage})
    with pytest.raises(OSError, match=r"agaricus-lepiota\.data is damaged: .*fetch mushrooms"):
        datasets.load("mushrooms", data_dir=root)
