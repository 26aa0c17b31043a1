import StrataStore

/// What a live list asks of an object: whether it belongs to the list, and where.
struct LiveQuery {
    let plan: FetchPlan
    let order: LiveOrder
    let region: LiveRegion
    /// By position of the entity, whether its objects may be in the list.
    private let isCandidate: [Bool]
    private let predicate: PreparedPredicate?
    private let sorts: [FetchSort]
    /// The slots of the sorts that are by an attribute of the object itself; -1 for others.
    private let slots: [Int]
    private let hasSections: Bool
    private let entityName: String
    /// Relationships that the condition or the order looks at, read for the whole list at once.
    let prefetch: [[RelationshipDescription]]

    /// - Parameters:
    ///   - plan: The plan, with the sort by section first.
    ///   - hasSections: Whether the first sort makes sections.
    init(_ plan: FetchPlan, hasSections: Bool, model: ManagedObjectModel) {
        self.plan = plan
        self.hasSections = hasSections
        let entity = model.entities[plan.entityIndex]
        entityName = entity.name
        let distance = plan.sorts.isEmpty ? plan.predicate?.nearestFirst : nil
        let sorts = distance.map { [FetchSort($0)] } ?? plan.sorts
        self.sorts = sorts
        order = LiveOrder(ascending: sorts.map(\.ascending))
        region = LiveRegion(plan, paths: plan.keyPaths + sorts.flatMap(\.expression.keyPaths), model: model)
        predicate = plan.predicate.map { PreparedPredicate($0, plan.environment ?? EvaluationEnvironment()) }
        let candidates = Set(plan.includesSubentities ? entity.descendantIndexes : [entity.index])
        isCandidate = model.entities.map { candidates.contains($0.index) }
        slots = sorts.map { sort in
            guard let path = sort.keyPath, let slot = entity.slot(named: path.joined(separator: ".")),
                slot.relationshipIndex == nil, slot.type?.isJSON != true, slot.storage != .bytes
            else { return -1 }
            return slot.index
        }
        var ways: [[RelationshipDescription]] = []
        for sort in sorts {
            guard let path = sort.keyPath, path.count > 1 else { continue }
            var current = entity
            var way: [RelationshipDescription] = []
            for name in path.dropLast() {
                guard let relationship = current.relationship(named: name), !relationship.isToMany else { break }
                way.append(relationship)
                current = model.destination(of: relationship)
            }
            if !way.isEmpty { ways.append(way) }
        }
        prefetch = ways
    }

    /// The same question, asked now.
    func renewed(_ model: ManagedObjectModel) -> LiveQuery {
        var plan = plan
        if plan.environment != nil { plan.environment = EvaluationEnvironment() }
        return LiveQuery(plan, hasSections: hasSections, model: model)
    }

    /// Whether objects of an entity may be in the list.
    func isCandidate(_ entityIndex: Int) -> Bool { isCandidate[entityIndex] }

    /// Whether an object belongs to the list.
    func includes(_ object: ManagedObject) throws(PersistenceError) -> Bool {
        guard isCandidate[object.binding.entity.index], object.isShown else { return false }
        guard let predicate else { return true }
        do throws(PredicateEvaluationError) {
            return try predicate.evaluate(on: ObjectSource(object: object))
        } catch {
            throw .invalidFetch(entity: entityName, reason: error.description)
        }
    }

    /// The entry of an object that belongs to the list.
    func entry(of object: ManagedObject) throws(PersistenceError) -> LiveEntry {
        var values: [Value] = []
        var first = Value.null
        for index in sorts.indices {
            let value = try value(index, of: object)
            if index == 0 { first = value } else { values.append(value) }
        }
        return LiveEntry(
            identity: RowIdentity(entityIndex: object.binding.entity.index, key: object.key), first: first,
            rest: values,
            section: hasSections ? first : .null)
    }

    private func value(_ index: Int, of object: ManagedObject) throws(PersistenceError) -> Value {
        let value: Value
        if slots[index] >= 0, !object.isFault {
            value = object.row.value(object.binding.entity.slots[slots[index]])
        } else {
            do throws(PredicateEvaluationError) {
                value = try sorts[index].value(
                    of: ObjectSource(object: object), environment: plan.environment ?? EvaluationEnvironment())
            } catch {
                throw .invalidFetch(entity: entityName, reason: error.description)
            }
        }
        // Folded once here instead of at each comparison.
        if !sorts[index].options.isEmpty, case .string(let text) = value {
            return .string(TextComparison.fold(text, sorts[index].options))
        }
        return value
    }
}

extension LiveEntry {
    /// Whether an object with this entry has the same place as one with another entry.
    func hasSamePlace(as other: LiveEntry, _ order: LiveOrder) -> Bool {
        identity == other.identity && !order.isInOrder(self, other) && !order.isInOrder(other, self)
            && ValueComparison.areEqual(section, other.section)
    }
}
