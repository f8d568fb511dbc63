"""Names and values that a library reads as something else: dollars, infinity, names that are one to Python."""

import numpy as np
import pandas as pd

from commands import call


def odd():
    n = 60
    return pd.DataFrame(
        {
            "salary $ (gross_$)": ["$0 - $10 000", "$10 000 - $20 000"] * (n // 2),
            "x$y_$": np.arange(n) % 7,
            "caf\u00e9": range(n),
            "cafe\u0301": list("ab") * (n // 2),  # the same name to Python
            "\uff53\uff45\uff58": list("mf") * (n // 2),
            "sex": list("mf") * (n // 2),
            "rate": [np.inf, -np.inf, *(i / 3 for i in range(n - 2))],
        }
    )


def test_a_file_with_odd_names_and_values_is_opened(tmp_path):
    odd().to_csv(tmp_path / "odd.csv", index=False)
    call(tmp_path, "open", "odd.csv", code=0)
    assert (tmp_path / "recipe.yaml").stat().st_mode & 0o077 == 0


def test_open_writes_over_no_recipe_and_no_data(tmp_path):
    odd().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "r.yaml").write_text("mine")
    for line in ("open a.csv --out r.yaml", "open a.csv --out a.csv", "open a.csv --out a.csv --force"):
        call(tmp_path, line, code=2)
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "r.yaml"}
    assert (tmp_path / "r.yaml").read_text() == "mine"
