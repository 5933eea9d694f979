/* What the programs here know of the kernel: the few members that they touch, by name. Where these lie is found out from the BTF of
 * the kernel that loads them (CO-RE), so that one object fits all kernels with BTF. */
#ifndef CLEARWAY_KERNEL_H
#define CLEARWAY_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u16 __sum16;

#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1

/* include/net/tcp_states.h and include/uapi/linux/tcp.h */
#define TCP_CA_Loss 4
/* include/net/sock.h: enum sk_pacing */
#define SK_PACING_NEEDED 1
#define AF_INET6 10

#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
    union {
        __be32 u6_addr32[4];
    } in6_u;
};

struct sock_common {
    __be32 skc_daddr;
    __be32 skc_rcv_saddr;
    __be16 skc_dport;
    __u16 skc_num;
    unsigned short skc_family;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
    struct sock_common __sk_common;
    unsigned long sk_pacing_rate;
    unsigned long sk_max_pacing_rate;
    __u32 sk_pacing_status;
};

struct inet_connection_sock {
    __u64 icsk_ca_priv[13];
};

struct tcp_sock {
    __u64 tcp_mstamp;
    __u32 snd_cwnd;
    __u32 snd_ssthresh;
    __u32 mss_cache;
};

struct rate_sample {
    long rtt_us;
    int losses;
    __u32 acked_sacked;
    _Bool is_app_limited;
};

struct tcp_congestion_ops {
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
    __u32 (*ssthresh)(struct sock *sk);
    __u32 (*undo_cwnd)(struct sock *sk);
    void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
    void (*set_state)(struct sock *sk, __u8 new_state);
    __u32 flags;
    char name[16];
};

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
    struct bpf_iter_meta *meta;
    struct sock *sk;
    void *value;
};

#pragma clang attribute pop

#endif
