/// Rows number their entity and their values with few bits.
extension ModelChecker {
    private static let entityLimit = 65_535
    private static let valueLimit = 32_767
    /// More levels are a mistake in the model; each level costs stack space when rows are planned.
    private static let levelLimit = 100

    /// Checks how large the model is.
    /// - Returns: false if it is too large to be checked any further.
    mutating func checkSizes() -> Bool {
        guard entities.count <= Self.entityLimit else {
            found.append(
                ModelFault(
                    message: "the model has \(entities.count) entities; it may have 65,535",
                    location: entities[0].location))
            return false
        }
        let before = found.count
        for entity in entities {
            var levels = 1
            var count = Self.valueCount(of: entity)
            var name = entity.parent
            // No set of names is kept: inheritance in a circle ends at the limit, too, and is found to be one later.
            while levels <= Self.levelLimit, let next = name, let parent = entitiesByName[next],
                parent.name != entity.name
            {
                levels += 1
                count += Self.valueCount(of: parent)
                name = parent.parent
            }
            if levels > Self.levelLimit, !isCircular(entity) {
                report(entity, "inherits over more than \(Self.levelLimit) levels, which is the limit")
            } else if levels <= Self.levelLimit, count > Self.valueLimit {
                report(
                    entity,
                    "has \(count) attributes, elements and to-one relationships, inherited ones included; it may have 32,767"
                )
            }
        }
        return found.count == before
    }

    /// Whether the entities that one inherits from are a circle, which another check reports.
    private func isCircular(_ entity: Entity) -> Bool {
        var seen: Set<String> = []
        var current: Entity? = entity
        while let next = current {
            guard seen.insert(next.name).inserted else { return true }
            current = next.parent.flatMap { entitiesByName[$0] }
        }
        return false
    }

    private static func valueCount(of entity: Entity) -> Int {
        entity.attributes.reduce(0) { $0 + $1.type.slotCount } + entity.relationships.count { !$0.isToMany }
    }
}
