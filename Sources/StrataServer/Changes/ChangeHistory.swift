#if Server
    import Strata

    /// The starts of a server, each with a name of its own and the number of the last change before it.
    ///
    /// A database that was restored from a backup counts on from where the backup was made, and gives numbers to other
    /// changes than the ones that clients have seen under them. The numbers cannot reveal this by themselves. A period
    /// begins with each start, and so does the time after a restore: if a period has handed out a number that the
    /// database no longer has, the number is larger than where the next period began.
    ///
    /// Servers that share a database are in one period, whenever they start: its name comes from the lineage of the
    /// database, which a restore changes.
    struct ChangeHistory: Sendable {
        private var periods: [(name: String, start: Int64)]
        /// As many starts are remembered; cursors of older ones start over.
        private static let maximumCount = 1_000

        /// Begins a period in a database whose last change has a number.
        /// - Parameter lineage: The lineage of a shared database; nil for one that only this server uses.
        init(on container: PersistentContainer, last: Int64, lineage: String? = nil) throws(PersistenceError) {
            let context = container.newContext()
            let rows = try context.fetch(
                FetchRequest<ManagedObject>(entity: "ServerPeriod", sortedBy: [FetchSort("number")]))
            let name = String((lineage.map(Sessions.digest) ?? Sessions.secret()).prefix(16))
            if rows.last?.text("name") == name {
                periods = rows.map { ($0.text("name") ?? "", $0.whole("start") ?? 0) }
                return
            }
            let row = try context.insert(entityNamed: "ServerPeriod")
            row["name"] = name
            row["number"] = (rows.last?.whole("number") ?? 0) + 1
            row["start"] = last
            let kept = rows.suffix(Self.maximumCount - 1)
            for old in rows.dropLast(kept.count) { context.delete(old) }
            periods = kept.map { ($0.text("name") ?? "", $0.whole("start") ?? 0) } + [(name, last)]
            try context.save()
        }

        /// The period that began with the last start.
        var current: String { periods[periods.count - 1].name }

        /// Whether the database has all changes that a cursor reports.
        /// - Parameter committed: The number of the last change.
        func holds(_ cursor: ChangeCursor, committed: Int64) -> Bool {
            guard let period = cursor.period else { return true }
            guard let place = periods.firstIndex(where: { $0.name == period }) else { return false }
            return cursor.known <= (place + 1 < periods.count ? periods[place + 1].start : committed)
        }
    }
#endif
