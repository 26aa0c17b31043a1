#if Server
    import Strata

    /// The order of rows by a column.
    struct AzureOrder {
        var field: SchemaField
        /// The place of the column in the marks of deleted rows; nil where they have nothing.
        var stoneField: String?
        var isAscending: Bool

        static func read(_ text: String?, _ table: AzureTable, isForgiving: Bool) throws(ServerError) -> [AzureOrder] {
            var orders: [AzureOrder] = []
            for part in text?.split(separator: ",") ?? [] {
                let words = part.split(separator: " ").map(String.init)
                guard (1...2).contains(words.count),
                    words.count == 1 || ["asc", "desc"].contains(words[1].lowercased())
                else { throw .badRequest("$orderby takes columns with asc or desc, joined by commas.") }
                let isAscending = words.count == 1 || words[1].lowercased() == "asc"
                if words[0].lowercased() == "id" {
                    orders.append(AzureOrder(field: table.idField, stoneField: "identifier", isAscending: isAscending))
                    continue
                }
                if let column = table.own(words[0]) {
                    guard let field = column.field else { continue }
                    let stoneField = column == .createdAt ? nil : "deleted"
                    orders.append(AzureOrder(field: field, stoneField: stoneField, isAscending: isAscending))
                    continue
                }
                guard let field = table.field(words[0]) else {
                    guard isForgiving else { throw .noField(table.schema, words[0]) }
                    continue
                }
                // Numbers of other tables are kept as texts, in whose order 10 comes before 9.
                guard !field.isCollection, field.kind != .geoPoint, field.kind != .json, !table.leadsToNumbers(field)
                else {
                    throw .badRequest("\(words[0]) has no order.")
                }
                orders.append(AzureOrder(field: field, stoneField: nil, isAscending: isAscending))
            }
            guard orders.count <= 20 else { throw .badRequest("There may be 20 orders.") }
            return orders
        }
    }

    /// Reads rows, with those that were deleted among them where they are asked for.
    struct AzureReader {
        let table: AzureTable
        let scope: DataScope
        let grant: AccessGrant
        let filter: AzureNode?
        let orders: [AzureOrder]
        let isForgiving: Bool
        let limits: ServerLimits

        /// The rows of a query, and what counts all that it finds.
        func rows(
            _ query: AzureFind, _ encoder: AzureEncoder
        ) throws(ServerError) -> (rows: [JSONValue], total: () -> Int) {
            var live = FetchRequest<ManagedObject>(entity: table.schema.entityName)
            live.predicate = try filter.map { (node) throws(ServerError) in
                try AzurePredicate(table: table, isStone: false, isForgiving: isForgiving).predicate(node)
            }
            if let own = try grant.predicate(table.schema, scope) {
                live.predicate = live.predicate.map { own && $0 } ?? own
            }
            let stones = query.withDeleted && !table.hasNumbers ? try stoneRequest() : nil
            let stoneCount = try stones.map { (request) throws(ServerError) in try scope.count(request) } ?? 0
            let liveCount = query.counts ? try scope.count(live) : 0
            let total = { liveCount + stoneCount }
            live.sorts = orders.map { FetchSort([$0.field.name], ascending: $0.isAscending) }
            guard query.top > 0 else { return ([], total) }
            guard let stones, stoneCount > 0 else {
                (live.offset, live.limit) = (query.skip, query.top)
                return (try encode(try scope.fetchLazily(live), encoder), total)
            }
            return (try merged(live, stones, query, encoder), total)
        }

        private func encode(
            _ found: FoundObjects, _ encoder: AzureEncoder
        ) throws(ServerError) -> [JSONValue] {
            var rows: [JSONValue] = []
            var size = 0
            for object in found {
                try scope.checkCancellation()
                guard object.text(table.schema.keyField) != nil, !object.isDeleted else { continue }
                let row = JSONValue.object(try encoder.row(object))
                size += 64 + row.weight
                guard size <= limits.answers.size else {
                    throw .badRequest("The answer would be too large; ask for fewer rows with $top.")
                }
                rows.append(row)
            }
            try scope.checkReading()
            return rows
        }

        // MARK: Deleted rows

        private func stoneRequest() throws(ServerError) -> FetchRequest<ManagedObject> {
            var condition = DataScope.equal("schema", .string(table.schema.name))
            if let filter {
                condition =
                    condition
                    && (try AzurePredicate(table: table, isStone: true, isForgiving: true).predicate(filter))
            }
            // A client does not learn about deletions of objects that it may not have read.
            if let owner = grant.owner { condition = condition && DataScope.equal("owner", .string(owner)) }
            return FetchRequest(entity: "ServerTombstone", where: condition)
        }

        /// Both kinds of rows, each of which comes in the order that is asked for.
        private func merged(
            _ live: FetchRequest<ManagedObject>, _ stones: FetchRequest<ManagedObject>, _ query: AzureFind,
            _ encoder: AzureEncoder
        ) throws(ServerError) -> [JSONValue] {
            let (end, overflow) = query.skip.addingReportingOverflow(query.top)
            guard !overflow, end <= limits.answers.objects + query.top else {
                throw .badRequest(
                    "$skip is too large where deleted rows are asked for; order by updatedAt, and filter.")
            }
            var (live, stones) = (live, stones)
            (live.limit, stones.limit) = (end, end)
            stones.sorts = orders.compactMap { order in
                order.stoneField.map { FetchSort([$0], ascending: order.isAscending) }
            }
            let (rows, marks) = (try scope.fetchLazily(live), try scope.fetch(stones))
            var (row, mark) = (0, 0)
            var result: [JSONValue] = []
            for place in 0..<end {
                try scope.checkCancellation()
                let takesRow: Bool
                if row < rows.count, mark < marks.count {
                    takesRow = !stands(marks[mark], before: rows[row])
                } else if row < rows.count || mark < marks.count {
                    takesRow = row < rows.count
                } else {
                    break
                }
                if place >= query.skip {
                    let members = takesRow ? try encoder.row(rows[row]) : encoder.stone(marks[mark])
                    result.append(.object(members))
                }
                if takesRow { row += 1 } else { mark += 1 }
            }
            try scope.checkReading()
            return result
        }

        private func stands(_ stone: ManagedObject, before object: ManagedObject) -> Bool {
            for order in orders {
                let (a, b) = (order.stoneField.flatMap { stone[$0] }, object[order.field.name])
                let comparison: Int
                switch (a, b) {
                case (nil, nil): comparison = 0
                case (nil, _): comparison = -1
                case (_, nil): comparison = 1
                case (let x as Int64, let y as Int64): comparison = x < y ? -1 : x > y ? 1 : 0
                case (let x as String, let y as String):
                    comparison = x == y ? 0 : x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : 1
                default: comparison = 0
                }
                if comparison != 0 { return order.isAscending ? comparison < 0 : comparison > 0 }
            }
            return false
        }
    }

    extension JSONValue {
        /// Roughly how many bytes the text has.
        fileprivate var weight: Int {
            switch self {
            case .null, .boolean, .integer, .double, .decimal: 16
            case .string(let text): text.utf8.count + 8
            case .array(let elements): elements.reduce(2) { $0 + $1.weight }
            case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + $1.value.weight }
            }
        }
    }
#endif
