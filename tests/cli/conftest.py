"""A file of mixed columns, and a model of it, made by the command."""

import numpy as np
import pytest
from typer.testing import CliRunner

from robustpu.cli import app


@pytest.fixture(scope="session")
def run():
    """Run a command as a user does, and return its exit code, output and messages."""
    runner = CliRunner()

    def run(*given, **more):
        answer = runner.invoke(app, [str(word) for word in given], **more)
        # Whatever was not meant to come out would show here.
        assert answer.exception is None or isinstance(answer.exception, SystemExit), answer
        return answer

    return run


@pytest.fixture(scope="session")
def claims(tmp_path_factory):
    """A CSV of 300 claims; frauds are dear, thefts, and come after others. Half are labelled."""
    random = np.random.default_rng(0)
    lines = ["claim,amount,kind,city,age,filed,empty,fraud"]
    for place in range(300):
        is_fraud = random.random() < 0.3
        kind = "theft" if is_fraud and random.random() < 0.7 else random.choice(["fire", "water"])
        age = "" if random.random() < 0.1 else random.integers(18, 80)
        amount = f"{random.lognormal(6 + 1.5 * is_fraud, 0.7):.2f}"
        city = random.choice(["Zürich", "Genève", "Köln"])
        day = np.datetime64("2023-01-01") + random.integers(0, 365)
        label = "1" if is_fraud and random.random() < 0.5 else ""
        lines.append(f"C{place:03d},{amount},{kind},{city},{age},{day},,{label}")
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(run, claims, tmp_path_factory):
    """A model folder of the claims."""
    path = tmp_path_factory.mktemp("models") / "model"
    answer = run(
        *("fit", claims, "--label", "fraud", "--id", "claim", "--drop", "filed"),
        *("--method", "puet", "--prior", "0.18", "--out", path, "--quiet"),
    )
    assert answer.exit_code == 0, answer.output
    return path
