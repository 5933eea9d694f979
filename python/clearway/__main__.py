"""`python -m clearway` is `clearway`."""

from clearway.cli import main

main()
