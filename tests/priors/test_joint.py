"""Priors that are estimated alternately with the training of scorers."""

import numpy as np
import pytest
import torch

from robustpu import NNPUClassifier, estimate_prior
from robustpu.pretrained import EncodedTable
from robustpu.priors import JOINT, Sample, crossfit, estimate, joint, pretrained
from robustpu.priors.joint import _halves, least_positive


def clouds(prior, n_positive=200, n_unlabeled=600, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_positive + n_unlabeled) < n_positive).astype(int)
    truth = (y == 1) | (rng.random(len(y)) < prior)
    return rng.normal(3.0 * truth[:, None], 1.0, (len(y), 2)), y


def sample(prior, method="auto", **sizes):
    X, y = clouds(prior, **sizes)
    return Sample(torch.tensor(X, dtype=torch.float32), y == 1, "mlp", 0, method)


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("prior", [0.2, 0.6])
def test_the_prior_of_separate_clouds_is_found(name, prior):
    assert JOINT[name](sample(prior)) == pytest.approx(prior, abs=0.08)


def test_a_joint_method_answers_for_its_sample_alone(monkeypatch):
    monkeypatch.setattr(crossfit, "TREES", 4)
    three = [sample(0.3, "dedpul"), sample(0.6, "tedn"), sample(0.3, "best-bin")]
    answers = estimate(three)
    # Fleets of other sizes round differently.
    assert answers[0] == pytest.approx(estimate(three[:1])[0], abs=1e-4)
    assert answers[1] == joint.tedn(three[1])
    assert answers[2] == pytest.approx(estimate(three[2:])[0], abs=1e-4)


def test_estimate_prior_shows_it_beside_the_others():
    X, y = clouds(0.4)
    found = estimate_prior(X, y, method="tedn", n_bootstrap=5, random_state=0)
    assert found.value == found.answers["tedn"] == pytest.approx(0.4, abs=0.08)
    assert found.low < found.value < found.high
    assert "capu" not in found.answers


def test_scores_are_not_enough():
    X, y = clouds(0.4)
    with pytest.raises(ValueError, match="method='capu' trains its own scorers: give rows"):
        estimate_prior(X[:, 0], y, method="capu")


def test_classifiers_take_the_names():
    X, y = clouds(0.4)
    model = NNPUClassifier(prior="tedn", epochs=2, random_state=0)
    # The twenty labelled rows that are held out are no ground to doubt an estimate from all.
    model.fit(X, y)
    assert model.prior_interval().is_known
    assert model.prior_ == pytest.approx(0.4, abs=0.08)


def test_a_slip_in_a_name_is_told():
    with pytest.raises(ValueError, match="it is 'tend': did you mean 'tedn'"):
        NNPUClassifier(prior="tend").fit(*clouds(0.4))


def test_the_pretrained_share_takes_rows_of_a_map_in_bounds(monkeypatch):
    """A mapped table, of which no more is read than two contexts hold."""
    held = sample(0.4)
    read, encoded = [], []

    class Rows:
        device = torch.device("cpu")

        def __getitem__(self, rows):
            read.append(len(rows))
            return held.x[rows]

    def encode(network, x, is_positive, **given):
        encoded.append((x.shape, int(is_positive.sum()), given["max_context"]))
        return EncodedTable(network, x, is_positive, **given)

    monkeypatch.setattr(pretrained, "CONTEXT", 60)
    monkeypatch.setattr(pretrained, "EncodedTable", encode)
    found = pretrained.pretrained(Sample(Rows(), held.is_positive, "mlp", 0))
    assert read == [240]
    assert encoded == [((240, 2), 120, 60)]
    assert 0.1 < found < 0.6


def test_a_classifier_takes_the_pretrained_share():
    X, y = clouds(0.4)
    model = NNPUClassifier(prior="pretrained", epochs=2, random_state=0)
    model.fit(X, y)
    assert model.prior_ == pytest.approx(0.4, abs=0.08)
    found = estimate_prior(X, y, method="pretrained", n_bootstrap=5, random_state=0)
    assert found.value == found.answers["pretrained"] == pytest.approx(0.4, abs=0.08)


def test_capu_ends_when_the_prior_stays(monkeypatch):
    folds = []
    monkeypatch.setattr(
        joint, "fold", lambda *given, **keywords: folds.append(keywords) or fold(*given, **keywords)
    )
    monkeypatch.setattr(joint, "km2", lambda *_: 0.3)
    assert joint.capu(sample(0.3, n_positive=20, n_unlabeled=40)) == 0.3
    assert [keywords["prior"] for keywords in folds] == [0.3]


fold = joint.fold


def test_unlabelled_rows_have_the_weight_of_the_positives():
    is_positive = torch.tensor([[True, False, False, False]])
    weight = _halves(torch.tensor([[2.0, 1.0, 0.0, 3.0]]), is_positive)
    assert weight.tolist() == [[2.0, 0.5, 0.0, 1.5]]


def test_the_most_positive_share_is_left_out():
    logit = torch.tensor([[5.0, 4.0, 3.0, 2.0]])
    kept = least_positive(logit, torch.zeros(1, 4) > 0, torch.ones(1, 4), torch.tensor([0.5]))
    assert kept.tolist() == [[False, False, True, True]]
