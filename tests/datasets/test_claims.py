import numpy as np

from robustpu.datasets.sample import ODD, PLACES, USUAL, claims


def test_the_sample_is_what_it_says():
    columns, is_fraud = claims()
    rows = len(is_fraud)
    assert {len(column) for column in columns.values()} == {rows}
    assert is_fraud.mean() == 0.08
    is_known = columns["fraud"] == "yes"
    assert is_known.sum() == 220
    assert is_fraud[is_known].all()
    assert len(set(columns["claim"])) == rows
    # Frauds are dearer, and known ones neither more nor less so than others.
    logs = np.log(columns["amount"])
    assert logs[is_fraud].mean() > logs[~is_fraud].mean() + 0.5
    assert abs(logs[is_known].mean() - logs[is_fraud].mean()) < 0.2
    for name in ("age", "garage", "description"):
        missing = np.array([value is None or value != value for value in columns[name]])
        assert 0.02 < missing.mean() < 0.3


def test_a_seed_gives_the_same_claims_again():
    first, again, other = (claims(200, seed=seed).columns for seed in (1, 1, 2))
    for name in ("amount", "kind", "filed", "fraud"):
        assert (first[name] == again[name]).all()
    assert (first["amount"] != other["amount"]).any()


def test_no_remark_is_cut():
    columns, _ = claims(500)
    parts = {part for text in columns["description"] if text for part in text.split(", ")}
    assert parts == {*PLACES, *USUAL, *ODD}
