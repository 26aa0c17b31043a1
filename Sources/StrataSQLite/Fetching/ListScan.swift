import StrataCSQLite
import StrataStore

/// A fetch by a list that names a good part of all rows: to pass over the table, and ask of each row whether the list has it,
/// costs a fifth of looking up each element in an index and then its row.
struct ListScan {
    /// Shorter lists are looked up in any case.
    private static let leastCount = 1000

    /// The number of elements of the longest list.
    let count: Int

    /// - Returns: nil unless a fetch asks in no order for all objects of which an attribute of whole numbers or text is in a
    ///   list; several such conditions may stand together.
    init?(_ plan: FetchPlan, _ model: ManagedObjectModel) {
        guard plan.limit == nil, plan.offset == 0, plan.sorts.isEmpty, let predicate = plan.predicate,
            let count = Self.count(predicate, model.entities[plan.entityIndex]), count >= Self.leastCount
        else { return nil }
        self.count = count
    }

    private static func count(_ predicate: FetchPredicate, _ entity: EntityDescription) -> Int? {
        switch predicate.node {
        case .comparison(let left, .isIn, let right, let options):
            guard options.isEmpty, case .keyPath(let path) = left.node, path.count == 1,
                case .constant(.list(let elements)) = right.node, let slot = entity.slot(named: path[0]), slot.isStored,
                slot.type == .string || slot.storage == .integer && elements.allSatisfy(isWhole)
            else { return nil }
            return elements.count
        case .and(let parts):
            var longest = 0
            for part in parts {
                guard let count = count(part, entity) else { return nil }
                longest = max(longest, count)
            }
            return longest
        default: return nil
        }
    }

    private static func isWhole(_ value: Value) -> Bool {
        switch value {
        case .integer, .null: true
        default: false
        }
    }
}

extension SQLiteStore {
    /// Whether a fetch passes over the table instead of looking up each element of a list.
    func scansLists(_ plan: FetchPlan, on connection: Connection) throws(StoreError) -> Bool {
        guard let scan = ListScan(plan, model) else { return false }
        let most = Int64(scan.count) * 4
        return try maximumRows(of: layout.tableOfEntity[plan.entityIndex], upTo: most, on: connection) <= most
    }

    /// An upper bound for the number of rows of a table: the distance between the minimum and the maximum of the reserved keys,
    /// and the number of rows with other keys. Counts no more than `limit` of these, and one.
    func maximumRows(of table: Int, upTo limit: Int64, on connection: Connection) throws(StoreError) -> Int64 {
        let name = layout.tables[table].quoted
        let first = StoreKeys.firstUnreserved
        let statement = try connection.statement(
            """
            SELECT (SELECT max(_id) FROM \(name) WHERE _id < \(first)), (SELECT min(_id) FROM \(name)), \
            (SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE _id >= \(first) LIMIT ?1))
            """)
        statement.bind(limit + 1, at: 1)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        let others = statement.integer(2)
        if statement.type(0) == SQLITE_NULL { return others }
        let (span, overflow) = statement.integer(0).subtractingReportingOverflow(statement.integer(1))
        return overflow || span > limit ? .max : span + 1 + others
    }
}
