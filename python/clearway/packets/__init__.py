"""The packets that a run has recorded, as other tools read them: pcapng with true headers, and a trace.

`record` takes them from a run, `frames` writes them as bytes, `pcapng` the file around those, `trace` a
timeline, and `clearway.lua` names the fields of the simulator's own header in Wireshark.
"""
