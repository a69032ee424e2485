import pytest

from robustpu.bench.experiment import Budget, read
from robustpu.bench.protocol import Sizes

HEAD = """
datasets = ["mnist", "spambase"]
priors = [0.2, 0.4]
selection = "pu"
"""
FULL = (
    """
title = "Table 3"
table = "main"
trials = 3
tune = "trial"
candidates = 5
seed = 7
validation = "overlapping"
"""
    + HEAD
    + """
[sizes]
n_test = 50
[sizes.mnist]
n_test = 60
n_positive = 70

[methods.nnpu]
[methods.nnpu.search]
lr = [1e-2, 1e-3]
weight_decay = { low = 1e-4, high = 1e-2, log = true }

[methods.welsch]
estimator = "robust-pu"
label = "Welsch"
x = 2
[methods.welsch.fixed]
patience = "none"
[methods.welsch.datasets.mnist]
epochs = 10
"""
)


def parse(tmp_path, text):
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_a_file_is_read(tmp_path):
    experiment = parse(tmp_path, FULL)
    assert experiment.name == "table"
    assert experiment.title == "Table 3"
    assert experiment.table == "main"
    assert experiment.datasets == ("mnist", "spambase")
    assert experiment.priors == (0.2, 0.4)
    assert experiment.selection == ("pu",)
    assert experiment.tune == "trial"
    assert experiment.budgets == dict.fromkeys(("mnist", "spambase"), Budget(3, 5))
    assert (experiment.seed, experiment.validation) == (7, "overlapping")
    assert experiment.sizes == {
        "mnist": Sizes(70, 4000, 500, 60),
        "spambase": Sizes(400, 800, 100, 50),
    }
    nnpu, welsch = experiment.methods
    assert (nnpu.name, nnpu.estimator, nnpu.label, nnpu.x) == ("nnpu", "nnpu", "nnpu", None)
    assert nnpu.search["lr"] == [1e-2, 1e-3]
    assert (welsch.estimator, welsch.label, welsch.x) == ("robust-pu", "Welsch", 2)
    assert welsch.fixed == {"patience": None}
    assert welsch.on_dataset == {"mnist": {"epochs": 10}}


def test_what_may_be_left_out(tmp_path):
    experiment = parse(tmp_path, HEAD + "[methods.pn]")
    assert (experiment.title, experiment.table) == ("table", None)
    assert experiment.budgets["mnist"] == Budget(10, 24)
    assert (experiment.tune, experiment.seed, experiment.validation) == ("cell", 0, "disjoint")


def test_a_data_set_may_have_a_budget_of_its_own(tmp_path):
    budget = "[budget.mnist]\ntrials = 4\n"
    experiment = parse(tmp_path, "candidates = 6\n" + HEAD + budget + "[methods.pn]")
    assert experiment.budgets == {"mnist": Budget(4, 6), "spambase": Budget(10, 6)}


def test_methods_share_what_stands_under_all(tmp_path):
    shared = """
[all]
estimator = "robust-pu"
[all.fixed]
epochs = 10
curriculum__max_rounds = 5
[all.search]
lr = [1e-2, 1e-3]
weight_decay = [0.0, 1e-4]
[methods.plain]
[methods.variant]
paper = "robust-pu"
[methods.variant.fixed]
curriculum__max_rounds = 7
lr = 0.5
[methods.variant.search]
epochs = [1, 2]
"""
    plain, variant = parse(tmp_path, HEAD + shared).methods
    assert (plain.estimator, plain.paper) == ("robust-pu", "plain")
    assert plain.fixed == {"epochs": 10, "curriculum__max_rounds": 5}
    assert plain.search == {"lr": [1e-2, 1e-3], "weight_decay": [0.0, 1e-4]}
    assert variant.paper == "robust-pu"
    # Settings of the method, fixed or searched, override shared ones.
    assert variant.fixed == {"curriculum__max_rounds": 7, "lr": 0.5}
    assert variant.search == {"weight_decay": [0.0, 1e-4], "epochs": [1, 2]}


def test_a_method_may_be_like_another(tmp_path):
    text = """
[methods.first]
estimator = "nnpu"
label = "First"
paper = "nnpu"
x = 1.0
[methods.first.fixed]
epochs = 3
[methods.first.search]
lr = [1e-2, 1e-3]
[methods.second]
like = "first"
average = 2
[methods.second.fixed]
lr = 0.5
[methods.pn]
[methods.third]
like = "pn"
"""
    first, second, _, third = parse(tmp_path, HEAD + text).methods
    assert third.estimator == "pn"
    assert (first.average, second.average) == (1, 2)
    assert second.estimator == "nnpu"
    # Settings are taken over, names are not.
    assert (second.label, second.paper, second.x) == ("second", "second", None)
    assert second.fixed == {"epochs": 3, "lr": 0.5}
    assert second.search == {}
    assert first.search == {"lr": [1e-2, 1e-3]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[budget.mnist]\ntrail = 4", r"'trail' in \[budget.mnist\]: did you mean 'trials'"),
        ("[budget.cifar10]\ntrials = 4", r"'cifar10' in \[budget\]"),
        ("[budget.mnist]\ntrials = 0", "trials must be a whole number at least 1"),
        (
            "[methods.two]\nlike = 'pn'",
            "like of .methods.two. must name a method above it; it is 'pn'",
        ),
        (
            "[methods.two]\naverage = 0",
            "average of .methods.two. must be a whole number at least 1",
        ),
        ("[methods.two]\nlike = 'two'", "must name a method above it"),
        ('[methods.upu]\nlabel = "a\\u001bb"', "label of .methods.upu. must be text in one line"),
        ("[budget.mnist]\ncandidates = 99999999", "candidates must be .* at most 10000"),
        ("[all]\nlabel = 'x'", r"'label' in \[all\]"),
        ("[all.fixed]\nlr = 1\n[all.search]\nlr = [1]", "lr of .* is fixed and searched"),
    ],
)
def test_what_is_wrong_there_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        parse(tmp_path, HEAD + text + "\n[methods.pn]")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("trials = 3", "trails = 3", "unknown key 'trails' in the file: did you mean 'trials'"),
        ("n_test = 50", "n_tests = 50", r"'n_tests' in \[sizes\]: did you mean 'n_test'"),
        ("n_test = 60", "ntest = 60", r"'ntest' in \[sizes.mnist\]: did you mean 'n_test'"),
        ("[sizes.mnist]", "[sizes.cifar10]", r"unknown key 'cifar10' in \[sizes\]"),
        ("label =", "lable =", r"'lable' in \[methods.welsch\]: did you mean 'label'"),
        ("welsch.fixed]", "welsch.fix]", r"'fix' in \[methods.welsch\]: did you mean 'fixed'"),
        ("datasets.mnist]", "datasets.mist]", "'mist' in .*: did you mean 'mnist'"),
        ("datasets.mnist]", "datasets.cifar10]", "unknown key 'cifar10'"),
        ('"spambase"]', '"spam_base"]', "'spam_base' for datasets: did you mean 'spambase'"),
        ('"spambase"]', '"mnist"]', "'mnist' is in datasets twice"),
        ('"spambase"]', "3]", "unknown 3 for datasets"),
        ('["mnist", "spambase"]', "[]", "datasets is empty"),
        ("[0.2, 0.4]", "[0.2, 0.2]", "0.2 is in priors twice"),
        ("[0.2, 0.4]", "[0.2, 1.4]", "priors: prior must be a number between 0 and 1"),
        ("[0.2, 0.4]", "[nan]", "priors: prior must be a number"),
        ("[0.2, 0.4]", '["0.2"]', "priors: prior must be a number"),
        ("[0.2, 0.4]", "[]", "priors is empty"),
        ('selection = "pu"', 'selection = ["pu", "oracel"]', "did you mean 'oracle'"),
        ('selection = "pu"', "", "the file has no 'selection'"),
        ("priors = [0.2, 0.4]", "", "the file has no 'priors'"),
        ('tune = "trial"', 'tune = "trials"', "did you mean 'trial'"),
        ('"overlapping"', '"overlap"', "did you mean 'overlapping'"),
        ('table = "main"', 'table = "mian"', "did you mean 'main'"),
        ('title = "Table 3"', "title = 3", "title must be text"),
        ("trials = 3", "trials = 0", "trials must be a whole number at least 1"),
        ("trials = 3", "trials = 1.5", "trials must be a whole number"),
        ("trials = 3", "trials = true", "trials must be a whole number"),
        ("candidates = 5", "candidates = -1", "candidates must be a whole number"),
        ("seed = 7", "seed = 2020-01-01", "seed must be a whole number"),
        ("n_test = 60", "n_test = 0", "n_test of mnist must be a whole number at least 1"),
        ("n_test = 60", 'n_test = "60"', "n_test of mnist must be a whole number"),
        ("x = 2", 'preset = "paper"', r"unknown key 'preset' in \[methods.welsch\]"),
        ("x = 2", 'x = "2"', r"x of \[methods.welsch\] must be a number"),
        ("x = 2", "x = nan", r"x of \[methods.welsch\] must be a number"),
        ("x = 2", "x = 2\nsearch = 3", r"methods.welsch.search must be a section, \[meth"),
        ("[sizes.mnist]\nn_test = 60\nn_positive = 70", "mnist = 3", "sizes.mnist must be a sect"),
        ('label = "Welsch"', "label = 1", r"label of \[methods.welsch\] must be text"),
        ('"robust-pu"', '"robustpu"', "did you mean 'robust-pu'"),
        ('estimator = "robust-pu"', "", r"unknown 'welsch' for estimator of \[methods.welsch\]"),
        ("lr = [1e-2, 1e-3]", "lr = []", r"lr in \[methods.nnpu.search\] must be a list"),
        ("lr = [1e-2, 1e-3]", "lr = 1e-2", "A single value belongs under fixed"),
        ("high = 1e-2", "high = 1e-5", r"high of weight_decay in .* above 0.0001"),
        (
            "[methods.nnpu.search]",
            "[methods.nnpu.fixed]\nlr = 1\n[methods.nnpu.search]",
            "lr of .*methods.nnpu.* is fixed and searched",
        ),
        ('patience = "none"', "random_state = 1", "random_state of .* cannot be set"),
        ('patience = "none"', "pretrain__device = 1", "pretrain__device of .* cannot be set"),
        ("trials = 3", "trials = = 3", "line"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    assert old in FULL
    with pytest.raises(ValueError, match=message):
        parse(tmp_path, FULL.replace(old, new))


@pytest.mark.parametrize("methods", ["methods = {}", 'methods = ["pn"]', "methods.pn = 1"])
def test_methods_must_be_sections(tmp_path, methods):
    with pytest.raises(ValueError, match="methods"):
        parse(tmp_path, HEAD + methods)


def test_a_prior_keeps_the_digits_of_a_record(tmp_path):
    text = HEAD.replace("[0.2, 0.4]", "[0.33333333333]") + "[methods.pn]"
    assert parse(tmp_path, text).priors == (0.333333,)


def test_none_is_a_choice_too(tmp_path):
    experiment = parse(tmp_path, HEAD + '[methods.pn.search]\npatience = ["none", 5]')
    assert experiment.methods[0].search == {"patience": [None, 5]}


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text("\ufeff" + HEAD + "[methods.pn]", encoding="utf-8")
    assert read(path).methods[0].name == "pn"
