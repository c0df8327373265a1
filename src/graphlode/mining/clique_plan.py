"""Where and how to count cliques: devices and method, chosen by timing a sample of roots on each device.

Pivoting counts whole families of cliques at once. It wins by orders of magnitude where cliques overlap. On dense graphs
with little overlap its search tree is larger than the number of cliques, and enumeration wins. Which case holds cannot
be seen from the size of the graph, so each device's kernels search below a sample of roots and extrapolate
(`mining.clique_estimate`). An estimate is a view: made once per snapshot and device, then reused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graphlode.config import settings
from graphlode.errors import UnsupportedError
from graphlode.execute import call
from graphlode.execute.device import Device, View, hold
from graphlode.execute.devices import Devices, available, resolve
from graphlode.graph.graph import Graph
from graphlode.graph.views import Roots

Method = Literal["auto", "pivot", "enumerate", "set", "bitmap", "warp", "thread"]

# Seconds. If the first device needs at most this long, the others are not estimated: they could save too little.
QUICK = 0.05

# A device takes part if it is at most this many times slower than the fastest. Slower ones cost more than they save.
WORTH_JOINING = 8.0

# Graphs with fewer edges are estimated on the CPU first, larger ones on a CUDA device if there is one.
FEW_EDGES = 1 << 18


@dataclass(frozen=True)
class CliqueEstimate:
    """Estimated seconds of each method on a device: {"pivot": .., "enumerate": .., "sampled": .., "why": ..}."""

    k: int
    by: str | None

    name = "mining.clique_estimate"
    base = Roots(by="degeneracy")


@dataclass(frozen=True)
class Plan:
    devices: Devices
    method: str
    notes: tuple[str, ...] = ()


def plan_cliques(graph: Graph, k: int, by: str | None, method: Method, devices: Devices) -> Plan:
    """The devices and the method to use. What the user has fixed stays fixed."""
    may_choose = devices == "auto" and settings().devices == "auto" and len(available()) > 1
    if method != "auto" and not may_choose:
        return Plan(devices, method)
    if not may_choose:
        times = {device.name: _estimate(device, graph, k, by) for device in resolve(devices)}
        chosen, why = choose_method(times)
        return Plan(devices, chosen, (f"method auto: {why}",))

    candidates = available()
    on_cpu_first = graph.num_edges < FEW_EDGES
    first, *others = sorted(candidates, key=lambda device: (device.backend == "cpu") != on_cpu_first)
    times = {first.name: _estimate(first, graph, k, by)}
    if _seconds(times[first.name], method) > QUICK:
        times |= {device.name: _estimate(device, graph, k, by) for device in others}
    names = choose_devices({name: _seconds(estimate, method) for name, estimate in times.items()})
    chosen, why = choose_method({name: times[name] for name in names}) if method == "auto" else (method, "as asked")
    return Plan(names, chosen, (f"devices auto: {', '.join(names)}; method {chosen}: {why}",))


def choose_devices(seconds: Mapping[str, float]) -> list[str]:
    """The fastest device and all that are not much slower, fastest first."""
    best = min(seconds.values())
    chosen = [name for name, time in seconds.items() if time <= WORTH_JOINING * best or time == best]
    return sorted(chosen, key=lambda name: seconds[name])


def choose_method(times: Mapping[str, Mapping[str, Any] | None]) -> tuple[str, str]:
    """The method with which all these devices together finish first, and the reason."""
    known = [estimate for estimate in times.values() if estimate is not None]
    if not known:
        return "pivot", "no estimate on this device"
    pivot, enumerate_ = (together([estimate[method] for estimate in known]) for method in ("pivot", "enumerate"))
    method = "pivot" if pivot <= enumerate_ else "enumerate"
    sampled = sum(int(estimate["sampled"]) for estimate in known)
    details = ", ".join(dict.fromkeys([f"from {sampled} roots", *(estimate["why"] for estimate in known)])).rstrip(", ")
    return method, f"about {pivot:.2g} s by pivoting, {enumerate_:.2g} s by enumeration ({details})"


def together(seconds: list[float]) -> float:
    """Time of devices that share the work, each at its own rate."""
    if min(seconds) <= 0:
        return 0.0
    rate = sum(1 / s for s in seconds)
    return 1 / rate if rate > 0 else float("inf")


def _estimate(device: Device, graph: Graph, k: int, by: str | None) -> Mapping[str, Any] | None:
    view: View = CliqueEstimate(k, by)
    made = graph.held.get((device.space, view))
    if made is not None and made.done() and made.exception() is None:
        kept: Mapping[str, Any] = made.result()  # a trip to the worker would take longer than a small count
        return kept
    try:
        found: Mapping[str, Any] = call(lambda control: hold(device, graph, view, control), device)
    except UnsupportedError:
        return None
    return found


def _seconds(estimate: Mapping[str, Any] | None, method: str) -> float:
    """Estimated seconds on a device. The baseline methods take about as long as enumeration."""
    if estimate is None:
        return float("inf")
    if method == "auto":
        return float(min(estimate["pivot"], estimate["enumerate"]))
    return float(estimate["pivot" if method == "pivot" else "enumerate"])
