import Strata

/// The value of a name that examples use.
func absent<Value>() -> Value { fatalError("examples are only compiled") }

/// The class that the sample model leaves to the reader.
class Sight: SightBase {}

/// The type of an attribute that is kept as JSON, which the sample model leaves to the reader.
struct PageExtras: Codable, Hashable {
    var mood: String?
    var ratings: [Int] = []
}
