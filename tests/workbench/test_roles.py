import numpy as np
import pandas as pd
import pytest

from reident.workbench.opening import describe


def test_roles_are_proposed_with_a_reason():
    n = 200
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "patient_id": np.arange(n),
            "mail": [f"p{i}@example.org" for i in range(n)],
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["01067", "10115"], n),
            "remarks": [f"was seen on day {i} and again later, see letter of the ward" for i in range(n)],
            "hhid": np.arange(n) // 3,
            "weight": rng.uniform(200, 900, n),
            "weight_kg": rng.uniform(50, 90, n),
            "income": rng.normal(9, 1, n),
            "latitude": rng.uniform(50, 51, n),
            "longitude": rng.uniform(8, 9, n),
            "serum": rng.normal(0, 1, n),
            "site": ["A"] * n,
        }
    )
    found = describe(frame, {})
    assert found.columns.set_index("column")["role"].to_dict() == {
        "patient_id": "identifier", "mail": "identifier", "sex": "quasi-identifier", "zip": "quasi-identifier",
        "remarks": "free text", "hhid": "household", "weight": "weight", "weight_kg": "quasi-identifier",
        "income": "sensitive", "latitude": "place", "longitude": "place", "serum": "other", "site": "other",
    }  # fmt: skip
    assert (found.columns["reason"].str.len() > 10).all()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Haushalt-Nr", "household"), ("hh_id", "household"), ("Hochrechnungsfaktor", "weight"), ("wgt", "weight"),
        ("Hauptdiagnose", "sensitive"), ("Nettoeinkommen", "sensitive"), ("outcome_diag", "sensitive"),
        ("groesse", "quasi-identifier"), ("Größe", "quasi-identifier"), ("Jahr der Geburt", "quasi-identifier"),
        ("Telefonnummer", "identifier"), ("prostate", "other"), ("estate", "other"),
    ],
)  # fmt: skip
def test_roles_are_proposed_in_english_and_german(name, role):
    rng = np.random.default_rng(0)
    values = {
        "household": np.arange(200) // 3, "weight": rng.uniform(200, 900, 200), "identifier": np.arange(200) + 10**9
    }.get(role, rng.normal(7, 2, 200))  # fmt: skip
    found = describe(pd.DataFrame({name: values, "x1": rng.normal(size=200)}), {})
    assert found.columns.set_index("column")["role"][name] == role


@pytest.mark.parametrize("ends", [("Von", "An"), ("od", "do"), ("van", "naar"), ("de", "à")])
def test_relations_are_found_by_names_in_several_languages(ends):
    rng = np.random.default_rng(0)
    pairs = pd.DataFrame(rng.integers(0, 60, (300, 2)), columns=list(ends)).drop_duplicates()
    pairs = pairs[pairs[ends[0]] < pairs[ends[1]]].assign(since=2001)
    roles = describe(pairs, {}).columns.set_index("column")["role"]
    assert roles[list(ends)].tolist() == ["node", "node"]
