from collections.abc import Callable, Sequence
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

def read_file(descriptor: int, size: int, *, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """The first bytes of an open regular file."""

def parse_edges(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, separator: str, comments: str, tag: str, header: bool, columns: int, values: str, num_vertices: int, lower_triangle: bool, first_line: int, chunk_bytes: int, max_bytes: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Edges of a text, in its order: (count, src, dst, values or None); the arrays may be longer than count.
    """

def parse_adjacency(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, num_vertices: int, skipped: int, weighted: bool, values: str, first_line: int, chunk_bytes: int, max_bytes: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
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
def graph_check_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], directed: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_check_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], directed: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

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

class IdArrival:
    """New ids of a batch, with the memory that they need"""

class IdMap:
    """From original ids to positions, growing as batches arrive"""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def find(self, ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], below: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The position of each id; -1 if it is not among the first `below`."""

    def names(self) -> NDArray[numpy.int64] | None:
        """
        The ids in order of arrival, not copied; None while they are the positions.
        """

    def keep(self, arrival: IdArrival) -> None:
        """Make the new ids of a batch permanent; cannot fail."""

    @property
    def nbytes(self) -> int: ...

    @overload
    def admit(self, src: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gone: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, all_gone: bool, most: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

    @overload
    def admit(self, src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gone: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, all_gone: bool, most: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
        """
        Positions of both ends, deletions dropped, vertices afterwards, and what to keep or None; changes nothing.
        """

class PackedRows:
    def __init__(self, num_rows: int, weighted: bool) -> None: ...

    @property
    def num_rows(self) -> int: ...

    @property
    def num_entries(self) -> int: ...

    @property
    def weighted(self) -> bool: ...

    @property
    def nbytes(self) -> int: ...

    def resize(self, num_rows: int) -> None: ...

    def fork(self) -> PackedRows: ...

    def compressed(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

    def degrees(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def contains(self, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], found: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def row(self, row: int) -> tuple: ...

    def rows_in(self, buckets: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

    def statistics(self) -> dict: ...

    def check(self) -> str: ...

class UpdatePlan:
    def commit(self) -> tuple: ...

def packed_split(keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], owners: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_owners: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def packed_pair_values(rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], both: bool, threads: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...

@overload
def packed_pair_values(rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], both: bool, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def packed_pair_values(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], both: bool, threads: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...

@overload
def packed_pair_values(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], both: bool, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def packed_pair_keys(rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_rows: int, both: bool, threads: int) -> tuple: ...

@overload
def packed_pair_keys(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_rows: int, both: bool, threads: int) -> tuple: ...

def packed_prepare(rows: PackedRows, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], deletes: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, path: str, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> UpdatePlan: ...

@overload
def analytics_cores(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_cores(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_triangles(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, by: str, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def analytics_triangles(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, by: str, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def analytics_bfs(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source: int, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_bfs(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: int, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_bfs(rows: PackedRows, num_rows: int, source: int, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_components(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_components(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_components(rows: PackedRows, num_rows: int, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_pagerank(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, damping: float, tolerance: float, max_iterations: int, restart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_pagerank(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, damping: float, tolerance: float, max_iterations: int, restart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_pagerank(rows: PackedRows, num_rows: int, out_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], damping: float, tolerance: float, max_iterations: int, restart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_pagerank_sums(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def analytics_pagerank_sums(rows: PackedRows, num_rows: int, sent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def analytics_join_components(labels: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

class BfsShard:
    def __init__(self, rows: PackedRows, num_rows: int, own: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def enter(self, frontier: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

    def forwards(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

    def backwards(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_entry_weights(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def graph_entry_weights(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def analytics_shortest_paths(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: int, bucket_width: float, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_shortest_paths(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: int, bucket_width: float, symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_label_propagation(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_iterations: int, seed: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def analytics_label_propagation(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_iterations: int, seed: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

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

def mining_supports(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

def mining_compose_orbits(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], raw: dict, of_edges: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> dict: ...

class OrbitCounter:
    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, of_edges: bool) -> None: ...

    def count(self, begin: int, end: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def take(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> dict: ...

class MotifCounter:
    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int) -> None: ...

    def count(self, begin: int, end: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> dict: ...

    def passes(self) -> list: ...

def mining_rewire(src: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], attempts: int, seed: int, first: int, samples: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Edges of random graphs with the same degrees, one sample after the other, as (src, dst).
    """

def mining_orbit_formulas(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], vertices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], raw: dict, size: int, of_edges: bool, matrix: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: float, low: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], high: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Fill the columns of orbits. Returns whether all values fit; always true with room for upper halves.
    """

def locality_reorder(edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], lanes: int, level: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """One pass of progressive reordering over packed edges, in place."""

class EdgeRanker:
    def __init__(self, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], by_destination: bool, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def iterate(self, damping: float, lanes: int, level: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

class CacheSimulation:
    def __init__(self, levels: Sequence[tuple[int, int, int]], num_edges: int, edge_bytes: int, vertex_bytes: int, bypass: bool) -> None: ...

    def run_pass(self, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_destination: bool, lanes: int, level: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> list:
        """Hits and misses of a pass; lanes 0: in the order of the list."""

class ChangingTiles:
    @overload
    def __init__(self, num_vertices: int) -> None: ...

    @overload
    def __init__(self, tile_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], num_vertices: int) -> None: ...

    @property
    def num_edges(self) -> int: ...

    @property
    def num_loose(self) -> int: ...

    def grow(self, num_vertices: int) -> None: ...

    def insert(self, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

    def erase(self, edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

    def refine(self, budget: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

    def pack(self, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

    def pagerank(self, out_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], damping: float, tolerance: float, max_iterations: int, budget: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_tile_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_bits: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_tile_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_bits: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_link_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

@overload
def graph_link_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetric: bool, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple:
    """
    Rows of the vertices that have an edge, with new vertex numbers, and these vertices.
    """

def graph_tile_list(edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_vertices: int, row_bits: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...

def analytics_pagerank_tiles(tile_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_bits: int, out_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], damping: float, tolerance: float, max_iterations: int, restart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, num_isolated: int, threads: int, control: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple: ...
