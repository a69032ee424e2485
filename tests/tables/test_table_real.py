"""Real tables of mixed columns, from the data that comes with the package vega_datasets."""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustpu.tables import Roles, Tally, Vectorizer, iter_table, read_table, take_roles

FOLDER = Path(
    str(importlib.metadata.distribution("vega_datasets").locate_file("vega_datasets/_data"))
)


def kinds(vectorizer: Vectorizer) -> dict[str, str]:
    return {column.name: column.kind for column in vectorizer.columns_}


EXPECTED = {
    "airports.csv": {
        "iata": "id",
        "name": "text",
        "city": "category",
        "state": "category",
        "country": "category",
        "latitude": "number",
        "longitude": "number",
    },
    "cars.json": {
        "Name": "text",
        "Miles_per_Gallon": "number",
        "Cylinders": "number",
        "Displacement": "number",
        "Horsepower": "number",
        "Weight_in_lbs": "number",
        "Acceleration": "number",
        "Year": "date",
        "Origin": "category",
    },
    "la-riots.csv": {
        "first_name": "text",
        "last_name": "category",
        "age": "number",
        "gender": "category",
        "race": "category",
        "death_date": "date",
        "address": "text",
        "neighborhood": "text",
        "type": "category",
        "longitude": "number",
        "latitude": "number",
    },
    "seattle-weather.csv": {
        "date": "date",
        "precipitation": "number",
        "temp_max": "number",
        "temp_min": "number",
        "wind": "number",
        "weather": "category",
    },
    "stocks.csv": {"symbol": "category", "date": "date", "price": "number"},
    "barley.json": {
        "yield": "number",
        "variety": "category",
        "year": "number",
        "site": "category",
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_columns_are_understood(name: str) -> None:
    table = read_table(FOLDER / name)
    vectorizer = Vectorizer().fit(table)
    assert kinds(vectorizer) == EXPECTED[name]
    X = vectorizer.transform(table)
    assert np.isfinite(X).all()
    assert (X.max(axis=0) > X.min(axis=0)).all()  # every feature says something


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_pandas_reads_the_same(name: str) -> None:
    table = read_table(FOLDER / name)
    if name.endswith("json"):
        frame = pd.DataFrame(json.loads((FOLDER / name).read_text()))
    else:
        frame = pd.read_csv(FOLDER / name)
    assert table.names == frame.columns.tolist()
    assert table.n_rows == len(frame)
    vectorizer = Vectorizer().fit(table)
    for column in vectorizer.columns_:
        assert column.missing == pytest.approx(frame[column.name].isna().mean())
    tally = Tally()
    np.testing.assert_allclose(
        vectorizer.transform(frame, tally=tally), vectorizer.transform(table), rtol=1e-6
    )
    assert tally.lines() == []


def test_from_file_to_ranking(tmp_path: Path) -> None:
    """Half of the American cars are marked; the rest are found among the others."""
    frame = pd.DataFrame(json.loads((FOLDER / "cars.json").read_text()))
    is_american = (frame.pop("Origin") == "USA").to_numpy()
    rng = np.random.default_rng(0)
    is_marked = is_american & (rng.random(len(frame)) < 0.5)
    frame["domestic"] = np.where(is_marked, "yes", "")
    frame["row"] = np.arange(len(frame))
    path = tmp_path / "cars.csv.gz"
    frame.to_csv(path, index=False, sep=";", decimal=",")

    parts = take_roles(read_table(path), Roles(label="domestic", id="row", time="Year"))
    assert parts.y is not None
    np.testing.assert_array_equal(parts.y == 1, is_marked)
    assert parts.times is not None
    np.testing.assert_array_equal(parts.times, frame["Year"].to_numpy("datetime64[us]"))
    vectorizer = Vectorizer().fit(parts.table, parts.y)
    X = vectorizer.transform(parts.table)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, parts.y)
    hidden = parts.y == 0
    assert roc_auc_score(is_american[hidden], model.predict_proba(X)[hidden, 1]) > 0.9

    scores = [
        model.predict_proba(vectorizer.transform(part, tally=Tally()))[:, 1]
        for part in iter_table(path, rows=100)
    ]
    np.testing.assert_allclose(np.concatenate(scores), model.predict_proba(X)[:, 1], rtol=1e-5)
