#if Server
    import Strata

    /// What goes in a transaction because something new comes: a few old rows with each new one, so that there is no day of
    /// reckoning. It is done once in a transaction: asking a context compares each of its unsaved objects with the
    /// condition.
    struct Room {
        /// Rows that may go.
        struct Old {
            private(set) var count = 0
            /// In milliseconds since 1970.
            private(set) var before = Int64.min

            mutating func add(count: Int, before: Int64) {
                self.count += count
                self.before = max(self.before, before)
            }

            mutating func add(_ other: Old) { add(count: other.count, before: other.before) }

            func remove(_ entity: String, _ field: String, from context: ManagedObjectContext)
                throws(PersistenceError)
            {
                if count == 0 { return }
                var old = FetchRequest<ManagedObject>(
                    entity: entity, where: .comparison(.keyPath([field]), .less, .constant(.integer(before)), []),
                    sortedBy: [FetchSort(field)], limit: count)
                old.includesPendingChanges = false
                for row in try context.fetch(old) where !row.isDeleted { context.delete(row) }
            }
        }

        /// Remembered answers.
        var answers = Old()
        /// Sessions that have ended.
        var sessions = Old()

        mutating func add(_ other: Room) {
            answers.add(other.answers)
            sessions.add(other.sessions)
        }

        func make(in context: ManagedObjectContext) throws(PersistenceError) {
            try answers.remove("ServerAnswer", "created", from: context)
            try sessions.remove("ServerSession", "ends", from: context)
        }
    }
#endif
