"""A dask cluster on this machine to which no other user of it has access."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from reident.base.errors import ParameterError
from reident.base.isolation import SAFE_PATH

#: A task whose workers died oftener than this is suspected of killing them.
_ALLOWED_FAILURES = 2

# dask writes these into our own environment, too, whenever a worker starts or is replaced. So numba is not among them:
# it reads its variable again at each compilation, and fails when that differs from the threads it has.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1") | SAFE_PATH


def check_main(n_workers: int) -> None:
    """Refuse a script that never asks for its ``__name__``: each worker imports it, and would start workers, too.

    Not the ``__main__.py`` of a package.
    """
    import __main__

    script = Path(getattr(__main__, "__file__", None) or "")
    if script.name != "__main__.py" and script.is_file() and b"__name__" not in script.read_bytes():
        raise ParameterError(
            f"`jobs` must be 1, got {n_workers}: each worker imports {script.name!r}, whose calls must stand below "
            'if __name__ == "__main__":'
        )


def local_cluster(n_workers: int) -> Any:
    """Start a dask cluster of single-threaded worker processes.

    Its connections are encrypted and ask for a certificate that exists for this cluster alone: a client of another
    user of the machine could otherwise run code in the workers. They import nothing from the working directory.

    Parameters
    ----------
    n_workers : int
        How many processes.

    Returns
    -------
    distributed.LocalCluster
        The cluster; ``distributed.Client(cluster)`` has its certificate.

    Raises
    ------
    ParameterError
        If the script that runs has no guard, see `check_main`.
    """
    check_main(n_workers)
    import dask
    from distributed import LocalCluster

    settings = {
        # Without dask's MALLOC_TRIM_THRESHOLD_, which gives every array of a trial new pages: they can cost as much as
        # the trial itself.
        "distributed.nanny.pre-spawn-environ": _ENVIRONMENT,
        "distributed.scheduler.allowed-failures": _ALLOWED_FAILURES,
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        # Looking a hundred times a second at what a trial does, and fifty times whether anything hangs, takes a
        # twentieth of a processor for each process.
        "distributed.worker.profile.enabled": False,
        # Their web pages ask for no certificate.
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "5s",
    }
    # A worker that a busy machine is slow to replace would be given up after 15 s, and with the last one the sweep
    # would wait for ever. It is read at that moment, so it is a default; what the user has set stays.
    dask.config.update_defaults({"distributed": {"deploy": {"lost-worker-timeout": "1h"}}})
    environ = dict(os.environ)
    os.environ.update(SAFE_PATH)  # for the process that Python starts beside the first worker
    try:
        with dask.config.set(settings):
            return LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                security=True,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,  # a worker that ends logs its lost heartbeat as an error
            )
    finally:  # dask sets the workers' threads by way of our own environment, which is not to keep them
        os.environ.clear()
        os.environ.update(environ)
