@_exported import StrataCoreDataModel
@_exported import StrataSQLite
