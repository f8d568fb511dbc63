"""The explorer, the page for own data and the map in a real browser: what is clicked is what happens."""

import shutil

import pandas as pd
import pytest

import reident

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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
