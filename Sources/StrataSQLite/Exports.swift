@_exported import StrataSQL
