import argparse
import sys
import time

from fuzz import cases


def main() -> int:
    there = cases()
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Compare the kernels with naive twins.")
    parser.add_argument("--inputs", type=int, default=100_000, help="generated inputs for each case (default 100,000)")
    parser.add_argument("--kernel", nargs="*", default=[], help="cases or modules, such as clique or network.triangles")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--index", type=int, help="replay this input only")
    asked = parser.parse_args()
    chosen = [
        case for case in there.values() if not asked.kernel or {case.name, case.name.split(".")[0]} & {*asked.kernel}
    ]
    if not chosen:
        parser.error(f"no such kernel; there are {', '.join(there)}")
    failed = 0
    for place, case in enumerate(chosen, 1):
        began = time.process_time()
        indices = range(asked.inputs) if asked.index is None else [asked.index]
        told = next(filter(None, (case.failure(asked.seed, index) for index in indices)), "")
        spent = time.process_time() - began
        print(f"[{place}/{len(chosen)}] {', '.join(case.kernels)}: {len(indices):,} inputs, {spent:.1f} s", flush=True)
        if told:
            failed += 1
            print(f"FAILED {case.name}: {told}", flush=True)
    print(f"{len(chosen)} cases, {failed} failed")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
