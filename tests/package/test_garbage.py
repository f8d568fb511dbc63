"""A part of the calls of `python -m garbage`: an error of ours or an answer, in time, and nothing given is changed."""

import pytest

import garbage
import public


def test_every_public_function_gets_garbage():
    named = {case.function.partition(".")[0] for case in garbage.cases()}
    assert len(named) > 150
    assert {function.partition(".")[0] for function in garbage.GOOD} <= set(public.HOMES)


@pytest.mark.slow
@pytest.mark.parametrize("case", garbage.sample(150), ids=str)
def test_garbage_is_refused_in_a_sentence_or_taken_for_what_it_is(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not garbage.failure(case)
