@_exported import StrataRemote
@_exported import StrataTesting
