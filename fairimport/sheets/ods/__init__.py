"""Reading OpenDocument spreadsheets as one stream of XML."""
