-- The header of packets that Clearway has simulated, by name, in Wireshark and tshark, and FCP, the Fastpass control
-- protocol. The header has Swift's layout; python/clearway/packets/frames.py describes it, and
-- crates/proto/src/fastpass/fcp/header/mod.rs FCP. PFC frames need no dissector: Wireshark knows them.
--
-- tshark -X lua_script:clearway.lua -r capture.pcapng -Y 'clearway.flow == 3'
-- tshark -X lua_script:clearway.lua -r capture.pcapng -Y 'fastpass.grant.destination == 5'

local PORT = 61000
local LENGTH = 36
local NO_FLOW = 0xffffffff

local KINDS = {
  [1] = "data", [2] = "ack", [3] = "header", [4] = "nack", [5] = "cnp", [6] = "credit", [7] = "probe",
  [8] = "echo",
}
local DATA, ACK, CREDIT = 1, 2, 6
local REASONS = {
  [1] = "no room", [2] = "on the link", [3] = "dead", [4] = "no way", [5] = "at the host",
}

local clearway = Proto("clearway", "Clearway")
local fields = {
  version = ProtoField.uint8("clearway.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("clearway.kind", "Kind", base.DEC, KINDS, 0x0f),
  last = ProtoField.bool("clearway.last", "Ends a message", 8, nil, 0x01),
  echo = ProtoField.bool("clearway.echo", "ECN echo", 8, nil, 0x02),
  switches = ProtoField.uint8("clearway.switches", "Switches on the forward path"),
  lost = ProtoField.uint8("clearway.lost", "Lost", base.DEC, REASONS),
  flow = ProtoField.uint32("clearway.flow", "Flow"),
  seq = ProtoField.uint32("clearway.seq", "Packet"),
  payload = ProtoField.uint32("clearway.payload", "Payload (bytes)"),
  cumulative = ProtoField.uint32("clearway.cumulative", "First packet that has not arrived"),
  granted = ProtoField.uint32("clearway.granted", "Granted (256 bytes)"),
  sent = ProtoField.uint64("clearway.sent", "Sent (ps)"),
  sack = ProtoField.uint64("clearway.sack", "Arrived beyond", base.HEX),
  remote = ProtoField.uint32("clearway.remote_queuing", "Remote queuing (us)"),
}
clearway.fields = fields

local function about(kind, bytes)
  local text = KINDS[kind] or string.format("kind %d", kind)
  local flow, seq = bytes(4, 4):uint(), bytes(8, 4):uint()
  if flow ~= NO_FLOW then
    text = string.format("%s, flow %d", text, flow)
  end
  if kind ~= CREDIT then
    text = string.format("%s, packet %d", text, seq)
  end
  local lost = REASONS[bytes(3, 1):uint()]
  if lost then
    text = string.format("%s, LOST (%s)", text, lost)
  end
  return text
end

function clearway.dissector(bytes, packet, tree)
  if bytes:len() < LENGTH or bytes(0, 1):bitfield(0, 4) ~= 1 then
    return 0
  end
  local kind = bytes(0, 1):bitfield(4, 4)
  packet.cols.protocol = "Clearway"
  packet.cols.info = about(kind, bytes)
  local branch = tree:add(clearway, bytes(0, LENGTH), "Clearway, " .. about(kind, bytes))
  branch:add(fields.version, bytes(0, 1))
  branch:add(fields.kind, bytes(0, 1))
  branch:add(fields.last, bytes(1, 1))
  if kind == ACK then
    branch:add(fields.echo, bytes(1, 1))
    branch:add(fields.switches, bytes(2, 1))
  end
  if bytes(3, 1):uint() ~= 0 then
    branch:add(fields.lost, bytes(3, 1))
  end
  if bytes(4, 4):uint() ~= NO_FLOW then
    branch:add(fields.flow, bytes(4, 4))
  end
  branch:add(fields.seq, bytes(8, 4))
  if kind == DATA then
    branch:add(fields.payload, bytes(12, 4))
  elseif kind == ACK then
    branch:add(fields.cumulative, bytes(12, 4))
  elseif kind == CREDIT then
    branch:add(fields.granted, bytes(12, 4))
  end
  branch:add(fields.sent, bytes(16, 8))
  if kind == ACK then
    branch:add(fields.sack, bytes(24, 8))
    branch:add(fields.remote, bytes(32, 4))
  end
  return LENGTH
end

DissectorTable.get("udp.port"):add(PORT, clearway)

local FCP_PROTOCOL = 222
local REQUEST, ALLOCATION, RESET, WATCHDOG, TRIAL, ANSWER, TRIAL_ON = 1, 2, 3, 4, 5, 6, 7
local FCP_KINDS = {
  [REQUEST] = "request", [ALLOCATION] = "allocation", [RESET] = "reset", [WATCHDOG] = "watchdog",
  [TRIAL] = "trial", [ANSWER] = "answer", [TRIAL_ON] = "trial that is sent on",
}
local PATH_BITS = { [0] = 0, 1, 2, 4, 8, 16 }

local fcp = Proto("fastpass", "Fastpass control protocol (FCP)")
local of_fcp = {
  version = ProtoField.uint8("fastpass.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("fastpass.kind", "Kind", base.DEC, FCP_KINDS, 0x0f),
  checksum = ProtoField.uint16("fastpass.checksum", "Checksum (RFC 1071)", base.HEX),
  endpoint = ProtoField.uint16("fastpass.endpoint", "Endpoint"),
  term = ProtoField.uint32("fastpass.term", "Term"),
  incarnation = ProtoField.uint32("fastpass.incarnation", "Incarnation"),
  number = ProtoField.uint32("fastpass.number", "Number of this packet"),
  heard = ProtoField.uint32("fastpass.heard", "Highest number heard"),
  mask = ProtoField.uint32("fastpass.heard.mask", "Heard before that", base.HEX),
  slot = ProtoField.uint64("fastpass.slot", "Timeslot in which this is sent"),
  back = ProtoField.uint16("fastpass.back", "Path for requests, or of the answer"),
  ahead = ProtoField.int64("fastpass.ahead", "Timeslots ahead"),
  demand = ProtoField.none("fastpass.demand", "Demand"),
  demand_to = ProtoField.uint16("fastpass.demand.destination", "Destination"),
  demanded = ProtoField.uint32("fastpass.demand.slots", "Timeslots demanded so far"),
  report = ProtoField.none("fastpass.report", "Report"),
  report_to = ProtoField.uint16("fastpass.report.destination", "Destination"),
  report_path = ProtoField.uint16("fastpass.report.path", "Path"),
  report_sent = ProtoField.uint16("fastpass.report.sent", "Packets sent"),
  report_lost = ProtoField.uint16("fastpass.report.lost", "Packets lost"),
  granted = ProtoField.none("fastpass.granted", "Granted"),
  granted_to = ProtoField.uint16("fastpass.granted.destination", "Destination"),
  granted_slots = ProtoField.uint32("fastpass.granted.slots", "Timeslots granted so far"),
  grant = ProtoField.none("fastpass.grant", "Grant"),
  grant_slot = ProtoField.int64("fastpass.grant.slot", "Timeslot"),
  grant_to = ProtoField.uint16("fastpass.grant.destination", "Destination"),
  grant_path = ProtoField.uint16("fastpass.grant.path", "Path"),
  first_slot = ProtoField.uint64("fastpass.first_slot", "First timeslot of the term"),
  rank = ProtoField.uint8("fastpass.rank", "Rank of the arbiter"),
  horizon = ProtoField.uint64("fastpass.horizon", "Timeslot up to which it has allocated"),
  token = ProtoField.uint32("fastpass.token", "Token"),
  next = ProtoField.uint16("fastpass.on.destination", "Endpoint that it is sent on to"),
  next_path = ProtoField.uint16("fastpass.on.path", "Path to that"),
}
fcp.fields = of_fcp

-- A place in the packet that goes on as fields are read.
local Reader = {}
Reader.__index = Reader

function Reader.new(bytes, at, tree)
  return setmetatable({ bytes = bytes, at = at, tree = tree }, Reader)
end

function Reader:take(length)
  local range = self.bytes(self.at, length)
  self.at = self.at + length
  return range
end

-- Reads an unsigned number of 1 to 4 bytes, and returns it.
function Reader:number(field, length, branch)
  local range = self:take(length)
  branch:add(field, range, range:uint())
  return range:uint()
end

-- Reads a signed number of 1, 2, 4 or 8 bytes, and returns it as an Int64.
function Reader:signed(field, length)
  local range = self:take(length)
  local value = range:int64()
  self.tree:add(field, range, value)
  return value
end

-- Reads what a request and an allocation have in common.
function Reader:numbers(lengths, widths)
  for place, field in ipairs({ of_fcp.term, of_fcp.incarnation, of_fcp.number, of_fcp.heard }) do
    self:number(field, bit.band(bit.rshift(lengths, 8 - 2 * place), 3) + 1, self.tree)
  end
  local slot = self:take(bit.band(bit.rshift(widths, 4), 7) + 1)
  self.tree:add(of_fcp.slot, slot, slot:uint64())
  if bit.band(widths, 0x80) ~= 0 then
    self:number(of_fcp.mask, 4, self.tree)
  end
  return slot:uint64()
end

-- Reads destinations with counts of this many bytes, and returns the destinations.
function Reader:counts(count, length, parent, destination, slots)
  local listed = {}
  for place = 1, count do
    local branch = self.tree:add(parent, self.bytes(self.at, 2 + length))
    listed[place] = self:number(destination, 2, branch)
    local said = self:number(slots, length, branch)
    branch:append_text(string.format(": %d to %d so far", said, listed[place]))
  end
  return listed
end

local function request(bytes, tree)
  local head = bytes(1, 1):uint()
  local lengths, widths = bytes(6, 1):uint(), bytes(7, 1):uint()
  local from = Reader.new(bytes, 8, tree)
  from:numbers(lengths, widths)
  local ahead = bit.band(bit.rshift(widths, 2), 3)
  if ahead > 0 then
    from:signed(of_fcp.ahead, bit.lshift(1, ahead - 1))
  end
  local demands, reports = bit.rshift(head, 4), bit.band(head, 15)
  from:counts(demands, bit.band(widths, 3) + 1, of_fcp.demand, of_fcp.demand_to, of_fcp.demanded)
  for _ = 1, reports do
    local branch = tree:add(of_fcp.report, bytes(from.at, 8))
    for _, field in ipairs({ of_fcp.report_to, of_fcp.report_path, of_fcp.report_sent, of_fcp.report_lost }) do
      from:number(field, 2, branch)
    end
  end
  return string.format("demands: %d", demands)
end

-- Returns the path of a grant: they follow each other, the first in the highest bits.
local function path_of(bytes, begin, place, width)
  if width == 0 then
    return 0
  end
  local first = place * width
  if width >= 8 then
    return bytes(begin + first / 8, width / 8):uint()
  end
  return bytes(begin + math.floor(first / 8), 1):bitfield(first % 8, width)
end

local function allocation(bytes, tree)
  local head, lengths, widths = bytes(1, 1):uint(), bytes(6, 1):uint(), bytes(7, 1):uint()
  local form, grants = bytes(8, 1):uint(), bit.band(bytes(1, 1):uint(), 0x7f)
  local from = Reader.new(bytes, 9, tree)
  local slot = from:numbers(lengths, widths)
  if bit.band(head, 0x80) ~= 0 then
    from:number(of_fcp.back, 2, tree)
  end
  local count = bit.band(widths, 3) + 1
  local listed = from:counts(bit.rshift(form, 4), count, of_fcp.granted, of_fcp.granted_to, of_fcp.granted_slots)
  if grants == 0 then
    return "grants: 0"
  end
  slot = Int64.new(slot:lower(), slot:higher())
  slot = slot + from:signed(of_fcp.ahead, bit.lshift(1, bit.band(bit.rshift(widths, 2), 3)))
  local step_bytes, width = bit.band(form, 8) ~= 0 and 2 or 1, PATH_BITS[bit.band(form, 7)]
  local paths = from.at + grants * step_bytes
  for place = 0, grants - 1 do
    local range = from:take(step_bytes)
    local step = range:uint()
    local gap = step_bytes == 2 and bit.band(step, 0xfff) or bit.band(step, 15)
    local destination = listed[bit.rshift(step, step_bytes == 2 and 12 or 4)]
    slot = slot + Int64.new(gap)
    local path = path_of(bytes, paths, place, width)
    local branch = tree:add(of_fcp.grant, range)
    branch:append_text(string.format(": %s to %d by path %d", tostring(slot), destination, path))
    branch:add(of_fcp.grant_slot, range, slot)
    branch:add(of_fcp.grant_to, range, destination)
    branch:add(of_fcp.grant_path, range, path)
  end
  return string.format("grants: %d", grants)
end

local function reset(bytes, tree)
  if bytes(1, 1):uint() == 1 then
    tree:add(of_fcp.back, bytes(6, 2))
  end
  tree:add(of_fcp.term, bytes(8, 4))
  tree:add(of_fcp.slot, bytes(12, 8))
  tree:add(of_fcp.first_slot, bytes(20, 8))
  return string.format("term %d", bytes(8, 4):uint())
end

local function watchdog(bytes, tree)
  tree:add(of_fcp.rank, bytes(1, 1))
  tree:add(of_fcp.term, bytes(4, 4))
  tree:add(of_fcp.horizon, bytes(8, 8))
  return string.format("term %d", bytes(4, 4):uint())
end

local function answer(bytes, tree)
  tree:add(of_fcp.rank, bytes(1, 1))
  tree:add(of_fcp.token, bytes(8, 4))
  return string.format("token %d", bytes(8, 4):uint())
end

local function trial(bytes, tree)
  tree:add(of_fcp.back, bytes(6, 2))
  if bytes:len() > 12 then
    tree:add(of_fcp.next, bytes(12, 2))
    tree:add(of_fcp.next_path, bytes(14, 2))
  end
  return answer(bytes, tree)
end

local READERS = {
  [REQUEST] = request, [ALLOCATION] = allocation, [RESET] = reset, [WATCHDOG] = watchdog,
  [TRIAL] = trial, [ANSWER] = answer, [TRIAL_ON] = trial,
}

function fcp.dissector(bytes, packet, tree)
  if bytes:len() < 12 or bytes(0, 1):bitfield(0, 4) ~= 1 or not READERS[bytes(0, 1):bitfield(4, 4)] then
    return 0
  end
  local kind = bytes(0, 1):bitfield(4, 4)
  packet.cols.protocol = "FCP"
  local branch = tree:add(fcp, bytes())
  branch:add(of_fcp.version, bytes(0, 1))
  branch:add(of_fcp.kind, bytes(0, 1))
  branch:add(of_fcp.checksum, bytes(2, 2))
  local text = FCP_KINDS[kind]
  if kind ~= WATCHDOG then
    branch:add(of_fcp.endpoint, bytes(4, 2))
    text = string.format("%s, endpoint %d", text, bytes(4, 2):uint())
  end
  text = string.format("%s, %s", text, READERS[kind](bytes, branch))
  packet.cols.info = text
  branch:append_text(", " .. text)
  return bytes:len()
end

DissectorTable.get("ip.proto"):add(FCP_PROTOCOL, fcp)
