@_exported import HTTPTypes
@_exported import StrataSQLite
