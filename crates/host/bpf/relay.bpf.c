/* A relay's way through the kernel: what comes in on one port goes out of the other, unless it has to wait. What has to wait, and every
 * PFC frame, goes to the relay's process, through a device of its own for each port.
 *
 * A *lane* is a priority in one direction. While it is open its frames are passed on here. A PAUSE for it closes it in the same softirq
 * that reads the PFC frame; the process opens it again when it has sent all that was stored, which `relay_command` decides under the
 * lane's lock: no frame overtakes another.
 *
 * When the process has not been alive for a while everything is passed on, PFC frames, too: a dead relay is a wire. */
#include "kernel.h"

char relay_license[] SEC("license") = "Dual MIT/GPL";

#define PRIORITIES 8
#define NO_PRIORITY 0xff
/* proto::pfc::frame */
#define MAC_CONTROL 0x8808
#define OPCODE_PFC 0x0101

/* What the loader sets before the verifier sees it. */
struct setting {
    /* Of the ports, L and R. */
    __u32 ports[2];
    /* Of the devices that lead to the process, for what came in on each port. */
    __u32 stores[2];
    /* The process is taken for dead when it has not shown up for this long. */
    __u64 dead_after_ns;
    /* The lane of each of the 64 code points of DiffServ, and of each priority of a VLAN tag; NO_PRIORITY: none, never stored. */
    __u8 of_code_point[64];
    __u8 of_tag[PRIORITIES];
};

const volatile struct setting setting = {};

/* `Lane` in Rust. */
struct lane {
    struct bpf_spin_lock lock;
    /* Whether frames go to the process. */
    __u32 is_closed;
    /* Frames and bytes passed on. */
    __u64 passed;
    __u64 passed_bytes;
    /* Frames that went to the process. */
    __u64 stored;
    /* Frames passed on while it was closed, as the process was dead. */
    __u64 passed_dead;
};

/* By direction times eight and priority. Direction 0 comes in on L. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2 * PRIORITIES);
    __type(key, __u32);
    __type(value, struct lane);
} lanes SEC(".maps");

/* When the process was last alive, by CLOCK_MONOTONIC. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} alive SEC(".maps");

static __always_inline int is_dead(void)
{
    __u32 zero = 0;
    __u64 *at = bpf_map_lookup_elem(&alive, &zero);
    return !at || bpf_ktime_get_ns() - *at > setting.dead_after_ns;
}

static __always_inline struct lane *lane_of(__u32 direction, __u32 priority)
{
    __u32 key = direction * PRIORITIES + priority;
    return bpf_map_lookup_elem(&lanes, &key);
}

/* Closes the lanes out of a port that a PFC frame pauses. */
static __always_inline void obey(struct __sk_buff *skb, __u32 in)
{
    /* The class-enable vector, and the quanta of each priority. */
    __be16 said[1 + PRIORITIES];
    if (bpf_skb_load_bytes(skb, 16, said, sizeof(said)))
        return;
    for (__u32 priority = 0; priority < PRIORITIES; priority++) {
        if (!(__builtin_bswap16(said[0]) >> priority & 1) || !said[1 + priority])
            continue;
        struct lane *lane = lane_of(1 - in, priority);
        if (!lane)
            continue;
        bpf_spin_lock(&lane->lock);
        lane->is_closed = 1;
        bpf_spin_unlock(&lane->lock);
    }
}

/* The priority of a frame that is no MAC control. */
static __always_inline __u32 priority_of(struct __sk_buff *skb, __u16 type)
{
    void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
    __u8 *header = data + ETH_HLEN;
    if (skb->vlan_present)
        return setting.of_tag[skb->vlan_tci >> 13 & 7];
    if ((void *)(header + 2) > end)
        return NO_PRIORITY;
    if (type == ETH_P_IP)
        return setting.of_code_point[header[1] >> 2 & 63];
    if (type == ETH_P_IPV6)
        return setting.of_code_point[((header[0] & 15) << 2 | header[1] >> 6) & 63];
    return NO_PRIORITY;
}

static __always_inline int relay(struct __sk_buff *skb, __u32 in)
{
    __u32 out = setting.ports[1 - in];
    void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
    __u8 *header = data;
    if ((void *)(header + ETH_HLEN) > end)
        return TC_ACT_SHOT;
    __u16 type = header[12] << 8 | header[13];
    if (type == MAC_CONTROL) {
        if (is_dead())
            return bpf_redirect(out, 0);
        __be16 opcode;
        if (!bpf_skb_load_bytes(skb, ETH_HLEN, &opcode, sizeof(opcode)) && opcode == __builtin_bswap16(OPCODE_PFC))
            obey(skb, in);
        return bpf_redirect(setting.stores[in], 0);
    }
    __u32 priority = priority_of(skb, type);
    struct lane *lane = priority < PRIORITIES ? lane_of(in, priority) : 0;
    if (!lane)
        return bpf_redirect(out, 0);
    bpf_spin_lock(&lane->lock);
    if (!lane->is_closed) {
        lane->passed++;
        lane->passed_bytes += skb->len;
        bpf_spin_unlock(&lane->lock);
        return bpf_redirect(out, 0);
    }
    lane->stored++;
    bpf_spin_unlock(&lane->lock);
    if (!is_dead())
        return bpf_redirect(setting.stores[in], 0);
    bpf_spin_lock(&lane->lock);
    lane->stored--;
    lane->passed_dead++;
    bpf_spin_unlock(&lane->lock);
    return bpf_redirect(out, 0);
}

SEC("tc")
int relay_local(struct __sk_buff *skb)
{
    return relay(skb, 0);
}

SEC("tc")
int relay_remote(struct __sk_buff *skb)
{
    return relay(skb, 1);
}

/* What the process wants of a lane: `Command` in Rust. */
struct command {
    __u32 direction;
    __u32 priority;
    /* Frames of the lane that the process has got so far. */
    __u64 got;
    /* In: 1 to close it, 0 to open it if no frame is on its way to the process. Out: whether it is closed. */
    __u32 is_closed;
    __u32 unused;
};

SEC("syscall")
int relay_command(struct command *command)
{
    if (command->direction > 1 || command->priority >= PRIORITIES)
        return -1;
    struct lane *lane = lane_of(command->direction, command->priority);
    if (!lane)
        return -1;
    bpf_spin_lock(&lane->lock);
    if (command->is_closed || lane->stored == command->got)
        lane->is_closed = command->is_closed;
    command->is_closed = lane->is_closed;
    bpf_spin_unlock(&lane->lock);
    return 0;
}

/* What the process writes to its devices leaves on their ports. */
SEC("tc")
int relay_sent_local(struct __sk_buff *skb)
{
    return bpf_redirect(setting.ports[0], 0);
}

SEC("tc")
int relay_sent_remote(struct __sk_buff *skb)
{
    return bpf_redirect(setting.ports[1], 0);
}
