#if Server
    import Strata

    /// How far a client has followed the changes of a schema.
    ///
    /// As text it is `<period>.<number>`, the period that told the number and the number of the last change; while a client
    /// reads everything for the first time there is `.<began>` after it, the number of the last change when it began.
    struct ChangeCursor: Sendable, Hashable {
        /// The time between two starts of the server that gave the number; nil before the first answer.
        var period: String?
        /// The number of the last change that the client has.
        var position: Int64 = 0
        /// The last change when a client began that has not yet read up to it.
        var began: Int64 = 0

        /// Deletions up to here are of no concern: the client has them, or began after them.
        var known: Int64 { max(position, began) }

        /// The cursor of a client that has nothing.
        static let start = ChangeCursor()

        /// The cursor after the changes up to a number.
        func moved(to position: Int64, in period: String, visible: Int64) -> ChangeCursor {
            let began = self.period == nil ? visible : began
            return ChangeCursor(period: period, position: position, began: began > position ? began : 0)
        }
    }

    extension ChangeCursor {
        /// Reads a cursor; nil for any other text. A bare number is a cursor of older servers.
        init?(_ text: String) {
            if text.isEmpty { return }
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = parts.dropFirst(parts.count == 1 ? 0 : 1).map { Int64($0) ?? -1 }
            guard (1...3).contains(parts.count), numbers.allSatisfy({ $0 >= 0 }) else { return nil }
            position = numbers[0]
            if parts.count > 1 { period = String(parts[0]) }
            if parts.count > 2 { began = numbers[1] }
            // Nobody was told about changes before there were any.
            if position == 0, parts.count == 1 { return }
            if period == nil { period = "" }
        }

        /// The cursor as a client keeps it.
        var text: String {
            guard let period else { return "0" }
            return "\(period).\(position)" + (began > 0 ? ".\(began)" : "")
        }
    }
#endif
