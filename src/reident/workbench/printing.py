"""Print the results of the commands for own data."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["print_assessment", "print_method", "print_release", "print_verdict"]


def print_assessment(
    assessment: Any, must_keep: str, recipe: Path | None, source: str, network: tuple[Path, str, str] | None
) -> None:
    """Print the advice and the commands that make and check the advised release.

    `recipe` is the advised one, `source` the file it is for; `network` is a file, its ends and its names.
    """
    result = assessment.search
    print(assessment.sentence)
    for line in [] if result is None else result.groups:
        print(f"note: {line}")
    for search in filter(None, (result, assessment.network)):
        _print_unmade(search)
    if result is not None and result.passed and "the place" in str(result.advised.get("withheld", "")):
        print("the place is withheld: --must-keep place looks for a release that has it")
    if result is not None and not result.passed and must_keep:
        print(
            f"one of these would have to be given up: {must_keep} (without --must-keep it may be withheld), or the "
            "rule (a larger --tolerate or --limit)"
        )
    if recipe is not None:
        path, file = shlex.quote(str(recipe)), shlex.quote(source)
        print(f"the advised release: reident protect --recipe {path} --out release")
        print(f"its check: reident check release --against {file} --recipe {path}")
    if network is not None and assessment.network is not None and assessment.network.passed:
        _print_network_commands(assessment, *network)


def _print_unmade(search: Any) -> None:
    """Print once for each reason why releases could not be made, where none passed."""
    if not search.passed:
        for _, row in search.candidates[search.candidates["reason"] != ""].drop_duplicates("reason").iterrows():
            print(f"not made: {row['chain']}: {row['reason']}")


def _print_network_commands(assessment: Any, file: Path, ends: str, names: str) -> None:
    step, source = assessment.network.chain[0], shlex.quote(str(file))
    listed = "".join(
        f" {option} {shlex.quote(text)}" for option, text in (("--ends", ends), ("--names", names)) if text
    )
    settings = "".join(f" --set {name}={value}" for name, value in step["parameters"].items())
    rule = f"--limit {assessment.limit:g} --tolerate {assessment.tolerate:g}"
    print(f"the advised network: reident protect {source}{listed} --method {step['method']}{settings} --out network")
    print(f"its check: reident check network --against {source} --network{listed} {rule}")


def _settings(step: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in step["parameters"].items())
    return f"{step['method']}: {settings}" if settings else str(step["method"])


def print_release(release: Any, folder: Path) -> None:
    """Print the guarantee, losses, changes and path of a release."""
    from reident.workbench.pipeline import pairs_path

    manifest = release.manifest
    for step in manifest.get("chain") or [manifest]:
        print(_settings(step))
    if "nodes_released" in manifest:
        print(f"{manifest['nodes_released']} nodes, {manifest['edges_released']} edges released")
    print(f"guaranteed: {manifest['guarantee']}")
    if "columns" in manifest:
        _print_columns(release)
    print(f"release: {folder.resolve()}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    print(f"pairs of records, confidential, for reident check: {pairs_path(folder)}")


def _print_columns(release: Any) -> None:
    manifest, data = release.manifest, release.dataset.data
    print(f"{manifest['records_released']} of {len(data)} records released")
    for step in manifest["left_out_because"]:
        if step["records_left_out"]:
            n = step.get("records_without_place")
            print(
                f"  {step['records_left_out']} left out by {step['method']}{f', {n} for want of a place' if n else ''}"
            )
    dropped = [str(name) for name in data.columns if name not in manifest["columns"]]
    if dropped:
        print(f"columns left out: {', '.join(dropped)} (--keep releases a column as it is; in a recipe: keep)")
    print("lost of each column (0 nothing, 1 all):")
    for name, lost in manifest["column_loss"].items():
        print(f"  {name:<24} {lost:.2f}{'  as it was' if name in manifest['columns_released_unchanged'] else ''}")
    for name in ("neighbours_kept", "distances_kept"):
        if name in manifest["loss"]:
            print(f"  {name.replace('_', ' ')}: {manifest['loss'][name]}")
    for receipt in manifest["receipts"]:
        print(f"  changed: {receipt}")


def print_verdict(verdict: Any) -> None:
    """Print a verdict: its sentence, the attacks, the value of knowledge, notes."""
    print(verdict.sentence)
    frame = verdict.attacks
    ran = frame["reason"] == ""
    for _, row in frame[ran].iterrows():
        between = f"{row['risk']:.1%} success ({row['low']:.1%} to {row['high']:.1%})"
        between += f", guessing {row['baseline']:.1%}"
        above = f"{row['share_above_limit']:.1%} of {row['n']} above {verdict.limit:.0%}"
        print(f"  {row['name']:<22} {row['verdict']}: {between}, {above}")
    for reason, rows in frame[~ran].groupby("reason", sort=False):
        print(f"  not run: {', '.join(rows['name'])}: {reason}")
    if verdict.report is not None and verdict.report.skipped:
        print(f"  {len(verdict.report.skipped)} other attacks do not apply (verdict.json lists them)")
    if verdict.classes is not None:
        sizes = ", ".join(f"{n} in classes of {size}" for size, n in verdict.classes.head(5).items())
        print(f"  the release alone, records by the size of their class: {sizes}")
    if verdict.knowledge is not None:
        for _, row in verdict.knowledge.worst.iterrows():
            share = f"{row['share_above_limit']:.1%} of persons above {verdict.limit:.0%}"
            print(f"  knowing {row['known']}: {share}, {row['risk']:.1%} success by joining")
    for note in verdict.notes:
        print(f"note: {note}")


def print_method(entry: Any, description: Mapping[str, Any], *, whole: bool) -> None:
    """Print a method with its parameters; the `whole` of it with guarantee and documentation."""
    print(f"{entry.name:<24} {entry.role:<11} {entry.data:<8} {entry.source}")
    for parameter in description["parameters"]:
        allowed = parameter["range"] if isinstance(parameter["range"], str) else ", ".join(map(str, parameter["range"]))
        unit = f" {parameter['unit']}" if parameter["unit"] else ""
        print(f"    {parameter['name']} = {parameter['default']}{unit}  ({parameter['type']} {allowed})")
    for name, meaning in description["public"].items():
        print(f"    {name}: a public input, {meaning}")
    if whole:
        print(f"\n{description['label']}: {description['call']}")
        for name in ("needs", "guarantee"):
            if description[name]:
                text = description[name]
                print(f"{name}: {text if isinstance(text, str) else ', '.join(text)}")
        print()
        print(inspect.getdoc(entry.function))
