"""One browser for all tests of the page."""

import pytest
from chromium import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()
