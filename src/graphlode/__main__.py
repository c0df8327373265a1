"""`python -m graphlode` is the command line."""

from graphlode.cli import main

main()
