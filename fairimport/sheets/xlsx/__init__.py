"""Reading xlsx, xlsm and xltx, transitional and strict, as one stream of XML."""
