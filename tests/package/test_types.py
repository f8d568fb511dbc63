import os
import subprocess
import sys
from pathlib import Path

import pytest

import reident

SCRIPT = """
import pandas as pd
import reident as rd

people = pd.DataFrame({"lat_deg": [50.1, 50.2], "lon_deg": [8.6, 8.7]})
moved = rd.places.mask_disc(people, radius_m=100.0, rng=1)
share: float = rd.linkage_quality(pd.DataFrame(), pd.DataFrame()).precision
rd.mask_disk
rd.places.mask_disc(people, radius=1.0)
wrong: str = rd.linkage_quality
"""
WRONG = {
    8: 'has no attribute "mask_disk"',
    9: 'Unexpected keyword argument "radius"',
    10: "Incompatible types in assignment",
}


#: Types of other packages take ten times as long to read and are not needed here.
OURS_ALONE = """
[mypy]
follow_imports = skip
[mypy-numpy,numpy.*]
follow_imports_for_stubs = True
[mypy-reident,reident.*]
follow_imports = silent
"""


@pytest.mark.slow
def test_a_users_script_is_type_checked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(OURS_ALONE)
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--config-file", str(tmp_path / "mypy.ini")]
    command += ["--cache-dir", str(tmp_path / "cache"), str(script)]
    environment = {**os.environ, "MYPYPATH": str(Path(reident.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    complaints = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if ": error:" in line}
    assert set(complaints) == set(WRONG), done.stdout
    assert all(said in complaints[number] for number, said in WRONG.items())
