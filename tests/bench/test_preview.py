import io

from rich.console import Console

from robustpu.bench.preview import show


def shown(cells, missing, workers=1):
    left = {cell: frozenset(range(cell.trials)) for cell in missing}
    console = Console(file=io.StringIO(), width=80)
    show(cells, left, "cpu", workers, console)
    return console.file.getvalue()


def test_plan_and_cost(cells):
    text = shown(cells, cells)
    assert "Small" in text
    row = next(line for line in text.splitlines() if "nnpu" in line)
    # Cells, finished, settings, networks (2 x 2 trials x 2 settings), epochs.
    assert row.split()[:7] == ["digits", "nnpu", "2", "0", "2", "8", "24"]
    assert "4 cells, 0 of them finished" in text
    assert "12 networks in 4 fleets, 32 epochs of single networks" in text
    # 16 epochs with all 90 rows, 16 with a tenth held out.
    assert "2,736 rows" in text
    assert "An estimate" in text


def test_what_is_finished_costs_nothing(cells):
    text = shown(cells, cells[:1])
    assert "4 cells, 3 of them finished. To do: 1 cell, 2 networks" in text
    text = shown(cells, [])
    assert "4 of them finished. To do: 0 cells, 0 networks" in text
    assert "About" not in text


def test_workers_share_the_time(cells):
    assert "with 2 workers" in shown(cells, cells, workers=2)
