/* Rates of Fastpass's grants for the kernel's own TCP: every socket to another endpoint is paced at its share of what is granted for that
 * endpoint (SO_MAX_PACING_RATE), and tells what it has to send.
 *
 * Three programs share the maps: `rates_follow` sets a socket's rate when it is established and with each sample of its round-trip time,
 * `rates_walk` sets those of all sockets of the network namespace at once, and `rates_look` writes out what each has to send. */
#include "kernel.h"

/* Helpers that this file calls are only for programs whose licence is compatible with the GPL. */
char rates_license[] SEC("license") = "Dual MIT/GPL";

/* The rate that is no limit. */
#define UNLIMITED (~0U)
/* What is behind this endpoint itself. */
#define NOWHERE (~0U)

/* The first bits of an address; one of IPv4 has its place in IPv6 (::ffff:0:0/96). */
struct prefix {
    __u32 bits;
    __be32 address[4];
};

/* The endpoint that is behind a prefix. The loader sets how many there are. */
struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1);
    __type(key, struct prefix);
    __type(value, __u32);
} prefixes SEC(".maps");

/* Rates of the sockets to an endpoint, in bytes a second. */
struct limit {
    /* Each socket that a look has counted. */
    __u32 share;
    /* One that no look has counted yet. */
    __u32 newcomer;
};

/* By endpoint. The loader sets how many there are. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct limit);
} limits SEC(".maps");

/* The network namespace whose sockets this is about: that of the thread that walked last. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} network SEC(".maps");

/* A socket to another endpoint. Times are of CLOCK_MONOTONIC, 0 for never. */
struct flow {
    __u32 destination;
    /* Its rate, in bytes a second. */
    __u32 rate;
    /* Bytes sent as the last look saw them. */
    __u64 sent;
    /* Bytes received, likewise. */
    __u64 received;
    /* When a look last saw that it had sent. */
    __u64 sent_ns;
    /* When a look last saw bytes that waited to be sent. */
    __u64 waited_ns;
    /* When a look last saw its buffer full: its application has more than can be seen. */
    __u64 full_ns;
    /* Whether a look has counted it. */
    __u32 counted;
    /* Whether `rates_follow` is called for it. */
    __u32 follows;
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct flow);
} flows SEC(".maps");

/* What a look says of a socket: `Record` in Rust. Times are how long ago, in nanoseconds; all ones for never. */
struct record {
    __u64 sent_bytes;
    __u64 received_bytes;
    __u64 waiting_bytes;
    __u64 sent_ago;
    __u64 waited_ago;
    __u64 full_ago;
    __u32 destination;
    __u32 rate;
    /* The payload of a full segment, and the bytes of the headers of IP and TCP before it. */
    __u16 mss;
    __u16 headers;
    __u32 follows;
};

/* Whether walks lift all limits instead of setting them. The loader sets this before the verifier sees it. */
const volatile __u32 walk_lifts = 0;
/* Packets that a new connection may send at first; 0 leaves it to the kernel. */
const volatile __u32 initial_window = 0;

static __always_inline __u32 wanted(const struct flow *flow)
{
    struct limit *limit = bpf_map_lookup_elem(&limits, &flow->destination);
    if (!limit)
        return UNLIMITED;
    return flow->counted || limit->newcomer > limit->share ? limit->share : limit->newcomer;
}

static __always_inline int is_of_this_network(struct bpf_sock_ops *ops)
{
    __u32 zero = 0;
    __u64 *own = bpf_map_lookup_elem(&network, &zero);
    return own && *own == bpf_get_netns_cookie(ops);
}

static __always_inline __u32 endpoint_behind(const struct prefix *remote)
{
    __u32 *endpoint = bpf_map_lookup_elem(&prefixes, remote);
    return endpoint ? *endpoint : NOWHERE;
}

/* An address of IPv4 in its place in IPv6. */
static __always_inline void set_ipv4(struct prefix *remote, __be32 address)
{
    remote->address[0] = 0;
    remote->address[1] = 0;
    remote->address[2] = __builtin_bswap32(0xffff);
    remote->address[3] = address;
}

/* A connection to an address of another endpoint begins. */
static __always_inline void begin(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
    struct prefix remote;
    remote.bits = 128;
    if (ops->family == AF_INET6) {
        remote.address[0] = ops->remote_ip6[0];
        remote.address[1] = ops->remote_ip6[1];
        remote.address[2] = ops->remote_ip6[2];
        __u32 last = ops->remote_ip6[3];
        /* Both branches end by storing this word; joined by the compiler they would read it through a pointer into the context, which
         * the verifier refuses. */
        asm volatile("" : "+r"(last));
        remote.address[3] = last;
    } else {
        set_ipv4(&remote, ops->remote_ip4);
    }
    __u32 destination = endpoint_behind(&remote);
    if (destination == NOWHERE)
        return;
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!flow)
        return;
    flow->destination = destination;
    flow->rate = UNLIMITED;
    flow->follows = bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_RTT_CB_FLAG) == 0;
    __u32 rate = wanted(flow);
    int window = initial_window;
    if (rate != UNLIMITED && window)
        bpf_setsockopt(ops, SOL_TCP, TCP_BPF_IW, &window, sizeof(window));
}

SEC("sockops")
int rates_follow(struct bpf_sock_ops *ops)
{
    __u32 op = ops->op;
    int begins = op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
    if (!begins && op != BPF_SOCK_OPS_RTT_CB)
        return 1;
    struct bpf_sock *sk = ops->sk;
    if (!sk)
        return 1;
    if (begins && is_of_this_network(ops))
        begin(ops, sk);
    struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
    if (!flow)
        return 1;
    __u32 rate = wanted(flow);
    if (rate != flow->rate && bpf_setsockopt(ops, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) == 0)
        flow->rate = rate;
    return 1;
}

/* Returns what is known of a socket that was there before; none if it goes to no other endpoint. */
static __always_inline struct flow *found(struct tcp_sock *tp)
{
    struct sock_common *common = &((struct sock *)tp)->__sk_common;
    struct flow *flow = bpf_sk_storage_get(&flows, tp, 0, 0);
    if (flow)
        return flow;
    struct prefix remote;
    remote.bits = 128;
    if (common->skc_family == AF_INET6) {
        for (int i = 0; i < 4; i++)
            remote.address[i] = common->skc_v6_daddr.in6_u.u6_addr32[i];
    } else {
        set_ipv4(&remote, common->skc_daddr);
    }
    __u32 destination = endpoint_behind(&remote);
    if (destination == NOWHERE)
        return 0;
    flow = bpf_sk_storage_get(&flows, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!flow)
        return 0;
    flow->destination = destination;
    flow->rate = UNLIMITED;
    flow->sent = tp->bytes_sent;
    flow->received = tp->bytes_received;
    if (walk_lifts)
        return flow;
    int flags = 0;
    /* Linux has this option since 6.13. */
    if (bpf_getsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)) == 0) {
        flags |= BPF_SOCK_OPS_RTT_CB_FLAG;
        flow->follows = bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags)) == 0;
    }
    return flow;
}

static __always_inline int can_send(unsigned char state)
{
    return state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT || state == TCP_FIN_WAIT1 || state == TCP_CLOSING ||
           state == TCP_LAST_ACK;
}

SEC("iter/tcp")
int rates_walk(struct bpf_iter__tcp *ctx)
{
    struct sock_common *common = ctx->sk_common;
    if (!common) {
        __u32 zero = 0;
        __u64 cookie = ((struct task_struct *)bpf_get_current_task_btf())->nsproxy->net_ns->net_cookie;
        bpf_map_update_elem(&network, &zero, &cookie, 0);
        return 0;
    }
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(common);
    if (!tp || !can_send(common->skc_state))
        return 0;
    struct flow *flow = found(tp);
    if (!flow)
        return 0;
    __u32 rate = walk_lifts ? UNLIMITED : wanted(flow);
    /* Even if it had this rate before: its application, or the end of an earlier endpoint, may have set another. */
    if (bpf_setsockopt(tp, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) == 0)
        flow->rate = rate;
    return 0;
}

static __always_inline __u64 ago(__u64 now, __u64 then)
{
    return then ? now - then : ~0ULL;
}

/* Whether an application has more than its socket takes: it waits for room, or the buffer is at least half full (a buffer that has been
 * full has room again from two thirds on, and its application is late to fill it), or as much waits as it allows. */
static __always_inline int is_full(struct tcp_sock *tp, __u32 unsent)
{
    struct sock *sk = (struct sock *)tp;
    struct socket *socket = sk->sk_socket;
    if (socket && socket->flags & (1 << SOCK_NOSPACE))
        return 1;
    return (__u32)sk->sk_wmem_queued >= (__u32)sk->sk_sndbuf / 2 || (tp->notsent_lowat && unsent >= tp->notsent_lowat / 2);
}

/* The bytes of a socket's IP header: a socket of IPv6 may have a peer of IPv4. */
static __always_inline __u16 ip_header(struct sock_common *common)
{
    __be32 *remote = common->skc_v6_daddr.in6_u.u6_addr32;
    if (common->skc_family != AF_INET6)
        return 20;
    return remote[0] || remote[1] || remote[2] != __builtin_bswap32(0xffff) ? 40 : 20;
}

SEC("iter/bpf_sk_storage_map")
int rates_look(struct bpf_iter__bpf_sk_storage_map *ctx)
{
    struct sock *sk = ctx->sk;
    struct flow *flow = ctx->value;
    if (!sk || !flow || !can_send(sk->__sk_common.skc_state))
        return 0;
    struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
    if (!tp)
        return 0;
    __u64 now = bpf_ktime_get_ns(), sent = tp->bytes_sent, received = tp->bytes_received;
    __u32 unsent = tp->write_seq - tp->snd_nxt, lost = tp->lost_out, again = tp->retrans_out;
    /* The FIN has a number, too, and the fields are read while they change. */
    if (unsent == 1 || unsent > ~0U / 2)
        unsent = 0;
    __u64 waiting = unsent + (lost > again ? (__u64)(lost - again) * tp->mss_cache : 0);
    __u64 sent_ns = sent != flow->sent ? now : flow->sent_ns, waited_ns = waiting ? now : flow->waited_ns;
    __u64 full_ns = waiting && is_full(tp, unsent) ? now : flow->full_ns;
    struct record record = {
        .sent_bytes = sent - flow->sent,
        .received_bytes = received - flow->received,
        .waiting_bytes = waiting,
        .sent_ago = ago(now, sent_ns),
        .waited_ago = ago(now, waited_ns),
        .full_ago = ago(now, full_ns),
        .destination = flow->destination,
        .rate = flow->rate,
        .mss = tp->mss_cache,
        .headers = tp->tcp_header_len + ip_header(&sk->__sk_common),
        .follows = flow->follows,
    };
    /* Where the list has no room left the kernel comes again for the same socket. */
    if (bpf_seq_write(ctx->meta->seq, &record, sizeof(record)))
        return 0;
    flow->sent = sent;
    flow->received = received;
    flow->sent_ns = sent_ns;
    flow->waited_ns = waited_ns;
    flow->full_ns = full_ns;
    flow->counted = 1;
    return 0;
}
