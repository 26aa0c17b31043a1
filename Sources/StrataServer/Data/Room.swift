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

            func rows(_ entity: String, _ field: String, in context: ManagedObjectContext)
                throws(PersistenceError) -> [ManagedObject]
            {
                if count == 0 { return [] }
                var old = FetchRequest<ManagedObject>(
                    entity: entity, where: .comparison(.keyPath([field]), .less, .constant(.integer(before)), []),
                    sortedBy: [FetchSort(field)], limit: count)
                old.includesPendingChanges = false
                return try context.fetch(old)
            }
        }

        /// Remembered answers.
        var answers = Old()
        /// Sessions that have ended.
        var sessions = Old()
        /// Marks of deleted objects.
        var tombstones = Old()
        /// How many marks may stay; nil leaves them uncounted.
        var maximumTombstones: Int?

        mutating func add(_ other: Room) {
            answers.add(other.answers)
            sessions.add(other.sessions)
            tombstones.add(other.tombstones)
            maximumTombstones = other.maximumTombstones ?? maximumTombstones
        }

        func make(in context: ManagedObjectContext) throws(PersistenceError) {
            let old =
                try answers.rows("ServerAnswer", "created", in: context)
                + sessions.rows("ServerSession", "ends", in: context)
            for row in old where !row.isDeleted { context.delete(row) }
            try Tombstones.forget(try tombstones.rows("ServerTombstone", "deleted", in: context), in: context)
            if let maximumTombstones { try Tombstones.forget(beyond: maximumTombstones, in: context) }
        }
    }
#endif
