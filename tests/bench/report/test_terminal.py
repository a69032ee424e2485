from io import StringIO

from made import table3, temperature, trials
from rich.console import Console

from robustpu.bench.report.tables import tables
from robustpu.bench.report.terminal import show


def shown(records, width=100):
    stream = StringIO()
    show(tables(records), Console(file=stream, width=width))
    return stream.getvalue()


def test_ours_the_papers_and_the_summary():
    records = trials([3.0, 3.2] * 5, method="robust-pu", label="Robust-PU")
    text = shown(records + trials([9.0, 9.5] * 5))
    assert "* 3.10 ± 0.11\n" in text
    assert "≤ 3.28 ± 0.3\n" in text
    assert "> 7.38 ± 0.9\n" in text
    assert "Lowest error in the 1 cell where both single networks have the same" in text


def test_a_narrow_terminal_gets_every_column_in_pieces():
    text = shown(table3(), width=40)
    assert max(map(len, text.splitlines())) <= 64  # the title is not wrapped
    assert text.count("mnist") == text.count("cifar10") == 2


def test_markup_in_files_is_plain_text():
    text = shown(trials([1.0], title="[bold]x[/bold]", label="[red]y", dataset="[z]"))
    assert "[bold]x[/bold]" in text
    assert "[red]y" in text
    assert "[z]" in text


def test_a_sweep_is_a_table_too():
    assert "τ = 0.5" in shown(temperature())
