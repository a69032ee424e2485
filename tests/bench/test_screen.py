import io

import pytest
from rich.console import Console

from robustpu.bench.screen import LiveScreen, PlainScreen, open_screen, reason, summary


def good(error, seconds=1.0):
    return {"scores": {"error": error}, "seconds": seconds}


BAD = {"failure": "ValueError: no\n  room", "seconds": 0.0}


@pytest.fixture
def terminal():
    given = {
        "force_terminal": True,
        "width": 100,
        "color_system": None,
        "_environ": {"TERM": "xterm"},
    }
    return Console(file=io.StringIO(), **given)


@pytest.fixture
def paper():
    return Console(file=io.StringIO(), width=200)


def test_a_summary_in_one_line(cells):
    assert summary(cells[0], [good(2.0), good(4.0)]) == (
        "small: digits/pn/0.4/oracle, error 3.00 ± 1.41 %, 2 trials, 2.0 s"
    )
    assert summary(cells[0], [good(2.0)]).endswith("error 2.00 %, 1 trials, 1.0 s")
    assert summary(cells[0], [BAD, BAD]).endswith("2 trials failed: ValueError: no room")
    mixed = summary(cells[0], [good(2.0), BAD])
    assert "error 2.00 %" in mixed
    assert "1 trials failed" in mixed


def test_the_reason_is_empty_without_failures():
    assert reason([good(1.0)]) == ""
    assert reason([good(1.0), BAD]) == "ValueError: no room"


def test_a_dumb_terminal_gets_plain_lines(cells):
    dumb = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    assert isinstance(open_screen(dict.fromkeys(cells, 1.0), 1, False, dumb), PlainScreen)


def test_the_screen_suits_the_terminal(cells, terminal, paper):
    work = dict.fromkeys(cells, 1.0)
    assert isinstance(open_screen(work, 1, False, terminal), LiveScreen)
    assert isinstance(open_screen(work, 1, True, terminal), PlainScreen)
    assert isinstance(open_screen(work, 1, False, paper), PlainScreen)


@pytest.mark.parametrize(("quiet", "lines"), [(False, 2), (True, 1)])
def test_plain_lines(cells, paper, quiet, lines):
    with PlainScreen(4, quiet, paper) as screen:
        screen.watch(cells[0], 0, 0)
        screen.finished(cells[0], [good(1.0)])
        screen.finished(cells[1], [BAD])
    shown = paper.file.getvalue().splitlines()
    assert len(shown) == lines
    assert shown[-1].startswith("[2/4] small: digits/nnpu/0.4/oracle, 1 trials failed")


def test_the_live_screen_shows_all_that_goes_on(cells, terminal):
    screen = LiveScreen(dict.fromkeys(cells, 1.0), 2, terminal)
    screen.watch(cells[0], 0, 0)
    screen.watch(cells[1], 0, 0)
    screen.watch(cells[1], 250, 1000)
    text = drawn(screen, terminal)
    assert "0 of 4 cells" in text
    assert "digits/pn/0.4/oracle" in text
    assert "reading" in text
    assert "250 of 1,000 epochs" in text
    assert " left" in text
    assert "failed" not in text

    screen.finished(cells[0], [good(2.5)])
    screen.finished(cells[1], [BAD])
    text = drawn(screen, terminal)
    assert "2 of 4 cells" in text
    assert "1 failed" in text
    assert "error 2.50 %" in text
    assert "ValueError: no room" in text
    assert "epochs" not in text


def test_the_live_screen_runs_and_ends(cells, terminal):
    with LiveScreen(dict.fromkeys(cells[:1], 1.0), 1, terminal) as screen:
        screen.watch(cells[0], 0, 0)
        screen.watch(cells[0], 1, 2)
        screen.finished(cells[0], [good(2.5)])
    assert "1 of 1 cells" in terminal.file.getvalue()


def drawn(screen, terminal):
    terminal.file.truncate(0)
    terminal.print(screen.render())
    return terminal.file.getvalue()
