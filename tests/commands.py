"""The command line in this process: calls of tests share what is imported, which takes a second or more each."""

import contextlib
import io
import os
import shlex
import signal
import sys
import warnings
from subprocess import CompletedProcess

import pytest
from typer.testing import CliRunner

from reident.cli import app, main


def call(folder, *arguments, code=None):
    """Do what `reident ARGUMENTS` does in a folder; `test_cli`, the faults and the browser start processes.

    The first argument is split at its blanks; `code` is that with which it must end. It has one processor: to start
    workers takes longer than the sweeps of a test.
    """
    line, out, err = ["reident", *shlex.split(arguments[0]), *map(str, arguments[1:])], io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("default")  # in a process of its own a warning is no error
        patch.setattr(sys, "argv", line)
        patch.setattr(signal, "signal", lambda *_: None)
        patch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        with pytest.raises(SystemExit) as ended:
            main()
    done = CompletedProcess(line, ended.value.code or 0, out.getvalue(), err.getvalue())
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def checked(*arguments):
    """Run `reident check` and keep the exception with which it ends."""
    return CliRunner().invoke(app, ["check", *map(str, arguments)])
