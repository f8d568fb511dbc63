"""Anonymiser. Naive anonymisation: other names, the same structure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from reident.base import RNGLike, check_rng
from reident.networks.graph import Network, as_network, reordered

__all__ = ["NaiveAnonymisation", "naive_anonymise"]


@dataclass(frozen=True, eq=False)
class NaiveAnonymisation:
    """A network under random names.

    Attributes
    ----------
    network : Network
        The release, nodes named 0 to n - 1.
    mapping : mapping
        Original name -> released name: the truth, to be kept back.
    """

    network: Network
    mapping: Mapping[Hashable, int] = field(repr=False)

    @cached_property
    def graph(self) -> Any:
        """The release as a `networkx.Graph`, made when first asked for."""
        return self.network.to_networkx()


def naive_anonymise(graph: Any, *, rng: RNGLike = None) -> NaiveAnonymisation:
    """Rename the nodes at random and leave the structure as it is (vanhoef2012, Definition 8.1).

    No guarantee: structure alone finds most nodes again (`recover`, `propagate`).

    Parameters
    ----------
    graph : whatever `as_network` takes
        Simple and undirected. Not modified.
    rng : Generator, int or None
        The randomness.

    Returns
    -------
    NaiveAnonymisation
        The renamed network, isomorphic to the original, and the renaming.

    Raises
    ------
    DataError
        If the network cannot be read.
    """
    network = as_network(graph)
    renamed = check_rng(rng).permutation(network.n_nodes)
    release = reordered(network, renamed)
    return NaiveAnonymisation(release, dict(zip(network.nodes, np.asarray(renamed).tolist(), strict=True)))
