"""The explorer in a real browser: the notebook opens and runs, the map fills, a control and a click change it."""

import json
import math
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pandas as pd
import pytest

import reident
from reident.data._paths import notebooks_folder
from reident.methods.outcome import LIMITS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: What one step may take on a machine that does other things as well, milliseconds.
PATIENCE = 540_000


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def lab(tmp_path):
    """JupyterLab on loopback with a token, its settings in temporary folders."""
    root = tmp_path / "root"
    root.mkdir()
    notebook = nbformat.read(notebooks_folder() / "10-risk-utility-explorer.ipynb", as_version=4)
    # The two maps are drawn in the test of all notebooks; here it is the explorer that must answer.
    notebook.cells = [
        cell for cell in notebook.cells if not ("risk_utility(" in cell.source or "frontier(" in cell.source)
    ]
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = cell.source.replace('profile = "quick"', 'profile = "smoke"')
    notebook.cells.append(nbformat.v4.new_code_cell("print('places', explorer.spots.to_json(orient='records'))"))
    nbformat.write(notebook, root / "explorer.ipynb")
    port, token = _free_port(), secrets.token_hex(16)
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    names += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    source = str(Path(__import__("reident").__file__).resolve().parents[1])
    environment = {**os.environ, **{name: str(tmp_path / name.lower()) for name in names}}
    environment["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with (tmp_path / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait(port, token, server)
            yield f"http://127.0.0.1:{port}/lab/tree/explorer.ipynb?token={token}&reset"
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


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
        page.wait_for_timeout(2000)
        page.keyboard.press("Escape")
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        page.wait_for_timeout(1500)
        page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        try:
            wanted.wait_for(timeout=patience)
        except timeout_error:
            continue
        return
    raise AssertionError("the notebook did not run")


def _places_of_points(page) -> list[dict]:
    """Run the last cell again, which prints where the points of the map are."""
    page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-editor").last.click()
    page.keyboard.press("Control+Enter")
    printed = page.locator(".jp-OutputArea-output", has_text="places [{").last
    printed.wait_for()
    return json.loads(printed.inner_text().partition("places")[2])


def _click_another_point(page, picture, sync_api) -> None:
    """Click the point farthest from the chosen one (the second) and see what is told change."""
    _, chosen, *others = sorted(_places_of_points(page), key=lambda spot: spot["row"])
    far = max(others, key=lambda spot: math.hypot(spot["x"] - chosen["x"], spot["y"] - chosen["y"]))
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    shrunk = box["width"] / picture.evaluate("image => image.naturalWidth")
    code, before = page.locator(".widget-html pre"), picture.get_attribute("src")
    told = code.inner_text()
    picture.click(position={"x": far["x"] * shrunk, "y": far["y"] * shrunk})
    sync_api.expect(code).not_to_have_text(told, timeout=PATIENCE)
    sync_api.expect(picture).not_to_have_attribute("src", before, timeout=PATIENCE)  # it is marked there


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_explorer_in_the_browser(lab, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 1200})
        page.set_default_timeout(PATIENCE)
        page.goto(lab)
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        run = page.get_by_role("button", name="Draw the map")
        _run_all_cells(page, run, sync_api.TimeoutError)
        run.scroll_into_view_if_needed()
        run.click()
        page.get_by_text("9 of 9 releases").wait_for()
        picture = page.locator("img.widget-image")
        picture.wait_for()
        page.get_by_text("reident.perturb_coordinates(").wait_for()
        before = picture.get_attribute("src")
        handle = page.locator(".widget-slider", has_text="tolerable risk").locator(".noUi-handle")
        handle.focus()
        handle.press("ArrowRight")
        page.get_by_text("0.30", exact=True).wait_for()
        sync_api.expect(picture).not_to_have_attribute("src", before, timeout=PATIENCE)
        _click_another_point(page, picture, sync_api)
        picture.scroll_into_view_if_needed()
        folder = Path(os.environ.get("REIDENT_SCREENSHOTS", tmp_path))
        page.screenshot(path=folder / "explorer.png")
        assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
        browser.close()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [1500, 700])
def test_interactive_map_in_the_browser(tmp_path, width):
    """Hover tells a release, arrow keys move the limit and with it the advice, a click shows the code; offline.

    Where the shares of persons above each limit are told, these decide, not the mean risk.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
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
    file.write_text(reident.ru_map_page(frame, risk_limit=0.35, codes={("grid", "2"): "reident.mask_grid(points)"}))
    shares = [[float(limit < last) for limit in LIMITS] for last in (0.9, 0.8, 0.7, 0.5)]
    judged = frame.assign(above_at=[json.dumps([0.3 * one for one in told]) for told in shares])
    (tmp_path / "judged.html").write_text(reident.ru_map_page(judged, risk_limit=0.49))
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900}, offline=True)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        advice = page.locator("svg > text[font-weight=bold]").first
        sync_api.expect(advice).to_have_text("Most useful with risk up to 0.35: noise, size 2 (risk 0.3, utility 0.6)")
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
        page.get_by_text("reident.mask_grid(points)").wait_for()
        boxes = [text.bounding_box() for text in page.locator("svg text").all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes if box)
        page.goto((tmp_path / "judged.html").as_uri())
        sync_api.expect(advice).to_have_text("No release has at most 0 % of persons above 0.49.")
        releases.nth(3).hover()
        page.get_by_text("30 % of persons above 0.49").wait_for()
        slider.focus()
        slider.press("ArrowUp")
        sync_api.expect(advice).to_contain_text("at most 0 % of persons above 0.5")
        sync_api.expect(advice).to_contain_text("grid, size 2 (risk 0.1, utility 0.4)")
        assert not errors
        browser.close()
