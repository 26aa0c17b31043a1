import ArgumentParser

/// What is measured. The letters follow the size that a line has for everybody; each contender does it in its own usual
/// way.
enum Workload: String, CaseIterable, Codable, ExpressibleByArgument {
    case w1 = "W1"
    case w1Full = "W1F"
    case w2 = "W2"
    case w2Full = "W2F"
    case w3 = "W3"
    case w3Two = "W3P"
    case w4 = "W4"
    case w4Registered = "W4R"
    case w5 = "W5"
    case w6 = "W6"
    case w6Prefetched = "W6P"
    case w6Registered = "W6R"
    case w7 = "W7"
    case w8 = "W8"
    case w8Nullify = "W8N"
    case w9 = "W9"
    case w10 = "W10"
    case w11 = "W11"
    case w12 = "W12"
    case w12Policy = "W12P"

    /// What happens, in a line of the table.
    var title: String {
        switch self {
        case .w1: "insert N cities, one save"
        case .w1Full: "the same, synchronous=FULL"
        case .w2: "insert N cities, 100 a save"
        case .w2Full: "the same, synchronous=FULL"
        case .w3: "fetch all, read all 8 attributes"
        case .w3Two: "fetch all, read 2 attributes"
        case .w4: "10,000 by key, new context"
        case .w4Registered: "10,000 by key, registered"
        case .w5: "page of 50 by prefix and order, × 200"
        case .w6: "252 to-many relations, one by one"
        case .w6Prefetched: "the same, prefetched"
        case .w6Registered: "the same, objects registered"
        case .w7: "update one attribute of 10,000"
        case .w8: "delete 10,000 with their tags"
        case .w8Nullify: "delete 50 countries, cities stay"
        case .w9: "population by country (GROUP BY)"
        case .w10: "20 bounding boxes, no index"
        case .w11: "fetch all again, same context"
        case .w12: "upsert N existing cities, one save"
        case .w12Policy: "the same, by the merge policy"
        }
    }

    /// Whether the store is changed, so that each trial needs a fresh copy.
    var writes: Bool { [.w1, .w1Full, .w2, .w2Full, .w7, .w8, .w8Nullify, .w12, .w12Policy].contains(self) }
    /// Whether the trial begins with only the countries.
    var startsEmpty: Bool { [.w1, .w1Full, .w2, .w2Full].contains(self) }
    /// Whether it takes anything from the data, beyond what is in the store.
    var needsData: Bool { ![.w3, .w3Two, .w5, .w6, .w6Prefetched, .w6Registered, .w9, .w11].contains(self) }
    /// Whether each commit waits for the disk.
    var isFull: Bool { self == .w1Full || self == .w2Full }
    /// The upper bound for CPU time against raw that the project sets itself for N = 100,000; nil without a bound.
    var mustTimesRaw: Double? {
        switch self {
        case .w1, .w1Full, .w3Two, .w7: 1.0
        case .w2: 1.1
        case .w3: 1.25
        case .w4, .w12, .w12Policy: 1.5
        case .w4Registered: 0.03
        case .w5, .w6, .w8, .w8Nullify: 1.1
        case .w6Prefetched: 1.2
        case .w6Registered: 0.3
        case .w9, .w10: 1.03
        case .w11: 0.8
        case .w2Full: nil
        }
    }
}
