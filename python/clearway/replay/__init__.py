"""A run as a page that plays it: the network drawn, and what happened at every link at every instant."""
