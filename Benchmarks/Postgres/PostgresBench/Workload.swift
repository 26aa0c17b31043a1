/// What is measured.
enum Workload: String, CaseIterable {
    /// Inserts all cities in one transaction.
    case insert
    /// Reads all cities, and every value of each.
    case read
    /// Reads 10,000 cities by their unique name, one after the other.
    case lookup
    /// Reads the same cities in one request.
    case set
    /// Changes one value of 10,000 cities that were read before, in one transaction.
    case update
    /// Goes through all countries and the cities of each.
    case relations
}

/// What a trial came to: contenders must agree about the check value.
struct Outcome {
    /// How long it took, in seconds.
    var seconds: Double
    /// A number that depends on everything that was read or written.
    var check: Int64
    /// How many statements were sent, if they were counted.
    var statements: Int?

    /// Runs a closure and takes its time.
    static func measure(_ body: () throws -> Int64) rethrows -> Outcome {
        let start = ContinuousClock.now
        let check = try body()
        let time = (ContinuousClock.now - start).components
        return Outcome(seconds: Double(time.seconds) + Double(time.attoseconds) * 1e-18, check: check)
    }
}
