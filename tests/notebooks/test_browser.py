"""The explorer, the page for own data and the map in a real browser: what is clicked is what happens."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pandas as pd
import pytest

import reident
from office import office
from reident.data._paths import notebooks_folder

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: What one step may take on a machine that does other things as well, milliseconds.
PATIENCE = 540_000


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(tmp_path) -> dict[str, str]:
    """Return the environment of a server: this package, the settings of Jupyter in temporary folders."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    names += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    source = str(Path(reident.__file__).resolve().parents[1])
    return {
        **os.environ,
        **{name: str(tmp_path / name.lower()) for name in names},
        "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]),
    }


@contextmanager
def _served(command, tmp_path, **kws):
    """Run a server, and end it."""
    server = subprocess.Popen([sys.executable, "-m", *command], env=_environment(tmp_path), **kws)
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdout is not None:
            server.stdout.close()


@pytest.fixture(scope="module")
def chromium():
    """Give a chromium, one for all tests, and the module that drives it."""
    if CHROMIUM is None:
        pytest.skip(
            "no chromium: install the system's package `chromium` (or `chromium-browser`); without it what is clicked "
            "is tested in test_wizard.py and test_explorer.py, and only the browser's own part is not"
        )
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser, sync_api
        browser.close()


@pytest.fixture
def lab(tmp_path):
    """JupyterLab on loopback with a token, its settings in temporary folders."""
    root = tmp_path / "root"
    root.mkdir()
    notebook = nbformat.read(notebooks_folder() / "10-risk-utility-explorer.ipynb", as_version=4)
    # The two maps are drawn in the test of all notebooks; here it is the explorer that must answer.
    wanted = ("parameters", "explorer = Explorer(")
    notebook.cells = [
        cell
        for cell in notebook.cells
        if wanted[0] in cell.metadata.get("tags", []) or wanted[1] in cell.source or "import Explorer" in cell.source
    ]
    nbformat.write(notebook, root / "explorer.ipynb")
    port, token = _free_port(), secrets.token_hex(16)
    command = [
        "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with (tmp_path / "lab.log").open("wb") as log, _served(command, tmp_path, stdout=log, stderr=log) as server:
        _wait(port, token, server)
        yield f"http://127.0.0.1:{port}/lab/tree/explorer.ipynb?token={token}&reset"


def _wait(port: int, token: str, server: subprocess.Popen) -> None:
    for _ in range(600):
        assert server.poll() is None, "JupyterLab ended at once"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={token}", timeout=5) as answer:
                assert "started" in json.load(answer)
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not answer")


def _run_all_cells(page, wanted, timeout_error) -> None:
    """Run the notebook by its menu until `wanted` appears.

    The kernel is idle before the notebook takes commands, and a command that comes too early does nothing.
    """
    for patience in (60_000, 120_000, PATIENCE):
        page.wait_for_timeout(1000)
        page.keyboard.press("Escape")
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        page.wait_for_timeout(500)
        page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        try:
            wanted.wait_for(timeout=patience)
        except timeout_error:
            continue
        return
    raise AssertionError("the notebook did not run")


def _picture(page, name, tmp_path) -> None:
    folder = Path(os.environ.get("REIDENT_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"{name}.png", full_page=True)


@pytest.mark.slow
@pytest.mark.notebook
def test_explorer_in_the_browser(lab, chromium, tmp_path):
    """The map fills and stands beside its controls, a limit moves the advice, a click gives code, Stop stops."""
    browser, sync_api = chromium
    page = browser.new_page(viewport={"width": 1500, "height": 1200})
    page.set_default_timeout(PATIENCE)
    page.goto(lab)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    run = page.get_by_role("button", name="Draw the map")
    _run_all_cells(page, run, sync_api.TimeoutError)
    run.click()
    releases = page.locator("svg [role=button]")
    releases.nth(1).wait_for()
    page.locator("button.widget-button", has_text="Stop").click()
    page.get_by_text("Stopped after").or_(page.get_by_text("9 of 9 releases")).wait_for()
    advice = page.locator("svg[role=group] > text[font-weight=bold]").first
    before = advice.text_content()
    limit = page.locator("svg[role=group] [role=slider]")
    limit.focus()
    for _ in range(3):
        limit.press("ArrowUp")
    sync_api.expect(advice).not_to_have_text(before)
    releases.first.click(force=True)
    page.get_by_text("rd.protect(data").first.wait_for()
    map_box, run_box = page.locator("svg[role=group]").bounding_box(), run.bounding_box()
    assert map_box["x"] + map_box["width"] <= run_box["x"], "the map is not beside its controls"
    _picture(page, "explorer", tmp_path)
    assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    page.close()


@pytest.mark.slow
@pytest.mark.notebook
def test_the_page_for_own_data_does_what_the_commands_do(chromium, tmp_path):
    """From an office file to the checked release by clicks; the script that the page hands out writes the same."""
    pytest.importorskip("voila", reason="voila is not installed")
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        office(150).drop(columns=["Breite", "Länge"]).to_csv(
            folder / "patienten.csv", sep=";", index=False, encoding="latin-1"
        )
    browser, sync_api = chromium
    command = ["reident.cli", "app", "patienten.csv", "--no-browser", "--profile", "smoke", "--jobs", "1"]
    with (
        (tmp_path / "app.log").open("wb") as log,
        _served(command, tmp_path, cwd=here, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        address = server.stdout.readline().strip()
        page = browser.new_page(viewport={"width": 1500, "height": 1200})
        page.set_default_timeout(PATIENCE)
        asked: set[str] = set()
        page.on("requestfinished", lambda request: asked.add(urllib.parse.urlsplit(request.url).netloc))
        _open(page, address, sync_api)
        assert _answer(address.partition("?")[0]) != 200, "the page is served without its token"
        page.get_by_text("150 records, 8 columns").wait_for()
        for column in ("PLZ", "Beruf", "Aufnahme"):
            page.get_by_label(column, exact=True).select_option("other")
        page.locator("select[multiple]").select_option(["k-anonymity, Mondrian", "rounding"])
        page.get_by_role("button", name="Assess").click()
        page.locator("svg [role=button]").first.wait_for()
        page.get_by_text("Done.").wait_for()
        page.get_by_role("button", name="Make the release").click()
        page.get_by_text("passed: at most").wait_for()
        with page.expect_download() as script:
            page.get_by_role("link", name="reident.sh").click()
        script.value.save_as(there / "reident.sh")
        with page.expect_download() as report:
            page.get_by_role("link", name="report/report.html").click()
        report.value.save_as(tmp_path / "report.html")
        _picture(page, "app", tmp_path)
        page.set_viewport_size({"width": 600, "height": 900})
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 600
        _picture(page, "app-600", tmp_path)
        assert len(re.findall(rb"/Type */Page\b", page.pdf())) > 1, "what is printed ends with the screen"
        unnamed = page.locator("[role=slider]:not([aria-label]), select:not([id]), input:not([id]), img:not([alt])")
        assert unnamed.count() == 0, unnamed.first.evaluate("e => e.outerHTML")
        assert {one for one in asked if one} == {urllib.parse.urlsplit(address).netloc}
        page.close()
    shim = tmp_path / "bin" / "reident"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reident.cli "$@"\n')
    shim.chmod(0o755)
    environment = {**_environment(tmp_path), "PATH": os.pathsep.join([str(shim.parent), os.environ["PATH"]])}
    done = subprocess.run(["sh", "reident.sh"], cwd=there, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ours, theirs = (
        {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        for folder in (here, there)
    )
    ours, theirs = ({n: p for n, p in one.items() if "/.work/" not in n and n[-3:] != ".sh"} for one in (ours, theirs))
    assert set(ours) == set(theirs)
    drawn = {name for name in ours if "/release" in name or "/check/" in name}
    assert len(ours) - len(drawn) >= 10
    different = [name for name in set(ours) - drawn if ours[name].read_bytes() != theirs[name].read_bytes()]
    assert not different
    assert (tmp_path / "report.html").read_bytes() == ours["patienten-reident/report/report.html"].read_bytes()
    # Noise is drawn from the operating system: the same columns and promises, the same verdict.
    releases = [
        pd.read_csv(one["patienten-reident/release/release.csv"], sep=";", encoding="latin-1") for one in (ours, theirs)
    ]
    assert list(releases[0].columns) == list(releases[1].columns)
    manifests = [json.loads(one["patienten-reident/release/manifest.json"].read_text()) for one in (ours, theirs)]
    for name in ("chain", "method", "parameters", "columns", "guarantee"):
        assert manifests[0].get(name) == manifests[1].get(name)
    verdicts = [json.loads(one["patienten-reident/check/verdict.json"].read_text()) for one in (ours, theirs)]
    assert all(one["passed"] for one in verdicts)


def _open(page, address, sync_api) -> None:
    """Open a page as soon as its server answers."""
    for _ in range(300):
        try:
            page.goto(address)
            return
        except sync_api.Error:
            page.wait_for_timeout(300)
    raise AssertionError("the page was not served")


def _answer(address: str) -> int:
    """Return the status of an address that nobody is redirected from."""

    class _Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        with urllib.request.build_opener(_Stay).open(address, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.slow
@pytest.mark.parametrize("width", [1500, 700])
def test_interactive_map_in_the_browser(chromium, tmp_path, width):
    """Hover tells a release, arrow keys move the limit and with it the advice, a click shows the code; offline.

    The upper ends of the bars decide, not the mean risk.
    """
    trials = pd.DataFrame(
        {
            "m": ["noise"] * 2 + ["grid"] * 2,
            "size": [1, 2, 1, 2],
            "risk": [0.8, 0.3, 0.6, 0.1],
            "use": [0.9, 0.6, 0.7, 0.4],
        }
    )
    frame = reident.ru_frame(
        trials, method="m", parameter="size", risk="risk", utility="use", attack="clique", analysis="neighbours"
    )
    file = tmp_path / "map.html"
    file.write_text(reident.ru_map_page(frame, limit=0.35, codes={("grid", "2"): "reident.places.mask_grid(points)"}))
    refused = frame.assign(refused=[None, "another attack", None, "another attack"], n=2, undominated=0.25)
    (tmp_path / "refused.html").write_text(reident.ru_map_page(refused, limit=0.5))
    browser, sync_api = chromium
    page = browser.new_page(viewport={"width": width, "height": 900}, offline=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    advice = page.locator("svg > text[font-weight=bold]").first
    sync_api.expect(advice).to_contain_text("with a risk of at most 0.35: noise, size 2 (risk 0.3, utility 0.6)")
    releases = page.get_by_role("button")
    assert releases.count() == 4
    releases.nth(0).hover()
    page.get_by_text("noise, size 1: risk 0.8").wait_for()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(10):
        slider.press("ArrowDown")
    sync_api.expect(advice).to_contain_text("grid, size 2 (risk 0.1, utility 0.4)")
    releases.nth(3).click()
    page.get_by_text("reident.places.mask_grid(points)").wait_for()
    boxes = [text.bounding_box() for text in page.locator("svg text").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes if box)
    page.goto((tmp_path / "refused.html").as_uri())
    sync_api.expect(advice).to_have_text("No release of this map has a risk of at most 0.5.")
    releases.nth(3).hover()
    page.get_by_text("at least: refused by another attack").wait_for()
    page.get_by_text("on the frontier in 25 % of draws").wait_for()
    long = frame.replace({"method": {"noise": "a method with a name that needs a second line above the map"}})
    file.write_text(reident.ru_map_page(long, limit=0.35))
    page.goto(file.as_uri())
    releases.nth(0).hover()
    sync_api.expect(advice).to_contain_text("second line above the map, size 2 (risk 0.3, utility 0.6)")
    cut = "[...document.querySelectorAll('svg > text')].filter(e => e.getBBox().x + e.getBBox().width > 640).length"
    assert page.evaluate(cut) == 0
    assert not errors
