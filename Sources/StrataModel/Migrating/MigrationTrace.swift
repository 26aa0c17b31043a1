/// Where all data of a version come from in terms of an earlier one, however many versions are between them.
///
/// Two ways from one version to another have the same result if their traces are equal; see ``MigrationRoute``.
struct MigrationTrace: Hashable {
    /// How a value is made from values of the first version.
    indirect enum Expression: Hashable {
        /// The value of a slot of the first version.
        case old(String, isOptional: Bool)
        /// No value.
        case null
        /// A constant.
        case constant(AttributeDefault)
        /// A value, or a constant where there is none.
        case filled(Expression, AttributeDefault)
        /// A value in another type. With the name of its step if some values may not fit.
        case converted(Expression, from: AttributeType, to: AttributeType, step: String?, misfit: Value?)
        /// A required value that may be missing: the step with this name needs an answer then.
        case asked(Expression, step: String)
        /// What a derived attribute computes from a value.
        case derived(String, Expression)

        /// Whether some objects may have no value.
        var maybeNull: Bool {
            switch self {
            case .old(_, let isOptional): isOptional
            case .null: true
            case .constant, .filled, .asked: false
            case .converted(let value, _, _, let step, _): step != nil || value.maybeNull
            case .derived(_, let value): value.maybeNull
            }
        }
    }

    /// Where the data of an entity come from.
    struct EntityTrace: Hashable {
        /// The entity of the first version.
        let origin: String
        /// The values of stored attributes.
        var slots: [String: Expression] = [:]
        /// For each relationship the one of the first version that it continues.
        var links: [String: String] = [:]
    }

    /// The entities that have a past, by name.
    private(set) var entities: [String: EntityTrace] = [:]

    /// The trace of a version that nothing has happened to.
    init(of model: ManagedObjectModel) {
        for entity in model.entities {
            var trace = EntityTrace(origin: entity.name)
            for slot in entity.slots where slot.relationshipIndex == nil && slot.isStored {
                trace.slots[slot.name] = .old(slot.name, isOptional: slot.isOptional)
            }
            for relationship in entity.relationships { trace.links[relationship.name] = relationship.name }
            entities[entity.name] = trace
        }
    }

    /// The entities that can have objects.
    func concrete(in model: ManagedObjectModel) -> [String: EntityTrace] {
        entities.filter { model.entity(named: $0.key)?.isAbstract == false }
    }

    /// The trace after a migration to a next version.
    func advanced(
        by plan: MigrationPlan, to model: ManagedObjectModel, answers: [String: MigrationAnswer]
    ) -> MigrationTrace {
        var result = self
        result.entities = [:]
        for entity in model.entities {
            guard let mapping = plan.mapping.entities[entity.name], let source = mapping.source,
                let past = entities[source]
            else { continue }
            var trace = EntityTrace(origin: past.origin)
            for slot in mapping.slots where slot.derivation == nil {
                trace.slots[slot.slot] = Self.value(slot, of: entity, past, answers)
            }
            for slot in mapping.slots {
                guard let derivation = slot.derivation else { continue }
                trace.slots[slot.slot] = Self.value(derivation, slot, in: trace, past)
            }
            for relationship in entity.relationships {
                trace.links[relationship.name] = mapping.properties[relationship.name].flatMap { past.links[$0] }
            }
            result.entities[entity.name] = trace
        }
        return result
    }

    private static func value(
        _ mapping: SlotMapping, of entity: EntityDescription, _ past: EntityTrace, _ answers: [String: MigrationAnswer]
    ) -> Expression {
        guard let slot = entity.slot(named: mapping.slot) else { return .null }
        let first = slot.path.first ?? slot.name
        let step = "\(entity.attribute(named: first)?.declaringEntity ?? entity.name).\(slot.name)"
        var answer: Value?
        if case .fill(let value)? = answers[step] { answer = value }
        let base = mapping.source.flatMap { past.slots[$0] }
        var value = base ?? .null
        if let conversion = mapping.conversion, base != nil {
            value = .converted(
                value, from: conversion.source, to: conversion.target, step: conversion.reach == .all ? nil : step,
                misfit: slot.isOptional ? answer : nil)
        }
        let fill = !slot.isOptional || base == nil ? answer.map(AttributeDefault.value) ?? mapping.fill : mapping.fill
        if let fill {
            if base == nil { return .constant(fill) }
            return value.maybeNull ? .filled(value, fill) : value
        }
        return slot.isOptional || !value.maybeNull ? value : .asked(value, step: step)
    }

    private static func value(
        _ derivation: Derivation, _ mapping: SlotMapping, in trace: EntityTrace, _ past: EntityTrace
    ) -> Expression {
        switch derivation {
        case .lowercase(let name): .derived("lowercase", trace.slots[name] ?? .null)
        case .uppercase(let name): .derived("uppercase", trace.slots[name] ?? .null)
        case .canonical(let name): .derived("canonical", trace.slots[name] ?? .null)
        case .now: .derived("now", mapping.source.flatMap { past.slots[$0] } ?? .null)
        case .count, .sum, .path: .null
        }
    }
}
