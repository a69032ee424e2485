"""The example of the page on tables runs as it stands."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()


# Its rows are noise: hardly one looks like a positive.
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "claim": np.arange(300) + 7000,
            "amount": rng.lognormal(5 + (np.arange(300) < 60), 1),
            "city": rng.choice(["Bern", "Rome"], 300),
            "garage": "x",
            "fraud": np.where(np.arange(300) < 40, "1", ""),
        }
    )
    frame.to_csv(tmp_path / "claims.csv", index=False)
    frame.assign(city="Oslo").to_csv(tmp_path / "new_claims.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    # Fewer networks, of a known prior: the example takes its time.
    quick = block.replace("(random_state=0)", "(random_state=0, prior=0.1, n_members=2)")
    assert quick != block
    names: dict[str, object] = {}
    exec(compile(quick, "tables.md", "exec"), names)
    said = capsys.readouterr().out
    assert "amount number 0% missing: its logarithm, in units of" in said
    assert "column 'city': 300 rows have values that were not in training" in said
