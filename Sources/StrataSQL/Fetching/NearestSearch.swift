import StrataStore

/// A fetch of the few objects nearest to a point, by the R*Tree: it looks at a circle that grows until there are enough
/// in it. What lies outside is further than all inside, so that order and ties are those of the whole.
package struct NearestSearch {
    /// The radius of the first circle, in radians: 64 metres.
    package static let firstAngle = 1e-5
    /// Circles larger than this, 3,000 km, contain a good part of all points. Reading the table is just as fast then.
    package static let lastAngle = 0.5

    /// The attribute, the point, and the positions of the point and of the earth's radius among the constants.
    package let place: [String]
    package let center: SQLConstant
    package let radius: SQLConstant

    /// - Returns: nil if a fetch asks for no such thing, or if there is no spatial index that would serve.
    package init?(_ plan: FetchPlan, _ schema: Schema) {
        // Every fetch passes through here, and most return before anything is allocated.
        guard plan.limit != nil, plan.sorts.isEmpty, !schema.spatialIndexes.isEmpty, let predicate = plan.predicate,
            let position = Self.position(predicate, at: 0),
            case .distance(let from, let to, let radius)? = predicate.nearestFirst?.node,
            case .keyPath(let path) = from.node, case .constant(let value) = to.node,
            path.count == 1, PredicateCompiler.point(value)?.isValid == true, radius > 0, radius.isFinite
        else { return nil }
        let entity = schema.layout.model.entities[plan.entityIndex]
        guard let slot = entity.slot(named: path[0]) else { return nil }
        let table = schema.layout.tableOfEntity[entity.index]
        let column = schema.layout.columnOfSlot[entity.index][slot.index]
        guard schema.spatialIndexes.contains(where: { $0.table == table && $0.column == column }) else { return nil }
        place = path
        center = SQLConstant(value: value, position: position)
        self.radius = SQLConstant(value: .double(radius), position: position + 1)
    }

    /// The position of the first constant of the condition that decides the order.
    private static func position(_ predicate: FetchPredicate, at position: Int) -> Int? {
        switch predicate.node {
        case .geo(.near): return position
        case .and(let parts):
            var place = position
            for part in parts {
                if let found = Self.position(part, at: place) { return found }
                place += PredicateCompiler.count(part)
            }
            return nil
        default: return nil
        }
    }
}

extension PredicateCompiler {
    /// Leaves of the rows of a plan those within an angle of the point whose nearest it asks for. The angle is the last
    /// of the constants.
    package func addNearestSearch(of plan: FetchPlan) throws(StoreError) {
        guard let search = NearestSearch(plan, schema) else { return }
        let place = try term(try walk(.object(root), search.place[...]))
        let distance = try term(try distance(.term(place), .constant(search.center), radius: search.radius))
        let last = constants.count - 1
        @Sendable func angle(_ constants: [Value]) -> Double {
            if case .double(let angle) = constants[last] { angle } else { 0 }
        }
        let limit = parameters.add(.double) { (constants: [Value]) throws(StoreError) -> SQLValue in
            guard case .double(let radius) = search.radius.value(in: constants) else { return .null }
            return .double(angle(constants) * radius)
        }
        let condition = self.search(place, "\(distance.sql) <= \(limit)") { (constants: [Value]) -> [GeoBox] in
            guard let point = Self.point(search.center.value(in: constants)) else { return [] }
            return GeoBox.around(point, angle: angle(constants))
        }
        root.scope.conditions.append(condition)
    }
}
