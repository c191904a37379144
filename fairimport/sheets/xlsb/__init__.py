"""Reading binary workbooks (xlsb) as streams of records."""
