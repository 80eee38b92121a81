"""The real server over a prepared memory, and one headless Chromium for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsed import Browsed, prepare
from browsing import DESKTOP, Page, chromium
from selenium import webdriver
from server_process import ServerProcess, serving


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Browsed:
    return prepare(tmp_path_factory.mktemp("memory") / "browsed.db")


@pytest.fixture(scope="session")
def server(memory: Browsed) -> Iterator[ServerProcess]:
    with serving(memory.path, "--no-work", "--rate-limit", "0") as running:
        yield running


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: webdriver.Chrome, server: ServerProcess) -> Iterator[Page]:
    """A desktop window with the light theme and no state of earlier tests."""
    looked = Page(browser, server.url).sized(DESKTOP).scheme("light").scripts(on=True)
    yield looked.forget()
    looked.scripts(on=True)
    browser.delete_all_cookies()
    looked.command("Storage.clearDataForOrigin", origin=server.url.rstrip("/"), storageTypes="local_storage")
    browser.get("about:blank")
