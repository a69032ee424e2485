from robustpu.cli.drawing import strip


def test_numbers_out_of_range_stay_on_the_line():
    assert strip(7.0, -3.0, 2e9, 8) == "────────●"
    assert strip(-1.0, width=4) == "○····"
