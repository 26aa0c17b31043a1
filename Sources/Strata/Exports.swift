@_exported import StrataSQLite
