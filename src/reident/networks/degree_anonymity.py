"""Anonymiser. k-degree anonymity of networks: the thesis's algorithms and the ones that beat them."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from reident.base import (
    Choice,
    DataError,
    Generator,
    IntArray,
    ParameterError,
    Real,
    RNGLike,
    SearchLimitWarning,
    Whole,
    check_flag,
    check_integer,
    check_rng,
    check_vector,
    checked,
)
from reident.networks._probing import Probe, nearest_degrees, probe_batch, probe_literal
from reident.networks.disclosed_edges import spread_edges
from reident.networks.graph import Network, as_network, incidence, network_from_edges

METHODS = ("supergraph", "relaxed", "simultaneous", "direct")
PROBING = (1, 2, 3, 4, "batch")


@dataclass(frozen=True, eq=False)
class DegreeAnonymisation:
    """A k-degree anonymous network and its cost.

    Attributes
    ----------
    network : Network
        The release: the original's nodes under their own names, other edges. (Rename them before release:
        `naive_anonymise`.)
    k : int
        Every degree in the release is shared by at least k nodes.
    method, probing : str, int or str
        How it was made. `probing` is ``"batch"`` where a literal scheme ran into its limit.
    l1 : int
        Sum over the nodes of the absolute change of degree.
    edits : int
        Number of edges added or removed, |E xor E'|.
    lower_bound : int
        No k-degree anonymous network on these nodes (for ``"supergraph"`` and ``"relaxed"``: none whose degrees only
        rise) has fewer edits: half the optimum of the degree programme among sequences with an even sum.
    n_probes : int
        How often the degree programme ran.
    is_within_limit : bool
        False if `max_probes` ended the asked probing scheme.
    seconds : float
        Elapsed time, without conversion from networkx.
    """

    network: Network
    k: int
    method: str
    probing: int | str
    l1: int
    edits: int
    lower_bound: int
    n_probes: int
    is_within_limit: bool
    seconds: float


def anonymise_degrees(degrees: Any, k: int, *, deletions: bool = False, even: bool = False) -> IntArray:
    """Return the k-anonymous degree sequence nearest in L1 to the given one, node by node.

    Parameters
    ----------
    degrees : array-like of int, shape (n,)
        Degrees between 0 and n - 1, in any order.
    k : int
        Every value of the result stands there at least k times; 1 <= k <= n.
    deletions : bool
        Whether degrees may fall as well as rise.
    even : bool
        Ask for the optimum among the sequences with an even sum, which a graph's degrees have.

    Returns
    -------
    ndarray of int64, shape (n,)
        In the order of `degrees`. The optimum is exact.

    Raises
    ------
    DataError
        If an even sum is out of reach (an odd number of nodes, k > n / 2, no even degree allowed).

    Notes
    -----
    vanhoef2012 (9.3)-(9.6), O(nk), corrected: the printed (9.3) starts its sum at j instead of i (erratum 1), sequences
    called increasing are decreasing (2), (9.5) and (9.6) misplace a parenthesis (3), and the example of 9.5.2 is the
    optimum among even sums, not the optimum (18). The even
    programme carries the parity of the sum as a second state and may move one group of odd size by one.

    Examples
    --------
    >>> anonymise_degrees([5, 3, 3, 2, 2, 1, 0], 2)
    array([5, 5, 5, 2, 2, 1, 1])
    """
    d = _check_degrees(degrees)
    k = _check_k(k, len(d))
    deletions, even = check_flag(deletions, "deletions"), check_flag(even, "even")
    target, cost = nearest_degrees(d, k, deletions, even=even)
    if cost < 0:
        raise DataError(
            f"no {k}-anonymous degree sequence of {len(d)} nodes with an even sum exists: "
            "an odd number of nodes in one group would need an even degree"
        )
    return target


def _check_degrees(degrees: Any) -> IntArray:
    values = check_vector(degrees, "degrees")
    n = len(values)
    bad = np.flatnonzero((values < 0) | (values >= n) | (values % 1 != 0))
    if bad.size or not n:
        found = f"{values[bad[0]]:g} at position {bad[0]}" if n else "none"
        raise DataError(f"`degrees` must be whole numbers from 0 to n - 1, of n nodes at least one, got {found}")
    return values.astype(np.int64)


def _check_k(k: int, n: int) -> int:
    return check_integer(k, "k", low=1, high=n, why=f"only {n} nodes are there to share a degree")


def is_degree_anonymous(graph: Any, k: int) -> bool:
    """Tell whether every degree in the graph is shared by at least `k` nodes (vanhoef2012, Definition 9.2).

    Parameters
    ----------
    graph : whatever `as_network` takes
    k : int
        At least 1.

    Returns
    -------
    bool
        True for a network without nodes.

    Raises
    ------
    ParameterError
        If `k` is below 1.
    """
    network = as_network(graph)
    k = check_integer(k, "k", low=1)
    counts = np.bincount(network.degrees)
    return bool(((counts == 0) | (counts >= k)).all())


@checked
def degree_anonymise(
    graph: Any,
    k: Annotated[int, Whole(1, unit="nodes")],
    *,
    method: Annotated[str, Choice(*METHODS)] = "direct",
    probing: Annotated[int | str, Choice(*PROBING)] = "batch",
    patience: Annotated[int | None, Whole(1)] = None,
    max_probes: Annotated[int | None, Whole(1)] = None,
    certainty: Annotated[float | None, Real(0, 1, open_low=True)] = None,
    rng: RNGLike = None,
) -> DegreeAnonymisation:
    """Make a network k-degree anonymous by adding and removing edges.

    Guarantee: in the release at least k nodes share every degree, so that an intruder who knows a person's degree in
    the RELEASE and nothing else finds at least k candidates. It protects against nothing more: not against who knows
    the degree before anonymisation and the method, nor a second network (`propagate` finds most nodes again), nor,
    without `certainty`, links (`edge_disclosure`).

    Parameters
    ----------
    graph : networkx.Graph, scipy sparse matrix, path, or Network
        Simple and undirected. Isolated nodes and several components are allowed. Not modified; attributes are not
        carried over.
    k : int
        1 <= k <= number of nodes.
    method : str
        ``"supergraph"``: only adds edges (SuperGraph). ``"relaxed"``: degrees only rise; a new graph of these degrees
        is built and swapped towards the original (ConstructGraph, GreedySwap). ``"simultaneous"``: the same with
        degrees that rise and fall.
        ``"direct"``: degrees that rise and fall; the original itself is edited, about L1 / 2 edges.
    probing : {1, 2, 3, 4, "batch"}
        What to do when a degree sequence has no graph. 1: raise a random node by up to 10 and try again; 2:
        the same minding parity; 3: raise the node of least degree by one; 4: raise a random node of the lower half by
        one.
        ``"batch"``: parity inside the degree programme, the largest residuals first, stub switches, and as many raises
        at once as stubs are missing. The literal schemes may need thousands of probes.
    patience : int or None
        For the two methods that swap. None: targeted swaps, one missing edge at a time, until none helps. A number:
        GreedySwap, which looks at samples of edges and gives up after so many in a row without gain; 1 is the literal
        rule, which on sparse graphs stops at once.
    max_probes : int or None
        Limit of a literal probing scheme. At the limit the release is finished by batch probing, with a
        SearchLimitWarning.
    certainty : float, optional
        In (0, 1]. Bounds edge disclosure as l-diversity bounds attribute disclosure (9.2): of the pairs between any two
        classes of degree less than this share is joined, so that who knows two people's degrees in the release is never
        so sure of a link. Edges are swapped to spread them; not for ``"supergraph"``, which keeps all.
    rng : Generator, int or None
        The randomness. The same number gives the same release.

    Returns
    -------
    DegreeAnonymisation
        Checked: simple, k-degree anonymous, and for ``"supergraph"`` no edge lost.

    Raises
    ------
    DataError, ParameterError
        For a graph that is not simple and undirected; for parameters out of range; if `certainty` cannot be kept.

    Warns
    -----
    SearchLimitWarning
        If a literal probing scheme reached its limit.

    Notes
    -----
    vanhoef2012, chapter 9, Algorithms 9.2-9.8, corrected: 9.2 and 9.3 zero the pivot's residual before using it, 9.3
    ranks by target degree instead of residual (erratum 4); 9.4 and 9.5 lose which node a noisy degree belongs to (5);
    (9.1) is only a lower bound once edges may both come and go (7); 9.6 to 9.8 disagree on their arguments, and the
    literal rule ends at the first failure: see `patience` (8). Time O(nk + edges); the swaps of the literal schemes
    come on top.

    Examples
    --------
    >>> import networkx as nx
    >>> release = degree_anonymise(nx.karate_club_graph(), 5, rng=1)
    >>> is_degree_anonymous(release.network, 5), release.edits >= release.lower_bound
    (True, True)
    """
    network = as_network(graph)
    k = _check_k(k, network.n_nodes)
    if method == "direct" and probing != "batch":
        raise ParameterError(f"`probing` must be 'batch' for 'direct', got {probing!r}: the schemes build new edges")
    if certainty is not None and method == "supergraph":
        raise ParameterError("`certainty` must be None for 'supergraph': it keeps every edge where it is")
    generator = check_rng(rng)
    began = time.perf_counter()
    deletions = method in ("simultaneous", "direct")
    probe = _run_probes(network, k, method, probing, deletions, max_probes, generator)
    release = (
        probe.network if method in ("supergraph", "direct") else _swap(network, probe.network, patience, generator)
    )
    if certainty is not None:
        release = spread_edges(release, network, certainty, generator)
    return _checked(network, release, k, method, deletions, probe, time.perf_counter() - began)


def _run_probes(
    network: Network,
    k: int,
    method: str,
    probing: int | str,
    deletions: bool,
    max_probes: int | None,
    rng: Generator,
) -> Probe:
    options = (deletions, method == "supergraph")
    if probing == "batch":
        return probe_batch(network, k, *options, method == "direct", rng)
    probe = probe_literal(network, k, int(probing), *options, max_probes, rng)
    if probe.is_within_limit:
        return probe
    warnings.warn(
        f"probing scheme {probing} reached its limit after {probe.n_probes} probes: "
        "the release is finished by batch probing",
        SearchLimitWarning,
        stacklevel=5,
    )
    finished = probe_batch(network, k, *options, False, rng)
    return Probe(finished.network, "batch", probe.n_probes + finished.n_probes, False)


def _swap(original: Network, built: Network, patience: int | None, rng: Generator) -> Network:
    """Swap the edges of a built graph towards the original's, every degree unchanged."""
    from reident.kernels.networks.swaps import greedy_swaps, targeted_swaps

    u, v = built.edges()
    if len(u) == 0 or original.n_edges == 0:
        return built
    if patience is None:
        targeted_swaps(original.indptr, original.indices, u, v, *incidence(u, v, original.n_nodes)[:2], rng)
    else:
        sample = max(2, int(np.ceil(np.log2(len(u)))))
        greedy_swaps(original.indptr, original.indices, u, v, sample, patience, rng)
    return network_from_edges(u, v, original.n_nodes, original.nodes)


def _checked(
    original: Network, release: Network, k: int, method: str, deletions: bool, probe: Probe, seconds: float
) -> DegreeAnonymisation:
    """Verify the guarantees and count the edits."""
    shared = original.n_shared(release)
    is_simple = 2 * len(release.edges()[0]) == len(release.indices)  # else a loop
    if not is_simple or not is_degree_anonymous(release, k) or (method == "supergraph" and shared != original.n_edges):
        raise AssertionError(f"internal error: the release of {method!r} breaks its promise")
    return DegreeAnonymisation(
        network=release,
        k=k,
        method=method,
        probing=probe.probing,
        l1=int(np.abs(release.degrees - original.degrees).sum()),
        edits=original.n_edges + release.n_edges - 2 * shared,
        lower_bound=nearest_degrees(original.degrees, k, deletions, even=True)[1] // 2,
        n_probes=probe.n_probes,
        is_within_limit=probe.is_within_limit,
        seconds=seconds,
    )
