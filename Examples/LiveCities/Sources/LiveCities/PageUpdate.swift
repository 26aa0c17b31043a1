/// One event for the page. Positions of deletes and origins of moves are those in the list before, all others those after.
struct PageUpdate: Codable, Equatable {
    struct Row: Codable, Equatable {
        var id, name, country: String
        var population: Int64
    }

    struct Place: Codable, Equatable {
        /// Where it was; nil if it is new or stays.
        var from: Int?
        var to: Int
        var row: Row
    }

    /// The whole list; only in the first event.
    var all: [Row]?
    var deletes: [Int] = []
    var inserts: [Place] = []
    var moves: [Place] = []
    var updates: [Place] = []
}
