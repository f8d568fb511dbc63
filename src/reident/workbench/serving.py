"""Serve the wizard for one's own data as a page: Voila, to this machine alone, under a token."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import nbformat

from reident.base import (
    DataError,
    ParameterError,
    check_choice,
    check_integer,
    isolated_environment,
    private_file,
    scratch,
)
from reident.data.datasets import notebooks_folder
from reident.workbench.search import DRAWS

#: The notebook of which the page shows the cells with the tag "page".
NOTEBOOK = "11-assess-your-release"
_HOST = "127.0.0.1"
#: A page that was closed keeps its kernel, and the data in it, for so long.
_CULL_SECONDS = 300
#: A socket's path has at most 103 signs on macOS, and Voila adds 65 to that of the folder.
_LONGEST = 38
#: The page takes everything from its own server; what a template would fetch from elsewhere is refused.
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws: wss:; frame-ancestors 'self'"
)


def page(parameters: dict[str, object]) -> nbformat.NotebookNode:
    """Return the notebook's cells that belong to the page, with these parameters."""
    notebook = nbformat.read(notebooks_folder() / f"{NOTEBOOK}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if "page" in cell.metadata.get("tags", [])]
    assignments = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    last = max(i for i, cell in enumerate(cells) if "parameters" in cell.metadata["tags"])
    cells.insert(last + 1, nbformat.v4.new_code_cell(assignments))
    notebook.cells = cells
    return notebook


def serve(
    file: Path | None = None, *, port: int = 0, browser: bool = True, profile: str = "quick", jobs: int = 0
) -> None:
    """Serve the page until Ctrl-C; the address, with its token, is printed.

    Raises
    ------
    ParameterError
        If Voila is not installed, the port is not free, or the profile is unknown.
    DataError
        If there is no such file.
    """
    check_choice(profile, "profile", DRAWS)
    check_integer(jobs, "jobs", low=0)
    if file is not None and not file.is_file():
        raise DataError(f"`file` must name a file that exists, got {str(file)!r}")
    try:
        from voila.app import Voila
    except ImportError:
        raise ParameterError("`reident app` needs Voila: install the extra, pip install 'reident[app]'") from None
    port = _free(check_integer(port, "port", low=0, high=65_535))
    token = secrets.token_urlsafe(24)
    address = f"http://{_HOST}:{port}/?token={token}"

    class Page(Voila):  # type: ignore[misc]
        def launch_browser(self) -> None:
            _open_browser(address, Path.cwd())

    folder = Path.cwd()
    parameters = {"file": "" if file is None else str(file), "folder": str(folder), "profile": profile, "jobs": jobs}
    with scratch(longest=_LONGEST) as place:  # it holds names of files, no data
        nbformat.write(page(parameters), place / "reident.ipynb")
        arguments = [
            str(place / "reident.ipynb"), f"--port={port}", f"--Voila.ip={_HOST}", "--Voila.port_retries=0",
            f"--Voila.open_browser={browser}", "--Voila.log_level=WARN", f"--Voila.root_dir={place}",
            f"--Voila.connection_dir_root={place}", "--VoilaConfiguration.file_allowlist=[]",
            f"--MappingKernelManager.cull_idle_timeout={_CULL_SECONDS}",
            f"--MappingKernelManager.cull_interval={max(1, _CULL_SECONDS // 10)}",
        ]  # fmt: skip
        if sys.platform != "win32" and len(str(place)) <= _LONGEST:
            arguments.append("--KernelManager.transport=ipc")  # messages to the kernel pass no network
        print(f"{address}\nCtrl-C ends it.", flush=True)
        headers = {"headers": {"Content-Security-Policy": _POLICY}}
        os.environ.update(isolated_environment())
        with contextlib.chdir(place):  # Voila reads its configuration, and Python modules, where it starts
            Page.launch_instance(argv=arguments, token=token, tornado_settings=headers)


def _open_browser(address: str, folder: Path) -> None:
    """Open an address by a file that only this user can read: the list of processes would show the token."""
    leading = private_file(folder / "open.html")
    leading.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">', "utf-8")
    threading.Thread(target=webbrowser.open, args=(leading.as_uri(),), daemon=True).start()


def _free(port: int) -> int:
    with socket.socket() as probe:
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise ParameterError(f"`port` must be free on this machine, got {port}: {error.strerror}") from None
        return int(probe.getsockname()[1])
