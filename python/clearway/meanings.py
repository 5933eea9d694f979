"""What each figure of a summary means, and each key of a manifest and of what `--json` prints.

What tables mean is said where the simulator makes them. `docs/OUTPUT.md` is made of both:
`python -m tools.output`.
"""

from __future__ import annotations

from collections.abc import Mapping

_RTT = (
    "the time from the sending of a packet to the arrival of its acknowledgement at its sender's transport, "
    "over the acknowledgements that arrived in the interval. A packet's wait for a window, for pacing or for "
    "a timeslot is over when it is sent, and does not count; its acknowledgement's wait for a timeslot does"
)
_FABRIC = "what of a round trip was spent outside the two hosts, over the acknowledgements that arrived"
_ENDPOINT = (
    "what of a round trip was spent in the two hosts, from NIC to the stack's end, over the acknowledgements "
    "that arrived"
)
_NIC = (
    "what a data packet spent in the host that received it, from NIC to the stack's end, over the packets "
    "that arrived"
)
_FCT = (
    "the time from a flow's start to when the receiving host's stack has taken the last byte that was "
    "missing, over the flows with a size that have started. Every wait counts: for a NIC, a window, a "
    "retransmission, and with Fastpass for the arbiter's answer and for timeslots. One that is not complete "
    "counts with its age when the run ended"
)
_SLOWDOWN = (
    "completion time over ideal completion time, over the flows with a size that have started. The ideal is "
    "the least time that the flow could have alone, over all the paths that it may take, without any host's "
    "work and without timeslots. One that is not complete counts with its age over the ideal, and with 1 at "
    "least"
)
_LATENCY = (
    "the time from an operation's issue to when its initiator knew that it was complete, over the operations "
    "that were issued in the interval. Every wait counts. One that was open when the run ended counts with "
    "its age"
)


def _exact(key: str, what: str) -> dict[str, str]:
    """Define the figures of values of which each is kept."""
    mean = key.format("mean")
    return {
        mean: f"The mean of {what}.",
        key.format("p50"): f"The value that half of those of `{mean}` do not exceed.",
        key.format("p99"): f"The value that 99 % of those of `{mean}` do not exceed.",
    }


def _binned(key: str, what: str) -> dict[str, str]:
    """Define the figures of times that a histogram holds; the mean is exact."""
    mean = key.format("mean")
    shares = {"p50": "half", "p99": "99 %", "p999": "99.9 %"}
    error = "read off a histogram and so at most one part in 256 too large"
    return {mean: f"The mean of {what}."} | {
        key.format(name): f"The time that {share} of those of `{mean}` do not exceed, {error}."
        for name, share in shares.items()
    }


def _request(key: str, what: str, which: str) -> dict[str, str]:
    """Define the figures of a sort of request of storage jobs."""
    spread = (
        f"the time of {what} of storage jobs {which}".rstrip() + ", from their beginning to when all data or "
        "the acknowledgement was there, over those that have ended"
    )
    figures = _binned(f"{key}_{{}}_us", spread)
    return {name: figures[name] for name in (f"{key}_mean_us", f"{key}_p50_us", f"{key}_p99_us")}


FIGURES: Mapping[str, str] = {
    "simulated_us": "The simulated time at which the run ended.",
    "measured_from_us": "When the measured interval began: at the end of the warm-up.",
    "measured_until_us": (
        "When the measured interval ended: at `measure_until`, which by default is the last `stop`, or with "
        "the run if that ended before."
    ),
    "flows": "Flows of the scenario, whether they have started or not.",
    "completed": "Flows with a size of which the receiver has taken every byte.",
    "goodput_gbps": "Payload that receivers took, each byte counted once, over the length of the interval.",
    "loss_rate": (
        "Of the data packets that were sent in the interval, retransmissions among them, the share that was "
        "lost anywhere, even if after the interval."
    ),
    "loss_rate_whole": (
        "Of all data packets that were sent, retransmissions among them, the share that was lost anywhere."
    ),
    "retransmissions": "Data packets that were sent again.",
    "needless_retransmissions": "Data packets that came to their receiver although it had them already.",
    "timeouts_whole": "Times that a sender's retransmission timeout ran out.",
    "cnps": "Congestion notifications (CNPs) that receivers sent. Not there without a scheme that has them.",
    "jain": (
        "Jain's index of the flows' goodputs x, (sum of x)² / (n · sum of x²): its mean over each whole "
        "`record.fairness` of the interval, or over the interval if that is shorter, and then over the "
        "transports. A flow counts where it had data to send all through, and fewer than two flows have no "
        "index."
    ),
    "unfinished_flows": "Flows with a size that had started and were not complete when the run ended.",
    "operations": "Operations that were issued in the interval and were complete when the run ended.",
    "unfinished_operations": "Operations that were issued in the interval and were open when the run ended.",
    "operations_per_second": (
        "Operations that were completed in the interval, whenever they were issued, and within their "
        "deadline if they have one, over the length of the interval."
    ),
    "failed_operations": (
        "Of the operations that became due in the interval and of which it was known when the run ended how "
        "they came out, the share that took longer than their deadline, or could not be issued as too many "
        "were open."
    ),
    "operation_wait_max_us": (
        "The longest time, begun before the interval's end, in which a flow had an operation open and none "
        "was completed: up to the next completion, of those from the interval's beginning on, or to the end "
        "of the run."
    ),
    "unfinished_jobs": (
        "Jobs of which a rank had not ended its last iteration when the run ended. Not there without a "
        "`[[job]]`, as the next seven."
    ),
    "iterations": "Iterations of jobs that all ranks have ended.",
    "iteration_mean_us": (
        "The mean time of these iterations: each from the end of the one before, or of the first from the "
        "job's start, to when its last rank had ended it."
    ),
    "iteration_max_us": "The longest of the times of `iteration_mean_us`.",
    "compute_mean_us": (
        "The mean time in an iteration in which a rank of a job computes, over all ranks and all iterations "
        "that each has ended."
    ),
    "exposed_mean_us": (
        "The mean time in an iteration in which a rank only exchanges messages, waiting for them included: "
        "communication that is exposed. With the time in which it computes, it is all of its time."
    ),
    "hidden_mean_us": (
        "The mean time in an iteration in which a rank exchanges messages while it computes: communication "
        "that is hidden."
    ),
    "job_slowdown_mean": (
        "The mean over jobs of their slowdowns: the mean time of an iteration over that in a run of the job "
        "alone, on the same hosts and paths, without other traffic, probes and faults. Only with "
        "`[record] alone`."
    ),
    "job_slowdown_max": "The largest of these slowdowns. Only with `[record] alone`.",
    "busbw_gb_per_s": (
        "The bus bandwidth of collectives as nccl-tests has it, in GB/s of 10^9 bytes: bytes of the whole "
        "array over the mean time of an iteration, times 2(n-1)/n for an all-reduce of n ranks, (n-1)/n for "
        "a reduce-scatter, an all-gather or an all-to-all, and 1 for a broadcast or a reduce; the mean over "
        "the jobs that are collectives."
    ),
    "requests": (
        "Reads and writes of storage jobs that have ended; what is rebuilt is not among them. Not there "
        "without a storage job of which a request has begun, as the next thirteen."
    ),
    "requests_per_second": (
        "These, over the time from the beginning of the first request of any storage job to the end of the "
        "last one."
    ),
    "read_gb_per_s": (
        "Bytes that clients of storage jobs have read, degraded reads included, over the same time, in GB/s "
        "of 10^9 bytes."
    ),
    "written_gb_per_s": (
        "Bytes of the objects that clients of storage jobs have written, each object counted once however "
        "many servers keep it, over the same time, in GB/s of 10^9 bytes."
    ),
    **_request("read", "reads", "that were not degraded"),
    **_request("degraded_read", "reads", "for which a dead server was left out"),
    **_request("write", "writes", ""),
    "rebuild_us": (
        "The time from the beginning of the first rebuilding of a block to the end of the last one: that of "
        "the storage job with the longest, of those that have rebuilt all that they were to rebuild."
    ),
    "queue_mean_bytes": (
        "The mean over time of the bytes that waited at a port, without the frame in transmission: that of "
        "the port where it is largest."
    ),
    "queue_peak_bytes": (
        "The most bytes at once at any port, with the frame in transmission; 0 where no frame ever had to "
        "wait."
    ),
    "utilisation_max": (
        "Bytes that were put on a link over what its rate allows: that of the link where it is largest. "
        "PAUSEs are not counted."
    ),
    "drops": (
        "Frames of any kind that ports dropped as there was no room for them. What hosts' receive queues "
        "drop is not among them."
    ),
    "marks": "Frames that ports marked with ECN. One that two ports mark counts twice.",
    "fault_losses": "Frames of any kind that links lost by a `[[fault]]`.",
    "fault_lost_bytes": (
        "Bytes on the wire of frames lost by faults of links, switches and hosts: on links, in queues, and "
        "where no way was left. Not there without such a fault."
    ),
    "fault_recovery_max_us": (
        "The longest time from the beginning of such a fault until goodput was back at 90 % of what it had "
        "been, as the table `faults` has it. Not there without such a fault."
    ),
    "trims": (
        'Packets of which a port cut the payload off. Not there where no switch has `overflow = "trim"`.'
    ),
    "host_utilisation_max": (
        "The share of the interval in which a processor worked on frames that came and packets that left: "
        "that of the host where it is largest; 0 of the model `interrupts`. Not there where all hosts are "
        "ideal."
    ),
    "host_drops": (
        "Frames for which the receive queues of hosts had no room. Not there where all hosts are ideal."
    ),
    "pause_share": (
        "The share of the run for which flow control paused a link: the mean over all directions of links "
        "and lossless classes that it can pause."
    ),
    "host_pause_us": (
        "How long flow control paused hosts' own links, all lossless classes together, as a mean over the "
        "hosts."
    ),
    "deadlocked_links": (
        "Links in a circle that waited for each other when the run ended, each for the next and the last for "
        "the first."
    ),
    "request_share": (
        "Bytes on the wire of endpoints' requests, which go to every arbiter, each counted, over the payload "
        "that all receivers took."
    ),
    "allocation_share": (
        "Bytes on the wire of what arbiters sent to endpoints, over the payload that all receivers took."
    ),
    "slots_granted": "Grants of timeslots that endpoints took.",
    "slots_unused": "Timeslots whose turn came and in which nothing left, as nothing waited any more.",
    "slots_refused": "Grants that endpoints refused as their timeslots were over, or too far ahead.",
    "packets": "Rows of the table `packets`. Not there without `[record.packets]`.",
    "packets_until_us": (
        "The time of the last row of the table `packets`, where there were more packets than its `limit`. "
        "Not there where all are recorded that were to be."
    ),
    "fallbacks": "Times that an endpoint began to send without timeslots, as no arbiter answered.",
    **_binned("rtt_{}_us", _RTT),
    **_binned("fabric_rtt_{}_us", _FABRIC),
    **_binned("endpoint_delay_{}_us", _ENDPOINT),
    **_binned("nic_delay_{}_us", _NIC),
    **_exact("fct_{}_us", _FCT),
    "fct_max_us": "The largest of the times of `fct_mean_us`.",
    **_exact("slowdown_{}", _SLOWDOWN),
    **_binned("latency_{}_us", _LATENCY),
}
"""The definition of each figure, over the measured interval or the whole run, as `figures.FIGURES` says."""

SUMMARY: Mapping[str, str] = {
    "lower_bounds": (
        "The figures of which the true value may be larger, as some flows or operations were unfinished when "
        "the run ended."
    ),
    "absent": "For each figure that is `null` the reason; of several seeds also in how many it is.",
    "transports": "For each transport by its name the figures of its own flows.",
}
"""The keys of a summary that are no figures."""

MANIFEST: Mapping[str, str] = {
    "format": "The version of the run directory's layout.",
    "name": "The scenario's `name`.",
    "seed": "The root of every random number.",
    "version": "The version of Clearway that made the run.",
    "digest": (
        "A hash of every flow's completion and of all counters: the same for the same scenario, seed and "
        "version on every machine and for any number of threads."
    ),
    "packet_hops": "Packets over links: a packet over one link is one hop, be it data or acknowledgement.",
    "wall_s": "How many seconds the run took on the machine that made it.",
    "threads": "How many threads it ran on.",
    "without_chance": (
        "Whether every seed gives this result for certain, as nothing in the scenario is drawn; false says "
        "nothing."
    ),
    "warnings": "A sentence for each thing of the scenario that can be run but is unlikely to be meant.",
    "interrupted_at_us": (
        "The simulated time at which the run was interrupted and kept (`--keep-partial`), as in "
        "`summary.json`, which then has this key; all figures are of the time before. `null` if it is whole."
    ),
    "tables": "For each table its file, the number of its rows, and the kind of each of its columns.",
    "measured": (
        "The measured interval (`from_us`, `until_us`), and the figures that cover the `whole_run` instead."
    ),
    "scenario": "The scenario with every default filled in.",
}
"""The keys of `manifest.json` of a run."""

SEEDS: Mapping[str, str] = {
    "format": MANIFEST["format"],
    "name": MANIFEST["name"],
    "version": MANIFEST["version"],
    "seeds": "For each folder below that is a run's, its seed.",
    "digests": "The digests of the runs.",
    "packet_hops": "The packet-hops of all runs together.",
    "missing_seeds": (
        "The seeds that were asked for and are not here, as the command was interrupted (`--keep-partial`); "
        "where there are some, `summary.json` has this key too."
    ),
}
"""The keys of `manifest.json` where a scenario ran with several seeds."""

INTERVAL: Mapping[str, str] = {
    "mean": "The mean over the seeds that have the figure.",
    "half_width_95": "Half the width of its 95 % confidence interval (Student's t); `null` of one seed.",
    "seeds": "How many seeds have it.",
    "lower_bound": "Whether the true mean may be larger, as that of a seed may.",
}
"""What stands for a figure in `summary.json` where a scenario ran with several seeds."""

JSON: Mapping[str, str] = {
    "name": MANIFEST["name"],
    "seed": "The seed; of several runs `seeds`, a list.",
    "digest": "The digest; of several runs `digests`, a list.",
    "packet_hops": "The packet-hops, of several runs together.",
    "wall_s": "How many seconds it took, of several runs from the first one's start to the last one's end.",
    "measured": MANIFEST["measured"],
    "interrupted_at_us": (
        "When the run was interrupted, as in `manifest.json`; of several runs `missing_seeds`, a list."
    ),
    "summary": "What `summary.json` holds.",
    "out": "The directory that was written; `null` without `--out`.",
}
"""The keys of what `clearway run --json` prints."""
