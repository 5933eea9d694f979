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
#define BPF_MAP_TYPE_LPM_TRIE 11
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1

/* include/net/tcp_states.h and include/uapi/linux/tcp.h */
#define TCP_CA_Loss 4
#define TCP_ESTABLISHED 1
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE_WAIT 8
#define TCP_LAST_ACK 9
#define TCP_CLOSING 11
/* include/net/sock.h: enum sk_pacing */
#define SK_PACING_NEEDED 1
#define AF_INET 2
#define AF_INET6 10
/* include/uapi/asm-generic/socket.h and include/uapi/linux/tcp.h */
#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define SOL_TCP 6
/* include/linux/net.h: the bit of a socket whose application waits for room. */
#define SOCK_NOSPACE 2

/* include/uapi/linux/bpf.h: what a socket's program is called for, and when it wants to be. */
#define BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB 5
#define BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB 4
#define BPF_SOCK_OPS_RTT_CB 12
#define BPF_SOCK_OPS_PARSE_HDR_OPT_CB 13
#define BPF_SOCK_OPS_HDR_OPT_LEN_CB 14
#define BPF_SOCK_OPS_WRITE_HDR_OPT_CB 15
#define BPF_SOCK_OPS_RTT_CB_FLAG 8
#define BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG 16
#define BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG 64
/* Options of SOL_TCP that only programs set: the first window, in packets, and what a socket's program is called for. */
#define TCP_BPF_IW 1001
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008

struct bpf_sock;

/* The context of such a program: it is part of the kernel's interface, so its members lie where they lie. */
struct bpf_sock_ops {
    __u32 op;
    __u32 args[4];
    __u32 family;
    __u32 remote_ip4;
    __u32 local_ip4;
    __u32 remote_ip6[4];
    __u32 local_ip6[4];
    __u32 remote_port;
    __u32 local_port;
    __u32 is_fullsock;
    __u32 snd_cwnd;
    __u32 srtt_us;
    __u32 bpf_sock_ops_cb_flags;
    __u32 state;
    __u32 rtt_min;
    __u32 snd_ssthresh;
    __u32 rcv_nxt;
    __u32 snd_nxt;
    __u32 snd_una;
    __u32 mss_cache;
    __u32 ecn_flags;
    __u32 rate_delivered;
    __u32 rate_interval_us;
    __u32 packets_out;
    __u32 retrans_out;
    __u32 total_retrans;
    __u32 segs_in;
    __u32 data_segs_in;
    __u32 segs_out;
    __u32 data_segs_out;
    __u32 lost_out;
    __u32 sacked_out;
    __u32 sk_txhash;
    __u64 bytes_received;
    __u64 bytes_acked;
    struct bpf_sock *sk;
    void *skb_data;
    void *skb_data_end;
    __u32 skb_len;
    __u32 skb_tcp_flags;
    __u64 skb_hwtstamp;
};

/* include/uapi/linux/pkt_cls.h and include/uapi/linux/if_ether.h */
#define TC_ACT_SHOT 2
#define ETH_HLEN 14
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd

/* The context of a program of a network device, up to what is used of it; part of the kernel's interface, too. */
struct __sk_buff {
    __u32 len;
    __u32 pkt_type;
    __u32 mark;
    __u32 queue_mapping;
    __u32 protocol;
    __u32 vlan_present;
    __u32 vlan_tci;
    __u32 vlan_proto;
    __u32 priority;
    __u32 ingress_ifindex;
    __u32 ifindex;
    __u32 tc_index;
    __u32 cb[5];
    __u32 hash;
    __u32 tc_classid;
    __u32 data;
    __u32 data_end;
    __u32 napi_id;
    __u32 family;
    __u32 remote_ip4;
    __u32 local_ip4;
    __u32 remote_ip6[4];
    __u32 local_ip6[4];
    __u32 remote_port;
    __u32 local_port;
    __u32 data_meta;
    __u64 flow_keys;
    __u64 tstamp;
    __u32 wire_len;
    __u32 gso_segs;
};

struct bpf_spin_lock {
    __u32 val;
};

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
    volatile unsigned char skc_state;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct socket {
    unsigned long flags;
};

struct sock {
    struct sock_common __sk_common;
    struct socket *sk_socket;
    int sk_wmem_queued;
    int sk_sndbuf;
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
    __u32 write_seq;
    __u32 snd_nxt;
    __u32 snd_una;
    __u32 lost_out;
    __u32 retrans_out;
    __u32 notsent_lowat;
    __u64 bytes_sent;
    __u64 bytes_received;
    __u16 tcp_header_len;
};

struct net {
    __u64 net_cookie;
};

struct nsproxy {
    struct net *net_ns;
};

struct task_struct {
    struct nsproxy *nsproxy;
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

struct bpf_iter__tcp {
    struct bpf_iter_meta *meta;
    struct sock_common *sk_common;
};

#pragma clang attribute pop

#endif
