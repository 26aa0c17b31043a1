@_exported import StrataRemote
