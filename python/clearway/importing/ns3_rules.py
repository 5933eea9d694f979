"""What the values of a config file of HPCC's or ConWeave's ns-3 make of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearway.importing import units
from clearway.importing.ns3_switches import ecn_of, mixed_roles, pfc_of
from clearway.importing.ns3_values import Config
from clearway.importing.ns3_window import base_rtt
from clearway.importing.parts import Network

TRANSPORT = "rdma"
"""The name of the transport in the scenario."""
MODES: Mapping[int, str] = {1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}
_DCQCN_TIMES = {
    "ALPHA_RESUME_INTERVAL": "alpha_timer",
    "RATE_DECREASE_INTERVAL": "decrease_interval",
    "RP_TIMER": "increase_timer",
}
"""In microseconds there."""
_DCQCN_RATES = {"RATE_AI": "ai_rate", "RATE_HAI": "hai_rate", "MIN_RATE": "min_rate"}
WITHOUT_EFFECT = frozenset(
    {
        "ENABLE_TRACE",
        "QLEN_MON_START",
        "QLEN_MON_END",
        "SW_MONITORING_INTERVAL",
        "QLEN_MON_FILE",
        "FLOW_INPUT_FILE",
        "LOAD",
        "RANDOM_SEED",
        "FLOWGEN_STOP_TIME",
    }
)
"""Keys about what is recorded, and about how a file of flows was made."""
KNOWN = frozenset(
    {
        "TOPOLOGY_FILE",
        "FLOW_FILE",
        "FLOWGEN_START_TIME",
        "PACKET_PAYLOAD_SIZE",
        "SIMULATOR_STOP_TIME",
        "CC_MODE",
        "ENABLE_QCN",
        "ENABLE_PFC",
        "ENABLE_IRN",
        "USE_DYNAMIC_PFC_THRESHOLD",
        "KMIN_MAP",
        "KMAX_MAP",
        "PMAX_MAP",
        "BUFFER_SIZE",
        "ERROR_RATE_PER_LINK",
        "LINK_DOWN",
        "EWMA_GAIN",
        "FAST_RECOVERY_TIMES",
        "U_TARGET",
        "MI_THRESH",
        "GLOBAL_T",
        "LB_MODE",
        "L2_BACK_TO_ZERO",
        "HAS_WIN",
        "VAR_WIN",
        "ACK_HIGH_PRIO",
        *_DCQCN_TIMES,
        *_DCQCN_RATES,
    }
)
"""Keys that are read, or of which something is said by itself."""
_BALANCERS = {2: "DRILL", 3: "CONGA", 6: "LetFlow", 9: "ConWeave"}


class Ns3Rules:
    """Makes tables of a scenario from a config file."""

    def __init__(self, config: Config) -> None:
        """Check the values that need no network, and gather what there is to say of them."""
        self._config = config
        self.assumed: list[str] = []
        self.lost: list[str] = []
        self._mode = config.whole("CC_MODE", 1)
        if self._mode not in MODES:
            known = ", ".join(f"{number} ({name})" for number, name in MODES.items())
            raise config.source.error(
                config.lines["CC_MODE"], f"CC_MODE: found {self._mode}, expected one of {known}", "correct it"
            )
        self._transport = self._read_transport()
        self._say_what_is_lost()

    def tables(self, network: Network, zero: int) -> dict[str, Any]:
        """Return the tables; `zero` is where the scenario's time begins, in picoseconds of ns-3."""
        config = self._config
        mtu = config.whole("PACKET_PAYLOAD_SIZE", 1000, 65_000)
        tables: dict[str, Any] = {"network": {"mtu": units.size(mtu)}}
        end = config.time("SIMULATOR_STOP_TIME", units.PS_PER_S)
        if end is not None:
            if end <= zero:
                raise config.source.error(
                    config.lines["SIMULATOR_STOP_TIME"],
                    f"SIMULATOR_STOP_TIME: {units.time(end)} is not after {units.time(zero)}, as flows are",
                    "raise it",
                )
            tables["duration"] = end - zero
        transport = dict(self._transport)
        if transport["protocol"] == "hpcc":
            transport.update(self._hpcc_window(network, mtu))
        tables["transport"] = {TRANSPORT: transport}
        tables["switch"] = self._switches(network)
        tables["fault"] = self._faults(network, zero)
        return tables

    def lost_in(self, network: Network) -> list[str]:
        """Say what the settings make of a network that a scenario cannot."""
        if not {"KMIN_MAP", "BUFFER_SIZE"} & self._config.values.keys():
            return []
        return [
            f"marks and PFC of {role} switches: as at their slowest ports, also at the faster ones"
            for role in mixed_roles(network)
        ]

    def _read_transport(self) -> dict[str, Any]:
        config = self._config
        if self._mode in (3, 10):
            keys: dict[str, Any] = {
                "eta": config.number("U_TARGET", 1),
                "max_stage": config.whole("MI_THRESH", 5, 1000),
                "recovery": "selective_repeat" if config.whole("ENABLE_IRN", 0, 1) else None,
            }
            return {"protocol": "hpcc", **_given(keys)}
        if self._mode == 8:
            return {"protocol": "dctcp", **_given({"gain": config.number("EWMA_GAIN", 1)})}
        if self._mode == 7:
            rates = {"increase": config.rate("RATE_AI"), "min_rate": config.rate("MIN_RATE")}
            keys = {ours: units.rate(value) for ours, value in rates.items() if value is not None}
            return {"protocol": "timely", **keys}
        times = {ours: config.time(key, 10**6) for key, ours in _DCQCN_TIMES.items()}
        rates = {ours: config.rate(key) for key, ours in _DCQCN_RATES.items()}
        keys = {
            "gain": config.number("EWMA_GAIN", 1),
            **{ours: units.time(value) for ours, value in times.items() if value is not None},
            "fast_recovery": config.whole("FAST_RECOVERY_TIMES", 1, 1000),
            **{ours: units.rate(value) for ours, value in rates.items() if value is not None},
        }
        protocol = "irn" if config.whole("ENABLE_IRN", 0, 1) else "roce"
        # Its README: as Mellanox's adapters have it.
        return {"protocol": protocol, "congestion": "dcqcn", "dcqcn": "mellanox", **_given(keys)}

    def _hpcc_window(self, network: Network, mtu: int) -> dict[str, Any]:
        """Return HPCC's keys that need the largest round trip of the network."""
        rtt = base_rtt(network, mtu)
        keys: dict[str, Any] = {}
        if self._config.whole("GLOBAL_T", 1, 1):
            keys["base_rtt"] = units.time(rtt)
        increase = self._config.rate("RATE_AI")
        if increase is not None:
            keys["wai"] = units.size(max(1, round(increase * rtt / 8 / units.PS_PER_S)))
        return keys

    def _switches(self, network: Network) -> dict[str, Any]:
        config = self._config
        keys: dict[str, Any] = {}
        size = config.whole("BUFFER_SIZE", 0, 4000)
        if size:
            keys = {"buffer": f"{size}MiB", "sharing": "shared"}
        by_role: dict[str, dict[str, Any]] = {}
        if config.whole("ENABLE_QCN", 1, 1) and "KMIN_MAP" in config.values:
            by_role = ecn_of(config, network)
        if size and config.whole("ENABLE_PFC", 1, 1) and not config.whole("ENABLE_IRN", 0, 1):
            for role, keys_of_role in pfc_of(network).items():
                by_role.setdefault(role, {}).update(keys_of_role)
        kinds = list(by_role.values())
        if not kinds or all(kind == kinds[0] for kind in kinds):
            return {"default": {**keys, **(kinds[0] if kinds else {})}}
        return {"default": keys, **by_role}

    def _faults(self, network: Network, zero: int) -> list[dict[str, Any]]:
        config = self._config
        faults: list[dict[str, Any]] = []
        loss = config.number("ERROR_RATE_PER_LINK", 1) or 0.0
        if loss:
            faults += [
                {"kind": "loss", "link": network.link_name(link), "probability": loss}
                for link in network.links
                if not link.loss
            ]
        down = self._down()
        if down:
            begin = config.time("FLOWGEN_START_TIME", units.PS_PER_S) or 2 * units.PS_PER_S
            after, *ends = down
            joined = [link for link in network.links if sorted(link.ends) == sorted(ends)]
            if not joined:
                message = f"LINK_DOWN: no link joins nodes {ends[0]} and {ends[1]}"
                raise config.source.error(config.lines["LINK_DOWN"], message, "name the two ends of a link")
            at = max(0, begin + after * 10**6 - zero)
            faults.append({"kind": "down", "link": network.link_name(joined[0]), "at": units.time(at)})
        return faults

    def _down(self) -> list[int]:
        """Return the time in microseconds and the nodes of LINK_DOWN, nothing where no link fails."""
        config = self._config
        values = config.values.get("LINK_DOWN", ["0", "0", "0"])
        line = config.lines.get("LINK_DOWN", 1)
        if len(values) != 3:
            raise config.source.error(
                line, f"LINK_DOWN: found {len(values)} values, expected time and two nodes", "correct it"
            )
        numbers = [config.source.whole(line, "LINK_DOWN", value, 0, 10**9) for value in values]
        return numbers if numbers[0] else []

    def _say_what_is_lost(self) -> None:
        config = self._config
        if self._mode == 7 and "RATE_HAI" in config.values:
            self.lost.append("RATE_HAI: TIMELY rises by five times RATE_AI, from the fifth step in a row on")
        if self._mode == 10:
            self.lost.append("CC_MODE 10: HPCC without PINT, whose compressed telemetry is not here")
        if self._mode == 1 and config.whole("HAS_WIN", 1, 1):
            self.lost.append(
                "HAS_WIN: no window of a bandwidth-delay product; window of [transport.rdma] is one"
            )
        if self._mode != 1 and config.whole("ENABLE_IRN", 0, 1):
            self.lost.append("ENABLE_IRN: only what is lost is sent again, but without IRN's two timeouts")
        if config.whole("L2_BACK_TO_ZERO", 0, 1):
            self.lost.append("L2_BACK_TO_ZERO: after a loss go-back-N, not the whole chunk")
        if config.whole("ACK_HIGH_PRIO", 0, 1):
            self.lost.append("ACK_HIGH_PRIO: acknowledgements wait with data ([class.NAME] would part them)")
        if not config.whole("USE_DYNAMIC_PFC_THRESHOLD", 1, 1):
            self.lost.append("USE_DYNAMIC_PFC_THRESHOLD 0: thresholds are dynamic")
        balancer = _BALANCERS.get(config.whole("LB_MODE", 0))
        if balancer:
            self.lost.append(f"LB_MODE: {balancer} is not here; a flow takes one path, by hash")
        if self._down():
            self.lost.append("LINK_DOWN: nothing is routed around the link here, as it is there at once")
        if self._mode == 8 and "DCTCP_RATE_AI" in config.values:
            self.lost.append(
                "CC_MODE 8: DCTCP as in TCP, by window, and not as the adapters of HPCC's authors"
            )
        self.assumed += [
            "KMIN_MAP and KMAX_MAP are in kB, BUFFER_SIZE in MiB, timers in us, as the code has them"
        ]


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}
