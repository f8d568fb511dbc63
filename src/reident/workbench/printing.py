"""Print the results of the commands for own data."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def assessment_lines(assessment: Any) -> list[str]:
    """Return the advice, its notes, and the reasons why releases could not be made."""
    result = assessment.search
    lines = [assessment.advice, *(f"note: {line}" for line in ([] if result is None else result.groups))]
    for search in filter(None, {id(s): s for s in (result, assessment.network)}.values()):
        if not search.passed:
            unmade = search.candidates[search.candidates["reason"] != ""].drop_duplicates("reason")
            lines += [f"not made: {row['chain']}: {row['reason']}" for _, row in unmade.iterrows()]
    if result is not None and result.passed and "the place" in str(result.advised.get("withheld", "")):
        lines.append("the place is withheld: --must-keep place looks for a release that has it")
    return lines


def next_commands(assessment: Any, out: Path, source: str, network: Path | None, edges: Mapping[str, str]) -> list[str]:
    """Return the commands that make and check the advised releases; `edges`: options about the file of a network."""
    lines = []
    if assessment.passed and source:
        path, against = shlex.quote(str(out / "recipe.yaml")), shlex.quote(source)
        lines = [
            f"the advised release: reident protect --recipe {path} --out release",
            f"its check: reident check release --against {against} --recipe {path}",
        ]
    if network is None or assessment.network is None or not assessment.network.passed:
        return lines
    step, original = assessment.network.chain[0], shlex.quote(str(network))
    columns = "".join(f" --{option} {shlex.quote(text)}" for option, text in edges.items())
    settings = "".join(f" --set {name}={value}" for name, value in step["parameters"].items())
    rule = f"--limit {assessment.limit:g} --tolerate {assessment.tolerate:g}"
    return [
        *lines,
        f"the advised network: reident protect {original}{columns} --method {step['method']}{settings} --out network",
        f"its check: reident check network --against {original} --network{columns} {rule}",
    ]


def release_lines(release: Any, folder: Path) -> list[str]:
    """Return the guarantee, losses, changes and path of a release."""
    from reident.workbench.pipeline import pairs_path

    manifest, lines = release.manifest, []
    for step in manifest["chain"]:
        settings = ", ".join(f"{name}={value}" for name, value in step["parameters"].items())
        lines.append(f"{step['method']}: {settings}" if settings else str(step["method"]))
    if "nodes_released" in manifest:
        lines.append(f"{manifest['nodes_released']} nodes, {manifest['edges_released']} edges released")
    lines.append(f"guaranteed: {manifest['guarantee']}")
    lines += _column_lines(release) if "columns" in manifest else []
    return [
        *lines, f"release: {folder.resolve()}: {', '.join(sorted(path.name for path in folder.iterdir()))}",
        f"pairs of records, confidential, for reident check: {pairs_path(folder)}",
    ]  # fmt: skip


def _column_lines(release: Any) -> list[str]:
    manifest, data = release.manifest, release.dataset.data
    lines = [f"{manifest['records_released']} of {len(data)} records released"]
    for step in manifest["chain"]:
        if step["records_left_out"]:
            n = step.get("records_without_place")
            without = f", {n} for want of a place" if n else ""
            lines.append(f"  {step['records_left_out']} left out by {step['method']}{without}")
    dropped = [str(name) for name in data.columns if name not in manifest["columns"]]
    if dropped:
        lines.append(f"columns left out: {', '.join(dropped)} (--keep releases a column as it is; in a recipe: keep)")
    lines.append("lost of each column (0 nothing, 1 all):")
    unchanged = manifest["columns_released_unchanged"]
    for name, lost in manifest["column_loss"].items():
        lines.append(f"  {name:<24} {lost:.2f}{'  as it was' if name in unchanged else ''}")
    losses = [name for name in ("neighbours_kept", "distances_kept") if name in manifest["loss"]]
    lines += [f"  {name.replace('_', ' ')}: {manifest['loss'][name]}" for name in losses]
    return [*lines, *(f"  changed: {receipt}" for receipt in manifest["receipts"])]


def print_verdict(verdict: Any) -> None:
    """Print a verdict: its sentence, the attacks, the value of knowledge, notes."""
    print(verdict.sentence)
    for _, row in verdict.report.applied.iterrows():
        between = f"{row['risk']:.1%} success ({row['low']:.1%} to {row['high']:.1%})"
        between += f", guessing {row['baseline']:.1%}"
        above = f"{row['share_above_limit']:.1%} of {row['n']} above {verdict.limit:.0%}"
        print(f"  {row['name']:<22} {row['verdict']}: {between}, {above}")
    for reason, rows in verdict.attacks.query("reason != ''").groupby("reason", sort=False):
        print(f"  not run: {', '.join(rows['name'])}: {reason}")
    if verdict.report.skipped:
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
