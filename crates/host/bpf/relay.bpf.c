/* A relay's way through the kernel: what comes in on one port goes out of the other, unless it has to wait. What has to wait, and every
 * PFC frame, goes to the relay's process, through a device of its own for each port.
 *
 * A *lane* is a priority in one direction. While it is open its frames are passed on here. A PAUSE for it closes it in the same softirq
 * that reads the PFC frame. The process opens it again when it has sent all that was stored: it asks first that what goes to it from then
 * on is noted, and, a millisecond later, that the lane is opened if nothing was. So no frame overtakes another.
 *
 * When the process has not been alive for a while everything is passed on, PFC frames, too: a dead relay is a wire.
 *
 * A probe tells the delay of the long link: the process sends one out of R, the program of the far relay turns it around, and both times are
 * taken here, where nothing waits for a process. It is in no lane, and no switch passes it on. */
#include "kernel.h"

char relay_license[] SEC("license") = "Dual MIT/GPL";

#define PRIORITIES 8
#define NO_PRIORITY 0xff
#define TYPE_VLAN 0x8100
#define TYPE_PROVIDER_VLAN 0x88a8
/* relay::lanes::on_the_wire: the shortest frame, and check sequence, preamble and gap. */
#define SHORTEST 60
#define AROUND 24
/* What each further frame of a long one of TCP has before its payload: Ethernet, IPv4 and TCP with timestamps. */
#define HEADERS_OF_SEGMENT 66
/* relay::probe: IEEE 802's type for local experiments, and what follows it. */
#define TYPE_PROBE 0x88b5
#define PROBE 0x43575250
#define REQUEST 1
#define ANSWER 2
/* proto::pfc::frame */
#define MAC_CONTROL 0x8808
#define OPCODE_PFC 0x0101

/* relay::work: what pads a PFC frame begins before, at 34. */
#define STAMP 52

/* What the loader sets before the verifier sees it. */
struct setting {
    /* The numbers of the ports, L before R. */
    __u32 ports[2];
    /* The numbers of the devices that lead to the process, for what came in on each port. */
    __u32 stores[2];
    /* The process is taken for dead when it has not shown up for this long. */
    __u64 dead_after_ns;
    /* What the process writes into its probes. */
    __u64 session;
    /* The lane of each of the 64 code points of DiffServ, and of each priority of a VLAN tag; NO_PRIORITY: none, never stored. */
    __u8 of_code_point[64];
    __u8 of_tag[PRIORITIES];
    /* Whether a tag tells the priority of a frame that has one; otherwise its code point does. */
    __u8 trusts_tags;
    /* The address of R. */
    __u8 address[6];
};

/* A probe after its type: `relay::probe` in Rust. Only who has sent it reads what follows the kind. */
struct probe {
    __be32 magic;
    __be32 kind;
    __u64 session;
    __u64 number;
    /* When it left R, and when it was back there, by CLOCK_MONOTONIC. */
    __u64 left_ns;
    __u64 back_ns;
};

const volatile struct setting setting = {};

/* What the kernel knows of a lane: `LaneCounters` in Rust. */
struct lane {
    struct bpf_spin_lock lock;
    /* Whether frames go to the process. */
    __u16 is_closed;
    /* Whether anything has gone to the process, or a PAUSE has come, since the process asked. */
    __u16 is_fresh;
    /* Frames passed on, and their bytes as the link counts them. */
    __u64 passed;
    __u64 passed_bytes;
    /* Frames that went to the process. */
    __u64 stored;
    /* Frames passed on while it was closed, as the process was dead. */
    __u64 passed_dead;
};

/* The key is direction * 8 + priority. Direction 0 comes in on L. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 2 * PRIORITIES);
    __type(key, __u32);
    __type(value, struct lane);
} lanes SEC(".maps");

/* What was passed on, out of each port, in bytes as the link counts them. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 2);
    __type(key, __u32);
    __type(value, __u64);
} passed SEC(".maps");

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
    /* Signed, as the process may have shown up since. */
    return !at || (__s64)(bpf_ktime_get_ns() - *at) > (__s64)setting.dead_after_ns;
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
        lane->is_fresh = 1;
        bpf_spin_unlock(&lane->lock);
    }
}

/* The priority of a frame that is no MAC control: that of `Classes::of`, with which a test compares it. */
static __always_inline __u32 priority_of(struct __sk_buff *skb, __u16 type)
{
    __u8 header[2];
    __u32 at = ETH_HLEN;
    if (skb->vlan_present && setting.trusts_tags)
        return setting.of_tag[skb->vlan_tci >> 13 & 7];
    /* The kernel takes a tag out of the frame before it comes here; one that it has left there counts the same. */
    if (!skb->vlan_present && (type == TYPE_VLAN || type == TYPE_PROVIDER_VLAN)) {
        __be16 inner;
        if (bpf_skb_load_bytes(skb, ETH_HLEN, header, sizeof(header)))
            return NO_PRIORITY;
        if (setting.trusts_tags)
            return setting.of_tag[header[0] >> 5];
        if (bpf_skb_load_bytes(skb, ETH_HLEN + 2, &inner, sizeof(inner)))
            return NO_PRIORITY;
        type = __builtin_bswap16(inner);
        at += 4;
    }
    if (bpf_skb_load_bytes(skb, at, header, sizeof(header)))
        return NO_PRIORITY;
    if (type == ETH_P_IP)
        return setting.of_code_point[header[1] >> 2 & 63];
    if (type == ETH_P_IPV6)
        return setting.of_code_point[((header[0] & 15) << 2 | header[1] >> 6) & 63];
    return NO_PRIORITY;
}

/* The bytes of a frame as the link counts them: of a long one of TCP, those of the frames that it becomes. */
static __always_inline __u64 on_the_wire(struct __sk_buff *skb)
{
    __u64 length = skb->len + (skb->vlan_present ? 4 : 0), segments = skb->gso_segs;
    if (length < SHORTEST)
        length = SHORTEST;
    if (segments < 2)
        return length + AROUND;
    return length + segments * AROUND + (segments - 1) * HEADERS_OF_SEGMENT;
}

/* Passes a frame on. */
static __always_inline int pass(struct __sk_buff *skb, __u32 in)
{
    __u32 out = 1 - in;
    __u64 *bytes = bpf_map_lookup_elem(&passed, &out);
    if (bytes)
        *bytes += on_the_wire(skb);
    return bpf_redirect(setting.ports[out], 0);
}

static __always_inline int read_probe(struct __sk_buff *skb, struct probe *probe)
{
    return !bpf_skb_load_bytes(skb, ETH_HLEN, probe, sizeof(*probe)) && probe->magic == __builtin_bswap32(PROBE);
}

/* A frame of the type of probes came in on R. */
static __always_inline int handle_probe(struct __sk_buff *skb)
{
    struct probe probe;
    if (!read_probe(skb, &probe))
        return pass(skb, 1);
    /* An own one comes back as an answer, or as it was where the link is looped. */
    if (probe.session == setting.session) {
        probe.back_ns = bpf_ktime_get_ns();
        if (is_dead() || bpf_skb_store_bytes(skb, ETH_HLEN, &probe, sizeof(probe), 0))
            return TC_ACT_SHOT;
        return bpf_redirect(setting.stores[1], 0);
    }
    if (probe.kind != __builtin_bswap32(REQUEST))
        return TC_ACT_SHOT;
    probe.kind = __builtin_bswap32(ANSWER);
    if (bpf_skb_store_bytes(skb, ETH_HLEN, &probe, sizeof(probe), 0) ||
        bpf_skb_store_bytes(skb, 6, (const void *)setting.address, sizeof(setting.address), 0))
        return TC_ACT_SHOT;
    return bpf_redirect(setting.ports[1], 0);
}

static __always_inline int relay(struct __sk_buff *skb, __u32 in)
{
    void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
    __u8 *header = data;
    if ((void *)(header + ETH_HLEN) > end)
        return TC_ACT_SHOT;
    __u16 type = header[12] << 8 | header[13];
    /* A MAC control frame has no tag. */
    if (type == MAC_CONTROL && !skb->vlan_present) {
        if (is_dead())
            return pass(skb, in);
        __be16 opcode;
        int is_for_ports = header[0] == 0x01 && header[1] == 0x80 && header[2] == 0xc2 && !header[3] && !header[4] &&
                           header[5] == 0x01;
        if (is_for_ports && !bpf_skb_load_bytes(skb, ETH_HLEN, &opcode, sizeof(opcode)) &&
            opcode == __builtin_bswap16(OPCODE_PFC))
            obey(skb, in);
        /* What pads it tells the process when it came, however late that reads it. One too short for that has no stamp. */
        __u64 now = bpf_ktime_get_ns();
        bpf_skb_store_bytes(skb, STAMP, &now, sizeof(now), 0);
        return bpf_redirect(setting.stores[in], 0);
    }
    if (in == 1 && type == TYPE_PROBE && !skb->vlan_present)
        return handle_probe(skb);
    __u32 priority = priority_of(skb, type);
    struct lane *lane = priority < PRIORITIES ? lane_of(in, priority) : 0;
    if (!lane)
        return pass(skb, in);
    __u64 bytes = on_the_wire(skb);
    bpf_spin_lock(&lane->lock);
    if (!lane->is_closed) {
        lane->passed++;
        lane->passed_bytes += bytes;
        bpf_spin_unlock(&lane->lock);
        return pass(skb, in);
    }
    lane->stored++;
    lane->is_fresh = 1;
    bpf_spin_unlock(&lane->lock);
    if (!is_dead())
        return bpf_redirect(setting.stores[in], 0);
    bpf_spin_lock(&lane->lock);
    lane->stored--;
    lane->passed_dead++;
    bpf_spin_unlock(&lane->lock);
    return pass(skb, in);
}

/* `tc filter show` has these names: whose filter it is. */
SEC("tc")
int clearway_local(struct __sk_buff *skb)
{
    return relay(skb, 0);
}

SEC("tc")
int clearway_remote(struct __sk_buff *skb)
{
    return relay(skb, 1);
}

/* What the process wants of a lane: `Kernel::command` in Rust. */
struct command {
    __u32 direction;
    __u32 priority;
    /* NOTE: what comes from here on is fresh. OPEN: it is opened if nothing is. CLOSE: it is closed. */
    __u32 want;
    /* Out: whether it is closed. */
    __u32 is_closed;
};

#define NOTE 0
#define OPEN 1
#define CLOSE 2

SEC("syscall")
int relay_command(struct command *command)
{
    if (command->direction > 1 || command->priority >= PRIORITIES)
        return -1;
    struct lane *lane = lane_of(command->direction, command->priority);
    if (!lane)
        return -1;
    bpf_spin_lock(&lane->lock);
    if (command->want == NOTE)
        lane->is_fresh = 0;
    else if (command->want == CLOSE)
        lane->is_closed = 1;
    else if (!lane->is_fresh)
        lane->is_closed = 0;
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
    struct probe probe;
    if (skb->protocol == __builtin_bswap16(TYPE_PROBE) && read_probe(skb, &probe) &&
        probe.session == setting.session) {
        probe.left_ns = bpf_ktime_get_ns();
        if (bpf_skb_store_bytes(skb, ETH_HLEN, &probe, sizeof(probe), 0))
            return TC_ACT_SHOT;
    }
    return bpf_redirect(setting.ports[1], 0);
}
