"""Swift in the kernel's TCP, measured on one machine: `make bench-hosts` and `make demo-tcp`.

`python -m tools.hosts bench` holds it against cubic between network namespaces, a line a bar;
`python -m tools.hosts demo` shows three congestion controls on one page;
`python -m tools.hosts dashboard` asks the queries of an operator's dashboard of a Prometheus.
"""
