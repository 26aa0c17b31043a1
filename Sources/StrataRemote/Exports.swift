@_exported import HTTPTypes
@_exported import StrataSQLite
@_exported import StrataWire
