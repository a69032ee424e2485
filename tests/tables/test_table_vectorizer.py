"""What columns become, against scikit-learn's encoders and by hand."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robustpu.tables import TableError, Tally, Vectorizer, read_table
from robustpu.tables.leaks import separation
from robustpu.tables.text_plan import TextPlan
from robustpu.tables.words import BUCKETS, count_words

RNG = np.random.default_rng(0)
N = 500


def mixed(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    words = np.array(["water", "fire", "roof", "car", "stolen", "broken", "old", "new", "front"])
    return pd.DataFrame(
        {
            "claim_id": np.arange(n) + 50_000,
            "amount": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(5, 1, n)),
            "price": [f"€ {value:,.2f}" for value in rng.lognormal(8, 1, n)],
            "city": rng.choice(["Bern", "Rome", "Oslo", None], n),
            "shop": [f"shop {min(int(each), 99)}" for each in rng.geometric(0.05, n)],
            "flag": rng.choice(["yes", "no"], n),
            "when": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
            "note": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "always": "x",
        }
    )


def test_numbers_as_by_simple_imputer() -> None:
    values = np.where(RNG.random((N, 3)) < 0.2, np.nan, RNG.standard_normal((N, 3)))
    values[:, 2] = RNG.standard_normal(N)
    got = Vectorizer().fit(values).transform(values)
    want = SimpleImputer(strategy="median", add_indicator=True).fit_transform(values)
    # scikit-learn puts all indicators last, we put them beside their numbers.
    np.testing.assert_array_equal(got, want[:, [0, 3, 1, 4, 2]].astype(np.float32))


@pytest.mark.parametrize(("most", "fewest"), [(30, 5), (6, 1), (4, 30), (2, 1)])
def test_categories_as_by_one_hot_encoder(most: int, fewest: int) -> None:
    # Counts without ties: scikit-learn breaks them in another way.
    values = np.repeat([f"v{place}" for place in range(12)], np.arange(12) * 3 + 1)
    fresh = np.array(["v11", "v0", "never", "v5"])
    encoder = OneHotEncoder(
        max_categories=most,
        min_frequency=fewest,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    ).fit(values[:, None])
    vectorizer = Vectorizer(max_categories=most, min_count=fewest)
    vectorizer.fit({"x": values, "other": np.arange(len(values))})
    names = [name.removeprefix("x_") for name in encoder.get_feature_names_out(["x"])]
    names = [name.replace("infrequent_sklearn", "(other)") for name in names]
    ours = vectorizer.feature_names_out_
    places = [ours.index(f"x = {name}") for name in names]
    for rows in (values, fresh):
        table = {"x": rows, "other": np.arange(len(rows))}
        got = vectorizer.transform(table, tally=Tally())[:, places]
        np.testing.assert_array_equal(got, encoder.transform(rows[:, None]))
    n_one_hot = sum(name.startswith("x = ") for name in ours)
    assert n_one_hot == len(names)


def test_frequency_of_many_categories() -> None:
    counts = np.arange(40, 0, -1)
    values = np.repeat([f"v{place}" for place in range(40)], counts)
    vectorizer = Vectorizer().fit({"x": values, "other": np.arange(len(values))})
    table = {"x": ["v0", "v39", "never", None], "other": [1, 2, 3, 4]}
    place = vectorizer.feature_names_out_.index("x: frequency")
    got = vectorizer.transform(table, tally=Tally())[:, place]
    np.testing.assert_allclose(got, [np.log(40), 0, 0, 0], rtol=1e-6)


def test_category_order_does_not_depend_on_rows() -> None:
    values = np.array(["b", "a", "c", "a", "b", "c"] * 5)
    names = Vectorizer().fit({"x": values}).feature_names_out_
    assert names == ["x = a", "x = b", "x = c"]
    assert Vectorizer().fit({"x": values[::-1]}).feature_names_out_ == names


def test_dates_by_hand() -> None:
    dates = pd.Series(pd.date_range("2024-01-30 06:00", periods=40, freq="31h"))
    dates[3] = pd.NaT
    vectorizer = Vectorizer().fit({"t": dates})
    assert vectorizer.feature_names_out_ == [
        *("t: days", "t: month", "t: day", "t: weekday", "t: hour", "t is missing")
    ]
    got = vectorizer.transform({"t": dates})
    filled = dates.fillna(dates.dropna().sort_values().iloc[39 // 2])
    want = np.column_stack(
        [
            (filled - dates.max()) / pd.Timedelta(days=1),
            filled.dt.month,
            filled.dt.day,
            filled.dt.day_of_week,
            filled.dt.hour,
            dates.isna(),
        ]
    )
    np.testing.assert_allclose(got, want, rtol=1e-6)
    # As text, in another order, and later than anything in training.
    later = vectorizer.transform({"t": [str(dates.max() + pd.Timedelta(days=2))]})
    assert later[0, 0] == 2
    # Days that are all the first of a month have no weekday to speak of.
    months = pd.date_range("2020-01-01", periods=30, freq="MS")
    assert Vectorizer().fit({"t": months}).feature_names_out_ == ["t: days", "t: month"]


def test_text_as_by_scikit_learn() -> None:
    texts = mixed()["note"].unique().tolist()  # a text that comes again is learnt from once
    counted = count_words(pa.array(texts))
    hashing = HashingVectorizer(
        n_features=BUCKETS, token_pattern=r"(?u)\b\w+\b", alternate_sign=False, norm=None
    )
    single = csr_array(hashing.transform(texts))
    pairs = counted - single
    assert pairs.min() == 0
    np.testing.assert_array_equal(pairs.sum(axis=1), single.sum(axis=1) - 1)
    # What follows the counts is what scikit-learn's parts do.
    vectorizer = Vectorizer(text_components=5).fit({"note": texts})
    plan = vectorizer.columns_[0].plan
    assert isinstance(plan, TextPlan)
    used = np.flatnonzero(np.bincount(counted.indices) >= 2)
    np.testing.assert_array_equal(plan.buckets, used)
    weighed = TfidfTransformer(sublinear_tf=True).fit_transform(counted[:, used])
    decomposed = TruncatedSVD(5, random_state=0).fit(weighed)
    got = vectorizer.transform({"note": texts})
    np.testing.assert_allclose(got[:, :5], decomposed.transform(weighed), atol=1e-5)
    np.testing.assert_array_equal(got[:, 5], [len(text) for text in texts])


def test_many_directions_of_a_text_are_rotated() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.3, 30) % 300) for _ in range(400)]
    got = Vectorizer(text_components=40, kinds={"note": "text"}).fit_transform({"note": texts})
    first, rotated = got[:, :16], got[:, 16:56]
    # A rotation keeps what lies in the strongest directions, and spreads it over all columns.
    fitted, *_ = np.linalg.lstsq(rotated, first, rcond=None)
    np.testing.assert_allclose(rotated @ fitted, first, atol=1e-4)
    spread = [part.std(axis=0).max() / part.std(axis=0).min() for part in (first, rotated)]
    assert spread[1] < spread[0] < 10


def test_text_counts_by_logarithms_and_is_read_far() -> None:
    texts = [f"{'padding ' * 300}{word} {place}" for place in range(40) for word in ("up", "down")]
    features = Vectorizer(text_components=3, kinds={"note": "text"}).fit({"note": texts})
    got = features.transform({"note": texts})[:, :3]
    # The words that differ come after 2,400 characters.
    distance = np.abs(got[0::2] - got[1::2]).max(axis=1)
    assert distance.min() > 1e-3


def test_vectorizers_of_earlier_versions_are_refused() -> None:
    state = Vectorizer().fit({"a": [1.0, 2.0]}).state()
    with pytest.raises(TableError, match=r"earlier version.*fit the model again"):
        Vectorizer.from_state({**state, "version": 1})


def test_words_without_capitals_and_accents() -> None:
    counted = count_words(pa.array(["Déjà VU!", "deja vu", "", "!?"])).toarray()
    np.testing.assert_array_equal(counted[0], counted[1])
    assert counted.sum(axis=1).tolist() == [3, 3, 0, 0]
    # Texts without a single word have a length all the same.
    marks = ["!" * place for place in range(1, 30)]
    got = Vectorizer(kinds={"x": "text"}).fit_transform({"x": marks})
    np.testing.assert_array_equal(got, [[0, place] for place in range(1, 30)])


def test_texts_that_share_a_single_word() -> None:
    texts = ["!?" if place % 3 else f"car{place} street" for place in range(60)]
    got = Vectorizer(kinds={"x": "text"}).fit_transform({"x": texts})
    np.testing.assert_array_equal(got[:, 0], ["street" in text for text in texts])


def test_a_text_of_one_value_is_a_category() -> None:
    vectorizer = Vectorizer(kinds={"x": "text"}).fit({"x": ["red"] * 20 + [None] * 20})
    assert [column.kind for column in vectorizer.columns_] == ["category"]
    np.testing.assert_array_equal(vectorizer.transform({"x": ["red", None]}), [[1, 0], [0, 1]])


def test_missing_texts_are_no_direction() -> None:
    texts = [f"red car {place % 7}" for place in range(40)]
    done = [Vectorizer(kinds={"x": "text"}).fit({"x": texts + more}) for more in ([], [None])]
    numbers = "words and pairs of words in 1 number, its length"
    told = [vectorizer.columns_[0].done for vectorizer in done]
    assert told == [numbers, f"{numbers}, whether it is missing"]


def test_small_differences_survive_single_precision() -> None:
    values = 1e9 + np.arange(100) * 0.25
    got = (
        Vectorizer()
        .fit({"x": values, "y": np.arange(100) * 0.1})
        .transform({"x": values, "y": np.arange(100) * 0.1})
    )
    np.testing.assert_allclose(np.diff(got[:, 0]), 0.25)


def test_huge_numbers_stay_finite() -> None:
    got = Vectorizer().fit_transform({"x": [1e300, -1e300, 1.0, 2.5] * 9})
    assert np.isfinite(got).all()


def test_whether_it_is_missing_is_all_there_is() -> None:
    vectorizer = Vectorizer().fit({"x": ["yes", ""] * 20, "z": ["a", None] * 20})
    assert vectorizer.feature_names_out_ == ["x is missing", "z = a", "z = (missing)"]


def test_mixed_table() -> None:
    frame = mixed()
    vectorizer = Vectorizer().fit(frame)
    X = vectorizer.transform(frame)
    assert X.dtype == np.float32
    assert X.shape == (N, len(vectorizer.feature_names_out_))
    assert np.isfinite(X).all()
    kinds = {column.name: column.kind for column in vectorizer.columns_}
    assert kinds == {
        "claim_id": "id",
        "amount": "number",
        "price": "number",
        "city": "category",
        "shop": "category",
        "flag": "boolean",
        "when": "date",
        "note": "text",
        "always": "constant",
    }
    assert len(set(vectorizer.feature_names_out_)) == X.shape[1]
    assert len(vectorizer.sources_) == X.shape[1]
    for name, source in zip(vectorizer.feature_names_out_, vectorizer.sources_, strict=True):
        assert name.startswith(source)
    assert set(vectorizer.sources_) == set(frame.columns) - {"claim_id", "always"}


def test_same_matrix_from_every_source(tmp_path: Any) -> None:
    frame = mixed()
    vectorizer = Vectorizer().fit(frame)
    X = vectorizer.transform(frame)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True, date_format="iso")
    for source in (
        tmp_path / "a.csv",
        tmp_path / "a.parquet",
        tmp_path / "a.jsonl",
        pl.from_pandas(frame),
        frame[frame.columns[::-1]],
    ):
        np.testing.assert_allclose(vectorizer.transform(source), X, rtol=1e-6)


def test_fit_from_text_is_as_from_types(tmp_path: Any) -> None:
    frame = mixed()
    frame.to_csv(tmp_path / "a.csv", index=False)
    by_text = Vectorizer().fit(tmp_path / "a.csv")
    by_type = Vectorizer().fit(frame)
    assert by_text.feature_names_out_ == by_type.feature_names_out_
    np.testing.assert_allclose(by_text.transform(frame), by_type.transform(frame), rtol=1e-6)


def test_rows_do_not_depend_on_their_part() -> None:
    table = read_table(mixed())
    vectorizer = Vectorizer().fit(table)
    X = vectorizer.transform(table)
    parts = [vectorizer.transform(table.rows(start, 7), tally=Tally()) for start in range(0, N, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), X)


def test_scikit_learn_conventions() -> None:
    frame = mixed()
    y = (np.arange(N) % 2).astype(int)
    vectorizer = Vectorizer(max_categories=8)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert vectorizer.fit(frame) is vectorizer
    assert vectorizer.get_feature_names_out().tolist() == vectorizer.feature_names_out_
    assert vectorizer.n_features_in_ == frame.shape[1]
    assert vectorizer.feature_names_in_.tolist() == frame.columns.tolist()
    pipeline = make_pipeline(Vectorizer(), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pipeline.fit(frame, y).predict(frame).shape == (N,)
    as_frame = Vectorizer().set_output(transform="pandas").fit_transform(frame)
    assert as_frame.columns.tolist() == Vectorizer().fit(frame).feature_names_out_


def test_parameters_are_checked() -> None:
    for parameters in ({"max_categories": 1}, {"min_count": 0}, {"text_components": 0.5}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            Vectorizer(**parameters).fit({"x": [1.0, 2.0]})
    with pytest.raises(TableError, match="has no rows"):
        Vectorizer().fit(read_table({"x": [1.0]}).rows(0, 0))
    with pytest.raises(TableError, match=r"y has shape \(3,\)"):
        Vectorizer().fit({"x": [1.0, 2.0]}, [1, 0, 0])


def test_separation_is_auc() -> None:
    y = RNG.random(200) < 0.3
    X = np.column_stack([RNG.standard_normal(200) + y, RNG.integers(0, 3, 200), ~y]).astype("f4")
    want = [abs(2 * roc_auc_score(y, X[:, place]) - 1) for place in range(3)]
    np.testing.assert_allclose(separation(X, y), want)


def test_columns_that_give_the_label_away_are_named() -> None:
    frame = mixed()
    y = (RNG.random(N) < 0.1).astype(int)
    frame["verdict"] = np.where(y == 1, "confirmed", "open")
    frame["closed on"] = np.where(y == 1, "2024-05-01", "")
    frame["score"] = y + 0.01 * RNG.standard_normal(N)
    frame["hint"] = np.where(RNG.random(N) < 0.7, y, 1 - y)
    vectorizer = Vectorizer().fit(frame, y)
    alarmed = {column.name for column in vectorizer.columns_ if column.alarm}
    assert alarmed == {"verdict", "closed on", "score"}
    assert set(vectorizer.sources_) >= alarmed  # named, not left out
    assert not any(column.alarm for column in Vectorizer().fit(frame).columns_)
    # One label only, or too few positives, say nothing.
    for labels in (np.ones(N), np.arange(N) < 3):
        assert not any(column.alarm for column in Vectorizer().fit(frame, labels).columns_)
