"""Native parsers and formatters of text files."""
