/* Algorithm 1 of Swift (Kumar et al., SIGCOMM 2020) and the fabric's target delay (section 3.5) in integers, as the kernel has no
 * floating point. The listing's line numbers stand beside the code; `clearway_proto::swift::window` and `::target` say the same in
 * floating point, and a test compares the two over a million acknowledgements.
 *
 * A window is in packets, a factor is a part of one: both in units of 2^-32. Delays are in nanoseconds and below 2^32.
 * Pure: no memory but what it is given, no clock. */
#ifndef CLEARWAY_SWIFT_WINDOW_H
#define CLEARWAY_SWIFT_WINDOW_H

typedef unsigned int swift_u32;
typedef unsigned long long swift_u64;

/* One packet, or a factor of one. */
#define SWIFT_ONE (1ULL << 32)
#define SWIFT_LONGEST 0xffffffffULL

/* What an operator sets, as the kernel reads it: `KernelParameters` in Rust. */
struct swift_parameters {
    swift_u64 base_target_ns;
    /* Most that flow scaling adds; 0 where it is off. */
    swift_u64 fs_range_ns;
    /* alpha of section 3.5, in 256ths of a nanosecond times the square root of a packet; below 2^35. */
    swift_u64 fs_slope;
    /* -beta of section 3.5. */
    swift_u64 fs_intercept_ns;
    /* Additive increase in packets a round trip; at most 2^10 packets. */
    swift_u64 ai;
    swift_u64 beta;
    swift_u64 max_mdf;
    swift_u64 min_cwnd;
    swift_u64 max_cwnd;
    swift_u64 initial_cwnd;
    swift_u64 gap_limit_ns;
    swift_u64 gap_limit_max_ns;
    /* Timeouts in a row after which the window falls to its floor. */
    swift_u32 retx_reset_threshold;
    /* Packets of a window below one are spaced. */
    swift_u32 paces;
    /* What slope and intercept were made of, for who reads the parameters back. */
    swift_u64 fs_min_cwnd;
    swift_u64 fs_max_cwnd;
};

struct swift_window {
    swift_u64 cwnd;
    /* When it was last decreased; 0 stands for never. */
    swift_u64 last_decrease_ns;
};

#define SWIFT_INLINE static inline __attribute__((always_inline))
/* The verifier walks an inlined loop anew at each place; a function it walks once. */
#define SWIFT_FUNCTION static __attribute__((noinline))

/* `value` times `factor`, which is at most one. */
SWIFT_INLINE swift_u64 swift_scale(swift_u64 value, swift_u64 factor)
{
    if (factor >= SWIFT_ONE)
        return value;
    return (value >> 32) * factor + (((value & SWIFT_LONGEST) * factor) >> 32);
}

/* `part` of `whole`, below 2^32 both, and `part` at most `whole`, as a factor. */
SWIFT_INLINE swift_u64 swift_share(swift_u64 part, swift_u64 whole)
{
    return part >= whole ? SWIFT_ONE : (part << 32) / whole;
}

/* The square root of a number from 2^62 on, rounded down: from above by Newton's rule, which doubles the correct digits each time. */
SWIFT_FUNCTION swift_u32 swift_root(swift_u64 square)
{
    /* A line that is at most an eighth off. */
    swift_u64 root = (square >> 33) + (1ULL << 30) + (1ULL << 29);
    root = (root + square / root) >> 1;
    root = (root + square / root) >> 1;
    root = (root + square / root) >> 1;
    root = (root + square / root) >> 1;
    return root > SWIFT_LONGEST ? SWIFT_LONGEST : root;
}

/* The target for a window of `cwnd`: base + clamp(alpha / sqrt(cwnd) - beta, 0, fs_range). */
SWIFT_FUNCTION swift_u64 swift_target(const struct swift_parameters *parameters, swift_u64 cwnd)
{
    swift_u64 base = parameters->base_target_ns, range = parameters->fs_range_ns;
    if (!range || !cwnd)
        return base + range;
    /* The window's square root, with its highest bit at 31: a shift of the window by an even number of bits is one of the root by
     * half as many. */
    swift_u32 pairs = 0;
    if (!(cwnd >> 32)) { cwnd <<= 32; pairs += 16; }
    if (!(cwnd >> 48)) { cwnd <<= 16; pairs += 8; }
    if (!(cwnd >> 56)) { cwnd <<= 8; pairs += 4; }
    if (!(cwnd >> 60)) { cwnd <<= 4; pairs += 2; }
    if (!(cwnd >> 62)) { cwnd <<= 2; pairs += 1; }
    swift_u64 root = swift_root(cwnd);
    /* root = sqrt(window in packets) * 2^(16 + pairs), with at most 20 pairs from 2^-10 of a packet on; below, which no window
     * may be, the whole range is added. */
    if (pairs > 20)
        return base + range;
    swift_u64 scaling = ((parameters->fs_slope << (8 + pairs)) + root / 2) / root;
    scaling = scaling > parameters->fs_intercept_ns ? scaling - parameters->fs_intercept_ns : 0;
    return base + (scaling < range ? scaling : range);
}

/* Lines 26 to 28. */
SWIFT_INLINE void swift_finish(const struct swift_parameters *parameters, struct swift_window *window, swift_u64 before,
                               swift_u64 now_ns)
{
    if (window->cwnd < parameters->min_cwnd) /* 26 */
        window->cwnd = parameters->min_cwnd;
    if (window->cwnd > parameters->max_cwnd)
        window->cwnd = parameters->max_cwnd;
    if (window->cwnd < before) /* 27, as `clearway_proto` reads it: strictly less */
        window->last_decrease_ns = now_ns; /* 28 */
}

/* Line 3: at most one decrease a round trip. */
SWIFT_INLINE int swift_can_decrease(const struct swift_window *window, swift_u64 now_ns, swift_u64 rtt_ns)
{
    return now_ns >= window->last_decrease_ns && now_ns - window->last_decrease_ns >= rtt_ns;
}

/* `packets` by `cwnd`, which is at least one packet: what a window grows by for them. */
SWIFT_INLINE swift_u64 swift_by_window(swift_u64 packets, swift_u64 cwnd)
{
    /* As many digits as fit. */
    if (packets < 1ULL << 36)
        return (packets << 28) / (cwnd >> 4);
    return (packets << 16) / (cwnd >> 16);
}

/* Lines 4 to 14: an acknowledgement for `acked` new packets. */
SWIFT_INLINE void swift_on_ack(const struct swift_parameters *parameters, struct swift_window *window, swift_u64 now_ns,
                               swift_u64 rtt_ns, swift_u64 delay_ns, swift_u64 target_ns, swift_u32 acked)
{
    swift_u64 before = window->cwnd; /* 1 */
    if (delay_ns < target_ns) { /* 7 */
        /* As much as fits: more than any acknowledgement brings. */
        swift_u64 increase = parameters->ai * (acked < 1U << 15 ? acked : 1U << 15);
        if (increase >> 48)
            increase = (1ULL << 48) - 1;
        window->cwnd += before >= SWIFT_ONE ? swift_by_window(increase, before) : increase; /* 8 to 11 */
    } else if (swift_can_decrease(window, now_ns, rtt_ns)) { /* 13 */
        swift_u64 excess = swift_share(delay_ns - target_ns, delay_ns);
        /* beta may be above one, the excess is not. */
        swift_u64 cut = swift_scale(parameters->beta, excess);
        window->cwnd -= swift_scale(before, cut < parameters->max_mdf ? cut : parameters->max_mdf); /* 14 */
    }
    swift_finish(parameters, window, before, now_ns);
}

/* Lines 15 to 21: the retransmission timer ran out for the `in_a_row`th time in a row. */
SWIFT_INLINE void swift_on_timeout(const struct swift_parameters *parameters, struct swift_window *window, swift_u64 now_ns,
                                   swift_u64 rtt_ns, swift_u32 in_a_row)
{
    swift_u64 before = window->cwnd;
    if (in_a_row >= parameters->retx_reset_threshold) /* 17 */
        window->cwnd = parameters->min_cwnd;
    else if (swift_can_decrease(window, now_ns, rtt_ns)) /* 19 */
        window->cwnd -= swift_scale(before, parameters->max_mdf);
    swift_finish(parameters, window, before, now_ns);
}

/* Lines 22 to 25: a hole in the acknowledged packets. */
SWIFT_INLINE void swift_on_loss(const struct swift_parameters *parameters, struct swift_window *window, swift_u64 now_ns,
                                swift_u64 rtt_ns)
{
    swift_u64 before = window->cwnd;
    if (swift_can_decrease(window, now_ns, rtt_ns))
        window->cwnd -= swift_scale(before, parameters->max_mdf);
    swift_finish(parameters, window, before, now_ns);
}

#endif
