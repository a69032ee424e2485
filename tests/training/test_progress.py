import io

from rich.console import Console

from robustpu.training.progress import bar


def test_the_bar_shows_the_share_done():
    out = io.StringIO()
    with bar("fitting", Console(file=out, force_terminal=True, width=80)) as report:
        report(0, 10)
        report(10, 10)
    assert "fitting" in out.getvalue()
    assert "100%" in out.getvalue()
