"""The object that clearwayd loads into the kernel, and the sources that it is made of."""
