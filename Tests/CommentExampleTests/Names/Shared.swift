import Strata

/// The value of a name that examples use.
func absent<Value>() -> Value { fatalError("examples are only compiled") }

/// The class that the sample model leaves to the reader.
class Sight: SightBase {}
