-- The header of packets that Clearway has simulated, by name, in Wireshark and tshark. It has Swift's layout;
-- python/clearway/packets/frames.py describes it. PFC frames need no dissector: Wireshark knows them.
--
-- tshark -X lua_script:clearway.lua -r capture.pcapng -Y 'clearway.flow == 3'

local PORT = 61000
local LENGTH = 36
local NO_FLOW = 0xffffffff

local KINDS = {
  [1] = "data", [2] = "ack", [3] = "header", [4] = "nack", [5] = "cnp", [6] = "credit", [7] = "probe",
  [8] = "echo", [9] = "request", [10] = "allocation", [11] = "reset", [12] = "watchdog", [13] = "trial",
  [14] = "answer",
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
  if kind < 9 and kind ~= CREDIT then
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
