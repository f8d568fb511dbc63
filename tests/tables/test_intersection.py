import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reident import k_anonymise
from reident.tables import Hierarchy, intersection_attack, intersection_course
from samples import drawn

TREE = {"clerk": "office", "manager": "office", "farmer": "field", "fisher": "field"}


def naive_covers(label, value):
    """Decide by plain reading, for the labels that the tables below use."""
    if label == "*" or str(label) == str(value):
        return True
    if str(label).startswith("["):
        low, high = (float(part) for part in str(label)[1:-1].split(","))
        return low <= float(value) <= high if label.endswith("]") else low <= float(value) < high
    if str(label).startswith("{"):
        return value in label[1:-1].split(", ")
    return TREE.get(value) == label


def naive_attack(releases, population, quasi, sensitive):
    """Algorithm 3.1 by plain loops: the set of values left for each person."""
    left = []
    for _, person in population.iterrows():
        sets = []
        for release in releases:
            columns = [column for column in quasi if column in release]
            kept = [row for _, row in release.iterrows() if any(row[column] != "*" for column in columns)]
            kept = kept or [row for _, row in release.iterrows()]
            values = {row[sensitive] for row in kept if all(naive_covers(row[c], person[c]) for c in columns)}
            if values:
                sets.append(values)
        everything = {value for release in releases for value in release[sensitive]}
        left.append(set.intersection(*sets) if sets else everything)
    return left


def people(n, seed):
    return drawn(n, seed, age=(20, 40), job=list(TREE), ill=list("abcd"))


HIERARCHIES = {"age": Hierarchy.from_intervals(range(20, 40), [5, 10]), "job": Hierarchy.from_mapping(TREE)}


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from(["ola", "mondrian"]))
@pytest.mark.slow
def test_equals_the_naive_attack(seed, n_releases, method):
    table = people(30, seed)
    generator = np.random.default_rng(seed)
    samples = [table.iloc[np.sort(generator.permutation(30)[:24])] for _ in range(n_releases)]
    releases = [
        k_anonymise(sample, ["age", "job"], k=3, hierarchies=HIERARCHIES, method=method, suppression_limit=0.2)
        .table.astype(object)
        .reindex(sample.index, fill_value="*")
        for sample in samples
    ]
    attack = intersection_attack(releases, table, quasi=["age", "job"], sensitive="ill", hierarchies=HIERARCHIES)
    ref = naive_attack(releases, table, ["age", "job"], "ill")
    assert [set(attack.candidates(person)) for person in table.index] == ref


@pytest.mark.parametrize("method", ["ola", "mondrian"])
def test_the_true_value_is_never_lost_for_people_in_all_releases(method):
    table = people(120, 5)
    generator = np.random.default_rng(0)
    common = table.iloc[:40]
    parts = [pd.concat([common, table.iloc[40:].sample(40, random_state=i)]) for i in range(4)]
    releases = [k_anonymise(part, ["age", "job"], k=4, hierarchies=HIERARCHIES, method=method) for part in parts]
    previous = None
    course = intersection_course(releases, common, quasi=["age", "job"], sensitive="ill", hierarchies=HIERARCHIES)
    for n, attack in enumerate(course, start=1):
        alone = intersection_attack(
            releases[:n], common, quasi=["age", "job"], sensitive="ill", hierarchies=HIERARCHIES
        )
        pd.testing.assert_frame_equal(attack.table, alone.table)
        quality = attack.assess(common["ill"])
        assert quality.contradicted == 0
        assert quality.perfect == quality.perfect_correct
        assert quality.partial == quality.partial_correct
        left = attack.table["n_candidates"].to_numpy()
        assert previous is None or (left <= previous).all(), "a further release never helps the people"
        previous = left
        assert attack.probabilities.sum(axis=1) == pytest.approx(np.ones(40))
        assert ((attack.probabilities > 0) == attack.possible).all()
    # Permuting the people permutes the answers.
    order = generator.permutation(40)
    again = intersection_attack(
        releases, common.iloc[order], quasi=["age", "job"], sensitive="ill", hierarchies=HIERARCHIES
    )
    pd.testing.assert_frame_equal(again.table, attack.table.iloc[order])


def test_alice():
    """The example of section 3.4.1."""
    one = pd.DataFrame({"zip": ["130**"] * 2, "ill": ["heart disease", "cancer"]})
    two = pd.DataFrame({"zip": ["1305*"] * 2, "ill": ["cancer", "the flu"]})
    population = pd.DataFrame({"zip": ["13053", "13068"]}, index=["Alice", "Bob"])
    attack = intersection_attack([one, two], population, quasi="zip", sensitive="ill")
    assert attack.candidates("Alice") == ["cancer"]
    assert attack.candidates("Bob") == ["cancer", "heart disease"]
    assert attack.table.loc["Alice", ["breach", "value", "confidence"]].tolist() == ["perfect", "cancer", 1]
    assert attack.table.loc["Bob", ["breach", "confidence", "n_located"]].tolist() == ["partial", 0.5, 1]


def test_contradicting_releases_are_told_apart_from_breaches():
    releases = [pd.DataFrame({"zip": ["1"], "ill": [value]}) for value in "ab"]
    attack = intersection_attack(releases, pd.DataFrame({"zip": ["1", "2"]}), quasi="zip", sensitive="ill")
    assert attack.table["breach"].tolist() == ["contradiction", "none"]
    assert attack.table["confidence"].tolist() == [0, 0.5]
    assert attack.table["n_located"].tolist() == [2, 0]
    quality = attack.assess(["a", "b"])
    assert (quality.contradicted, quality.perfect) == (0.5, 0)


def test_suppressed_records_are_no_class_and_a_missing_value_is_no_knowledge():
    release = pd.DataFrame({"age": ["[20, 30]", "*", "[31, 40]"], "ill": list("abc")})
    population = pd.DataFrame({"age": [25, np.nan]})
    attack = intersection_attack([release], population, quasi="age", sensitive="ill")
    assert [attack.candidates(person) for person in (0, 1)] == [["a"], ["a", "c"]]
