import StrataStore

/// A fetch by a list that names a good part of all rows: to pass over the table, and ask of each row whether the list has it,
/// costs a fifth of looking up each element in an index and then its row.
package struct ListScan {
    /// Shorter lists are looked up in any case.
    private static let leastCount = 1000

    /// The number of elements of the longest list.
    package let count: Int

    /// - Returns: nil unless a fetch asks in no order for all objects of which an attribute of whole numbers or text is in a
    ///   list; several such conditions may stand together.
    package init?(_ plan: FetchPlan, _ model: ManagedObjectModel) {
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
