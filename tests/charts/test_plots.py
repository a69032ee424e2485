import numpy as np

from robustpu.charts.plots import draw_weights


def test_weights_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    path = rng.uniform(size=(5, 40))
    path[:, :3] = np.nan  # rows that nobody trained on
    draw_weights(path, np.arange(40) % 3 == 0, tmp_path / "weights.png")
    assert (tmp_path / "weights.png").stat().st_size > 10_000


def test_one_round_is_enough(tmp_path):
    draw_weights(np.full((1, 4), 0.5), np.arange(4) < 2, tmp_path / "weights.svg")
    assert "<svg" in (tmp_path / "weights.svg").read_text()
