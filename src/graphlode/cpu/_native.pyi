from collections.abc import Callable
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def live_bytes() -> int:
    """Bytes that the core holds now."""

def peak_bytes() -> int:
    """Most bytes that the core held since reset_peak_bytes()."""

def reset_peak_bytes() -> None: ...

compiler: str = ...

def fail_allocation(n: int) -> None:
    """Make the n-th allocation from now fail; 0 turns it off."""

def parse_edges(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, separator: str, comments: str, tag: str, header: bool, columns: int, values: str, num_vertices: int, lower_triangle: bool, first_line: int, chunk_bytes: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Edges of a text, in its order: (count, src, dst, values or None); the arrays may be longer than count.
    """

def parse_adjacency(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, num_vertices: int, skipped: int, weighted: bool, values: str, first_line: int, chunk_bytes: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """Adjacency lines: (offsets, neighbors, values or None, symmetric)."""

def format_edges(src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, prefix: str, separator: str, base: int) -> bytes:
    """Edges as lines of text."""

def format_adjacency(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], times: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """Rows of neighbors as lines of text."""

def rmat(scale: int, begin: int, end: int, a: float, b: float, c: float, seed: int, relabel: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """Edges begin..end of a recursive matrix graph, as (src, dst)."""

def random_pairs(num_vertices: int, num_edges: int, directed: bool, seed: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """Different pairs of vertices, uniform, in random order, as (src, dst)."""

def pairs_with_probability(num_vertices: int, p: float, directed: bool, seed: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """Every pair of vertices with probability p, as (src, dst)."""

def barabasi_albert(num_vertices: int, m: int, seed: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """Edges of a preferential attachment graph, as (src, dst)."""

def random_words(seed: int, begin: int, size: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """Words begin..begin + size of a seed's stream."""

@overload
def graph_build(src: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_vertices: int, directed: bool, keep_positions: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_build(src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_vertices: int, directed: bool, keep_positions: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

def graph_build_wide(src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_vertices: int, directed: bool, keep_positions: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

def graph_ids_by_round(rounds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_rounds: int, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def graph_order(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], by: str, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

@overload
def graph_order(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by: str, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def graph_order_by_round(rounds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_rounds: int, like: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

@overload
def graph_order_by_round(rounds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_rounds: int, like: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def graph_orient(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_orient(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_cores(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_cores(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_triangles(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, by: str, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def analytics_triangles(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, by: str, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def mining_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, k: int, method: str, by: str, counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], binomials: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], limbs: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, k: int, method: str, by: str, counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], binomials: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], limbs: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_all_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, max_k: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_all_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], roots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, max_k: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_cliques_sample(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, work_limit: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_cliques_sample(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, work_limit: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_clique_lists(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, k: int, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch_size: int, sink: object, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def mining_clique_lists(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, k: int, names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch_size: int, sink: object, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def mining_transpose(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_transpose(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def mining_maximal_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], earlier_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], earlier_neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, min_size: int, batch_size: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], sink: Callable) -> None: ...

@overload
def mining_maximal_cliques(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], earlier_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], earlier_neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], names: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, min_size: int, batch_size: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], sink: Callable) -> None: ...

@overload
def mining_max_clique(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def mining_max_clique(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
