"""The demonstration of `graphlode demo`: real graphs, a stream, plots."""
