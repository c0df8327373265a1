"""The demonstration behind `graphlode demo`: real graphs, a stream, plots."""
