import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import reident as rd
from reident.base import DataError, ParameterError
from reident.data._yaml import read_yaml, write_yaml
from reident.workbench import open_dataset
from reident.workbench.opening import open_file
from reident.workbench.recipe import Recipe, open_by_recipe, read_recipe, recipe_of

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
ODD = st.sampled_from(
    ["NO", "on", "01067", "12:30", "1e5", "0o17", "0x1F", "1_000", "2024-02-29", "~", "", ".5", "=", "<<"]
)
VALUES = st.recursive(
    PLAIN | ODD, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4) | ODD, v, max_size=4)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[DE, NO, yes, off, y]", ["DE", "NO", "yes", "off", "y"]),
        ("[01067, 010, -012, 0]", ["01067", "010", "-012", 0]),
        ("[12:30, 1:2:3, 190:20:30.15]", ["12:30", "1:2:3", "190:20:30.15"]),
        ("[2024-02-29, 2024-02-29 10:00:00]", ["2024-02-29", "2024-02-29 10:00:00"]),
        ("[1e-3, 1E5, .5, 5., -0.25, +7]", [0.001, 1e5, 0.5, 5.0, -0.25, 7]),
        ("[0o17, 0x1F, 1_000, 0b1]", [15, 31, "1_000", "0b1"]),
        ("[~, null, true, False, .inf]", [None, None, True, False, float("inf")]),
        ("{NO: 1, 010: 2}", {"NO": 1, "010": 2}),
    ],
)
def test_plain_words_have_the_meaning_of_the_core_schema(text, value):
    found = read_yaml(text)
    assert found == value
    assert str(found) == str(value)  # 1 is not True


@given(VALUES)
def test_what_is_written_is_read_back(value):
    assert read_yaml(write_yaml(value)) == value
    assert yaml.safe_load(write_yaml(value)) == value


@pytest.mark.parametrize(
    "text", ["a: &x [1, 2]\nb: *x", "&x [*x]", "[" * 5000, "a: 1\na: 2", "!!python/object:os.abort {}"]
)
def test_aliases_rings_and_towers_are_refused_at_once(text):
    began = time.process_time()
    with pytest.raises(yaml.YAMLError) as error:
        read_yaml(text)
    assert len(str(error.value)) < 1000
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "`recipe` must be a mapping"), ("chian: []", "`recipe` must be one of"), ("a: [", "YAML"),
        ("columns: {a: {role: king}}", "`role of a`"), ("columns: {age: 7}", "age"), ("columns: [age]", "columns"),
        ("columns: {1: {role: other}}", "1"), ("keep: age", "keep"), ("keep: [yes, 3]", "keep"),
        ("withhold: {age: true}", "withhold"), ("places: {lat: age}", "`places`"),
        ("file: 3", "file"), ("limit: yes", "limit"), ("limit: 25", "`limit`"), ("population: many", "population"),
        ("missing_values: maybe", "`missing_values`"), ("chain: [{method: blur}]", "there are"),
        ("chain: [{method: mondrian, parameters: {k: 0}}]", "`k`"), ("chain: [{parameters: {k: 2}}]", "`chain`"),
        ("chain: [{method: mondrian, columns: age}]", "columns"),
        ("chain: [{method: mondrian, columns: [1]}]", "columns"),
    ],
)  # fmt: skip
def test_a_wrong_recipe_is_refused(tmp_path, text, words):
    (tmp_path / "recipe.yaml").write_text(text)
    with pytest.raises((ParameterError, DataError), match=words):
        read_recipe(tmp_path / "recipe.yaml")


def test_a_recipe_reads_its_file_as_it_was_opened(tmp_path):
    (tmp_path / "a.csv").write_text("age,sex,01\nNA,f,x\n30,m,y\n31,f,z\n")
    reading = {"missing": [], "text": ["sex"]}
    opened = rd.workbench.open_file(tmp_path / "a.csv", **reading)
    path = recipe_of(opened, "a.csv", reading).write(tmp_path / "recipe.yaml")
    again = open_by_recipe(None, path)[0]
    assert again.data.equals(opened.data)
    assert again.data["age"].tolist() == ["NA", "30", "31"]


def test_a_recipe_of_other_columns_than_the_file_has_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("age,sex\n30,m\n31,f\n")
    for said in ({"columns": {"town": {"role": "quasi-identifier"}}}, {"keep": ["town"]}, {"withhold": ["town"]}):
        with pytest.raises(ParameterError, match=r"must name columns of .*'town'"):
            open_by_recipe(
                tmp_path / "a.csv", Recipe(schema=rd.Schema.of_recipe({"columns": said.pop("columns", {})}), **said)
            )


TABLE = "2020,age,ill\n" + "".join(f"{i % 4},{20 + i},{'flu' if i % 3 else 'gout'}\n" for i in range(40))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("'2020':", "2020:", "in quotes it is text"),
        ("role: sensitive", "role: sensitive\n    secrets: [flu]", "entry of ill"),
        ("role: sensitive", "role: other\n    secret: [flu]", "its role is not sensitive"),
        ("type: text", "type: Text", "type of ill"),
        ("type: text", "type: date", "`type` of ill must be text, as its cells are"),
        ("limit: 0.25", "chain: {method: mondrian}", "list of steps"),
    ],
)
def test_an_entry_of_a_recipe_that_would_do_nothing_is_refused(tmp_path, old, new, message):
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    text = recipe_of(open_file(path), "a.csv").write(tmp_path / "r.yaml").read_text()
    assert old in text
    (tmp_path / "r.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(ParameterError, match=message):
        open_dataset(recipe=tmp_path / "r.yaml")


def test_the_type_text_of_a_recipe_keeps_numbers_from_being_ranges(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    text = recipe_of(open_file(path), "a.csv").write(tmp_path / "r.yaml").read_text()
    (tmp_path / "r.yaml").write_text(text.replace("type: integer", "type: text"))
    data = open_dataset(recipe=tmp_path / "r.yaml").data
    assert data[["2020", "age"]].iloc[1].tolist() == ["1", "21"]
    (tmp_path / "r.yaml").write_text(text.replace("reading:", "reading:\n  text: [age]"))
    assert open_dataset(recipe=tmp_path / "r.yaml").data["age"].iloc[1] == "21"
