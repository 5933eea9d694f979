/* Swift (Kumar et al., SIGCOMM 2020) as a congestion control of the kernel's TCP.
 *
 * The kernel's round-trip sample is the delay: the other end acknowledges in its softirq, so that its application's slowness is not in
 * it; the sender's own wait in the queue of its host is. From one packet on, acknowledgements are the clock (the paper's rule, section
 * 3.6), except that windows of two to four packets are spread over their round trip; below one, TCP's own pacing spaces the packets. */
#include "kernel.h"
#include "swift_window.h"

/* Helpers that this file calls are only for programs whose licence is compatible with the GPL. */
char swift_license[] SEC("license") = "Dual MIT/GPL";

/* Windows whose packets are spread over a round trip. */
#define SPREAD_FROM (2 * SWIFT_ONE)
#define SPREAD_BELOW (4 * SWIFT_ONE)

/* Buckets of a socket's histogram of round trips: bucket b has those from 2^b microseconds on. */
#define RTT_BUCKETS 24

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct swift_parameters);
} parameters SEC(".maps");

/* What a socket has counted: `SocketCounters` in Rust. */
struct counters {
    __u64 started_ns;
    __u64 acks;
    __u64 acked_packets;
    __u64 delay_decreases;
    __u64 loss_decreases;
    __u64 timeouts;
    /* Time with a window below one packet. */
    __u64 below_one_ns;
    __u64 cwnd;
    __u64 target_ns;
    __u64 srtt_ns;
    __u64 rtt_sum_us;
    __u64 pacing_gap_ns;
    /* How long the other end said that it waited, the last time. */
    __u64 waited_ns;
    __u64 rtt[RTT_BUCKETS];
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct counters);
} sockets SEC(".maps");

/* What the two ends of a connection tell each other of their delays, where both run `swift_echo`. */
struct echo {
    /* When the first data came here that is not acknowledged yet; 0 when nothing waits for that. */
    __u64 received_ns;
    /* How long the other end waited before it sent the acknowledgement that came last. */
    __u32 waited_ns;
    /* Whether it ever said so. */
    __u32 heard;
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct echo);
} echoes SEC(".maps");

/* The sums over all sockets that are closed, or have another congestion control by now. What holds for an instant is 0 here. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct counters);
} closed SEC(".maps");

/* Kernels before 6.10 call `cong_control` without the number and the flags of the acknowledgement. The loader sets this before the
 * verifier sees it. */
const volatile __u32 control_has_two_arguments = 0;

/* A socket's congestion control, in the room that the kernel has for it beside the socket: 104 bytes. */
struct flow {
    struct swift_window window;
    /* The last sample, and smoothed; 0 before the first. */
    __u64 rtt_ns;
    __u64 srtt_ns;
    /* When the last sample came. */
    __u64 sampled_ns;
    /* Longest that the gap may be. */
    __u64 gap_limit_ns;
    /* Between two packets of a window below one. */
    __u64 gap_ns;
    /* Timeouts since the last acknowledgement. */
    __u32 timeouts;
    __u32 unused;
};

_Static_assert(sizeof(struct flow) <= 104, "it does not fit icsk_ca_priv");

static __always_inline struct swift_parameters *current_parameters(void)
{
    __u32 zero = 0;
    return bpf_map_lookup_elem(&parameters, &zero);
}

static __always_inline struct flow *flow_of(struct sock *sk)
{
    return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* A gap between half of the limit and all: flows with one gap would send in step, and those that meet each other's queue would meet it
 * every time. */
static __always_inline __u64 spread(__u64 limit_ns)
{
    return limit_ns / 2 + limit_ns / 2 * (bpf_get_prandom_u32() >> 22) / 1024;
}

/* The gap of a window below one packet: rtt / cwnd, within the flow's limit. */
static __always_inline __u64 pacing_gap(const struct flow *flow, __u64 target_ns)
{
    __u64 rtt = flow->srtt_ns ? flow->srtt_ns : target_ns;
    if (rtt > SWIFT_LONGEST)
        rtt = SWIFT_LONGEST;
    /* A window of 2^-10 packets or more: the quotient fits. */
    __u64 gap = ((rtt << 31) / ((flow->window.cwnd >> 1) | 1));
    __u64 longest = spread(flow->gap_limit_ns);
    return gap < longest ? gap : longest;
}

/* Moves the limit to the gap on the evidence of an acknowledgement, before anything else learns from it, as
 * `clearway_proto::swift::control` does and says why. */
static __always_inline void weigh_gap_limit(const struct swift_parameters *p, struct flow *flow, __u64 now, __u64 rtt, __u64 target)
{
    if (flow->window.cwnd >= SWIFT_ONE && flow->gap_limit_ns == p->gap_limit_ns)
        return;
    if (rtt < target) {
        __u64 shorter = flow->gap_limit_ns / 5 * 4;
        flow->gap_limit_ns = shorter > p->gap_limit_ns ? shorter : p->gap_limit_ns;
        return;
    }
    int limited = flow->gap_ns && flow->srtt_ns / ((flow->window.cwnd >> 22) | 1) > flow->gap_ns >> 10;
    if (limited && now - flow->sampled_ns >= rtt && rtt > target * 4) {
        __u64 longer = flow->gap_limit_ns / 4 * 5;
        flow->gap_limit_ns = longer < p->gap_limit_max_ns ? longer : p->gap_limit_max_ns;
    }
}

/* Bytes a second at which the packets of a small window are spread over a round trip. TCP's own window has whole packets only, so the
 * rate is what carries the rest; and what leaves at once comes back at once, so that the queue swings between full and empty. Measured in
 * docs/PERFORMANCE.md, with why windows of one to two packets are not spread. */
static __always_inline __u64 spread_rate(const struct flow *flow, __u64 mss, __u64 target_ns)
{
    /* A longer round trip than the target is for the window to answer. */
    __u64 rtt = flow->srtt_ns < target_ns ? flow->srtt_ns : target_ns;
    /* Below 2^24, 2^16 and 2^20. */
    __u64 product = (flow->window.cwnd >> 10) * mss * 1000000;
    return product / (rtt > 1000 ? rtt : 1000) * 1000 >> 22;
}

/* Tells TCP what the window says. */
static __always_inline void apply(struct sock *sk, struct flow *flow, const struct swift_parameters *p, __u64 target)
{
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    unsigned long rate = ~0UL;
    flow->gap_ns = 0;
    if (flow->window.cwnd < SWIFT_ONE && p->paces) {
        flow->gap_ns = pacing_gap(flow, target);
        rate = (__u64)tp->mss_cache * 1000000000ULL / (flow->gap_ns | 1);
    } else if (flow->window.cwnd >= SPREAD_FROM && flow->window.cwnd < SPREAD_BELOW && flow->srtt_ns && p->paces) {
        rate = spread_rate(flow, tp->mss_cache, target);
    }
    unsigned long most = sk->sk_max_pacing_rate;
    sk->sk_pacing_rate = rate < most ? rate : most;
    __u64 whole = flow->window.cwnd >> 32;
    tp->snd_cwnd = whole ? whole : 1;
}

static __always_inline __u32 bucket_of(__u64 us)
{
    __u32 bucket = 0;
    if (us >> 16) { bucket += 16; us >>= 16; }
    if (us >> 8) { bucket += 8; us >>= 8; }
    if (us >> 4) { bucket += 4; us >>= 4; }
    if (us >> 2) { bucket += 2; us >>= 2; }
    if (us >> 1) bucket += 1;
    return bucket < RTT_BUCKETS ? bucket : RTT_BUCKETS - 1;
}

/* What the socket has counted, with the time below one packet up to `now`. */
static __always_inline void count_window(struct counters *c, const struct flow *flow, __u64 target)
{
    c->cwnd = flow->window.cwnd;
    c->target_ns = target;
    c->srtt_ns = flow->srtt_ns;
    c->pacing_gap_ns = flow->gap_ns;
}

SEC("struct_ops")
void swift_init(__u64 *ctx)
{
    struct sock *sk = (struct sock *)ctx[0];
    struct flow *flow = flow_of(sk);
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct swift_parameters *p = current_parameters();
    if (!p)
        return;
    flow->window.cwnd = p->initial_cwnd;
    flow->window.last_decrease_ns = 0;
    flow->rtt_ns = 0;
    flow->srtt_ns = 0;
    flow->sampled_ns = 0;
    flow->gap_limit_ns = p->gap_limit_ns;
    flow->gap_ns = 0;
    flow->timeouts = 0;
    sk->sk_pacing_status = SK_PACING_NEEDED;
    tp->snd_ssthresh = 0x7fffffff;
    apply(sk, flow, p, swift_target(p, flow->window.cwnd));
    struct counters *c = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (c) {
        c->started_ns = tp->tcp_mstamp * 1000;
        count_window(c, flow, swift_target(p, flow->window.cwnd));
    }
}

SEC("struct_ops")
void swift_release(__u64 *ctx)
{
    struct sock *sk = (struct sock *)ctx[0];
    __u32 zero = 0;
    struct counters *c = bpf_sk_storage_get(&sockets, sk, 0, 0);
    struct counters *sum = bpf_map_lookup_elem(&closed, &zero);
    if (c && sum) {
        sum->acks += c->acks;
        sum->acked_packets += c->acked_packets;
        sum->delay_decreases += c->delay_decreases;
        sum->loss_decreases += c->loss_decreases;
        sum->timeouts += c->timeouts;
        sum->below_one_ns += c->below_one_ns;
        sum->rtt_sum_us += c->rtt_sum_us;
        for (int bucket = 0; bucket < RTT_BUCKETS; bucket++)
            sum->rtt[bucket] += c->rtt[bucket];
    }
    bpf_sk_storage_delete(&sockets, sk);
    /* Whatever comes next sets its own rate; the kernel's own rule computes it anew with each acknowledgement. */
    sk->sk_pacing_rate = sk->sk_max_pacing_rate;
}

SEC("struct_ops")
void swift_cong_control(__u64 *ctx)
{
    struct sock *sk = (struct sock *)ctx[0];
    const struct rate_sample *rs;
    /* The verifier wants each argument to be read at a fixed place: the empty statements keep the compiler from making one read of
     * two. */
    if (control_has_two_arguments) {
        rs = (const struct rate_sample *)ctx[1];
        asm volatile("" : "+r"(rs));
    } else {
        rs = (const struct rate_sample *)ctx[3];
        asm volatile("" : "+r"(rs));
    }
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct flow *flow = flow_of(sk);
    struct swift_parameters *p = current_parameters();
    if (!p)
        return;
    struct counters *c = bpf_sk_storage_get(&sockets, sk, 0, 0);
    __u64 now = tp->tcp_mstamp * 1000;
    if (c && flow->window.cwnd < SWIFT_ONE && flow->sampled_ns)
        c->below_one_ns += now - flow->sampled_ns;
    if (rs->losses > 0 && flow->rtt_ns) {
        __u64 before = flow->window.cwnd;
        swift_on_loss(p, &flow->window, now, flow->rtt_ns);
        if (c && flow->window.cwnd < before)
            c->loss_decreases++;
    }
    __u64 target = swift_target(p, flow->window.cwnd);
    __u32 acked = rs->acked_sacked;
    if (rs->rtt_us > 0 && acked > 0) {
        __u64 us = rs->rtt_us;
        __u64 rtt = us * 1000 < SWIFT_LONGEST ? us * 1000 : SWIFT_LONGEST;
        /* The fabric's delay is the round trip less what the other end waited (section 3.2). */
        __u64 delay = rtt;
        struct echo *echo = bpf_sk_storage_get(&echoes, sk, 0, 0);
        if (echo && echo->heard) {
            delay -= echo->waited_ns < rtt ? echo->waited_ns : rtt;
            if (c)
                c->waited_ns = echo->waited_ns;
        }
        weigh_gap_limit(p, flow, now, delay, target);
        flow->timeouts = 0;
        flow->rtt_ns = rtt;
        flow->srtt_ns = flow->srtt_ns ? (flow->srtt_ns * 3 + rtt) / 4 : rtt;
        flow->sampled_ns = now;
        __u64 before = flow->window.cwnd;
        /* An application that sends less than its window learns nothing of a larger one. */
        if (delay >= target || !rs->is_app_limited)
            swift_on_ack(p, &flow->window, now, rtt, delay, target, acked);
        if (c) {
            c->acks++;
            c->acked_packets += acked;
            c->rtt_sum_us += us;
            c->rtt[bucket_of(us)]++;
            if (flow->window.cwnd < before)
                c->delay_decreases++;
        }
        target = swift_target(p, flow->window.cwnd);
    }
    apply(sk, flow, p, target);
    if (c)
        count_window(c, flow, target);
}

SEC("struct_ops")
void swift_set_state(__u64 *ctx)
{
    struct sock *sk = (struct sock *)ctx[0];
    __u8 state = ctx[1];
    if (state != TCP_CA_Loss)
        return;
    struct flow *flow = flow_of(sk);
    struct swift_parameters *p = current_parameters();
    if (!p)
        return;
    flow->timeouts++;
    swift_on_timeout(p, &flow->window, ((struct tcp_sock *)sk)->tcp_mstamp * 1000, flow->rtt_ns, flow->timeouts);
    __u64 target = swift_target(p, flow->window.cwnd);
    apply(sk, flow, p, target);
    struct counters *c = bpf_sk_storage_get(&sockets, sk, 0, 0);
    if (c) {
        c->timeouts++;
        count_window(c, flow, target);
    }
}

/* No threshold divides slow start from anything. */
SEC("struct_ops")
__u32 swift_ssthresh(__u64 *ctx)
{
    return ((struct tcp_sock *)ctx[0])->snd_ssthresh;
}

/* What looked lost was not; the window had its own opinion of it. */
SEC("struct_ops")
__u32 swift_undo_cwnd(__u64 *ctx)
{
    return ((struct tcp_sock *)ctx[0])->snd_cwnd;
}

/* The registration lasts as long as the link to it, which the loader keeps in the BPF file system. */
SEC(".struct_ops.link")
struct tcp_congestion_ops swift = {
    .init = (void *)swift_init,
    .release = (void *)swift_release,
    .cong_control = (void *)swift_cong_control,
    .set_state = (void *)swift_set_state,
    .ssthresh = (void *)swift_ssthresh,
    .undo_cwnd = (void *)swift_undo_cwnd,
    /* TCP_CONG_NON_RESTRICTED: whoever may choose among the unrestricted ones may choose this one. */
    .flags = 1,
    .name = "swift",
};

/* A TCP option for experiments (RFC 6994): how long the sender of this segment waited since data came to it, in nanoseconds. */
struct echo_option {
    __u8 kind;
    __u8 length;
    __be16 experiment;
    __be32 waited_ns;
} __attribute__((packed));

#define ECHO_KIND 254
/* "CW"; not registered. */
#define ECHO_EXPERIMENT 0x4357

/* Whether a segment is more than its header, whose length stands in its thirteenth byte. */
static __always_inline int carries_data(struct bpf_sock_ops *ops)
{
    __u8 *header = ops->skb_data;
    if ((void *)(header + 13) > ops->skb_data_end)
        return 0;
    return ops->skb_len > (__u32)(header[12] >> 4) * 4;
}

/* Where both ends of a connection run this, each tells the other how long it waited before it acknowledged: a delayed acknowledgement is
 * then no congestion. What passes between the network card and TCP is not in it. */
SEC("sockops")
int swift_echo(struct bpf_sock_ops *ops)
{
    struct bpf_sock *sk = ops->sk;
    struct echo *echo;
    struct echo_option option = {};
    switch (ops->op) {
    case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
    case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
        if (sk && bpf_sk_storage_get(&echoes, sk, 0, BPF_SK_STORAGE_GET_F_CREATE))
            bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG |
                                               BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG);
        break;
    case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
        bpf_reserve_hdr_opt(ops, sizeof(option), 0);
        break;
    case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
        if (!sk || !(echo = bpf_sk_storage_get(&echoes, sk, 0, 0)))
            break;
        __u64 waited = echo->received_ns ? bpf_ktime_get_ns() - echo->received_ns : 0;
        echo->received_ns = 0;
        option.kind = ECHO_KIND;
        option.length = sizeof(option);
        option.experiment = __builtin_bswap16(ECHO_EXPERIMENT);
        option.waited_ns = __builtin_bswap32(waited < SWIFT_LONGEST ? waited : SWIFT_LONGEST);
        bpf_store_hdr_opt(ops, &option, sizeof(option), 0);
        break;
    case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
        if (!sk || !(echo = bpf_sk_storage_get(&echoes, sk, 0, 0)))
            break;
        /* The kernel looks at no more than the kind and, of experiments, their number. */
        option.kind = ECHO_KIND;
        option.length = 4;
        option.experiment = __builtin_bswap16(ECHO_EXPERIMENT);
        if (bpf_load_hdr_opt(ops, &option, sizeof(option), 0) > 0) {
            echo->waited_ns = __builtin_bswap32(option.waited_ns);
            echo->heard = 1;
        }
        /* The round trip that an acknowledgement for several packets gives is that of the first that waited. */
        if (!echo->received_ns && carries_data(ops))
            echo->received_ns = bpf_ktime_get_ns();
        break;
    }
    return 1;
}

/* A socket as who reads the list of them gets it: `SocketRecord` in Rust. */
struct record {
    struct counters counters;
    __be32 local[4];
    __be32 remote[4];
    __u16 local_port;
    __be16 remote_port;
    __u16 family;
    __u16 unused;
};

/* The list of the sockets that have Swift: each is written out once. */
SEC("iter/bpf_sk_storage_map")
int swift_list(struct bpf_iter__bpf_sk_storage_map *ctx)
{
    struct sock *sk = ctx->sk;
    struct counters *c = ctx->value;
    if (!sk || !c)
        return 0;
    struct record record = {};
    __builtin_memcpy(&record.counters, c, sizeof(*c));
    record.family = sk->__sk_common.skc_family;
    record.local_port = sk->__sk_common.skc_num;
    record.remote_port = sk->__sk_common.skc_dport;
    if (record.family == AF_INET6) {
        for (int i = 0; i < 4; i++) {
            record.local[i] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i];
            record.remote[i] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
        }
    } else {
        record.local[0] = sk->__sk_common.skc_rcv_saddr;
        record.remote[0] = sk->__sk_common.skc_daddr;
    }
    bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
    return 0;
}

/* A vector of the test that holds this arithmetic against `clearway_proto`'s. The outcome takes the place of the question. */
struct vector {
    struct swift_parameters parameters;
    struct swift_window window;
    __u64 now_ns;
    __u64 rtt_ns;
    __u64 delay_ns;
    /* In: nothing. Out: the target for the window as it was. */
    __u64 target_ns;
    __u32 acked;
    /* 0: an acknowledgement; 1: a hole; from 2 on: a timeout, the second, and so on. */
    __u32 what;
};

SEC("syscall")
int swift_vector(struct vector *v)
{
    struct swift_parameters p = v->parameters;
    struct swift_window window = v->window;
    __u64 target = swift_target(&p, window.cwnd);
    if (v->what == 0)
        swift_on_ack(&p, &window, v->now_ns, v->rtt_ns, v->delay_ns, target, v->acked);
    else if (v->what == 1)
        swift_on_loss(&p, &window, v->now_ns, v->rtt_ns);
    else
        swift_on_timeout(&p, &window, v->now_ns, v->rtt_ns, v->what - 1);
    v->window = window;
    v->target_ns = target;
    return 0;
}
