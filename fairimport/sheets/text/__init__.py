"""Reading csv, tsv and txt: encoding, delimiter, records with their physical lines."""
