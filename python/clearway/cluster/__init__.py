"""Points of a sweep on a Dask cluster: `clearway sweep FILE --on tcp://SCHEDULER`.

`work` says what travels to a worker: a scenario as resolved, and the files it names, so that nothing is
shared but the network. `worker` runs it there. `client` sends the work, shows how far it is, and hands over
what comes back. Dask is imported only when a scheduler is named.
"""
