/// The steps that bring a store's data to another model.
///
///     let plan = MigrationPlan(from: version1, to: version2)
///     for step in plan.steps where step.risk != .safe { print(step) }
///     print(plan.hazards.isEmpty ? "nothing is lost" : "write answers or a custom stage")
///
/// A plan is made from two models, without a store and without SQL, for instance in a test that guards your model
/// against changes that lose data. It does not know the data: the counts of objects and of values that do not fit are
/// nil. ``SQLiteStore/migrationPlan(for:to:options:)`` makes the plan for a file, with these counts. Opening the store
/// carries the plan out.
///
/// A plan compares only the two models that you give it. If data must pass through versions in between, list them in
/// ``MigrationOptions/versions``.
public struct MigrationPlan: Sendable, Hashable {
    /// A version of a model.
    public struct Version: Sendable, Hashable {
        /// The name of the model.
        public let model: String
        /// The fingerprint of everything that it declares about stored data, 32 hexadecimal digits.
        public let fingerprint: String
    }

    /// The version that the data have.
    public let source: Version
    /// The version that they get.
    public let target: Version
    /// What has to be done, in the order of the entities of the new model; removed entities come last.
    public package(set) var steps: [MigrationStep]
    /// Where each value of the new model comes from.
    package let mapping: ModelMapping

    /// Compares two models. Entities and properties are the same if their names are, or if the new one was
    /// `renamed(from:)` the old one.
    public init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        var inference = MigrationInference(old: old, new: new)
        inference.run()
        source = Version(model: old.name, fingerprint: old.fingerprint)
        target = Version(model: new.name, fingerprint: new.fingerprint)
        steps = inference.steps
        mapping = inference.mapping
    }

    /// The steps that lose data, and those that cannot be inferred. Steps with the risk ``MigrationStep/Risk/checked``
    /// are not among them, although data may not fit.
    public var hazards: [MigrationStep] { steps.filter { $0.risk == .lossy || $0.risk == .impossible } }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { steps.isEmpty }
}

extension MigrationPlan: CustomStringConvertible {
    /// The steps, one per line, with their risks and the rows that they touch.
    public var description: String {
        steps.isEmpty ? "nothing to do" : steps.map(\.description).joined(separator: "\n")
    }
}

/// One step of a migration: what is done to an entity or a property, and the risk for its data.
///
///     for step in try SQLiteStore.migrationPlan(for: "cities.sqlite", to: model).steps where step.risk != .safe {
///         print(step.id, step.text, step.misfits ?? 0, step.samples)
///     }
///
/// You find steps in a ``MigrationPlan``, in the report of a migration, and in
/// ``StoreError/migrationNeedsAnswers(path:steps:)``, if data would be lost. Show them during development, and decide
/// on a ``MigrationAnswer`` for each that is not safe.
///
/// Steps that change the same property have the same ``id``, and one answer holds for all of them: in a list on the
/// screen, tell steps apart by their position. The counts are nil in a plan that was made without a store.
public struct MigrationStep: Sendable, Hashable, Identifiable {
    /// What is done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An entity is new.
        case addEntity
        /// An entity is removed, with its objects.
        case removeEntity
        /// An entity has another name.
        case renameEntity
        /// An entity inherits from another one, or becomes abstract or concrete.
        case changeHierarchy
        /// An attribute is new.
        case addAttribute
        /// An attribute is removed, with its values.
        case removeAttribute
        /// A property has another name.
        case renameProperty
        /// A property is declared by another entity of the same hierarchy.
        case moveProperty
        /// An attribute has another type.
        case changeType
        /// A property becomes optional or required.
        case changeOptionality
        /// Values of a derived attribute are computed again.
        case recompute
        /// Large values move into files, or back.
        case changeStorage
        /// A relationship is new.
        case addRelationship
        /// A relationship is removed, with its links.
        case removeRelationship
        /// A relationship has another cardinality, destination, inverse or order.
        case changeRelationship
        /// Values become unique.
        case addUniqueness
        /// Indexes come or go.
        case changeIndexes
        /// Only the description of the model changes: defaults, rules, delete rules.
        case describe
    }

    /// The risk for data.
    public enum Risk: String, Sendable, Hashable, CaseIterable {
        /// Nothing is lost, whatever the data is.
        case safe
        /// Nothing is lost if all data fit, which a store checks before it changes anything.
        case checked
        /// Data is lost. The step needs an answer; see ``MigrationAnswer``.
        case lossy
        /// The step cannot be inferred. Write a custom stage.
        case impossible
    }

    /// What is done.
    public let kind: Kind
    /// The risk for data.
    public let risk: Risk
    /// The entity: its new name, or the old one if the entity is removed.
    public let entity: String
    /// The property: its new name, or the old one if the property is removed; nil for a step that concerns the entity.
    public let property: String?
    /// Describes the step, in words for developers:
    /// `was string, is integer64; values without an exact form do not fit`.
    public let text: String
    /// How many objects the entity has; nil until a store has counted them.
    public package(set) var rows: Int?
    /// How many objects do not fit, or lose data; nil until a store has counted them, and for steps without risk.
    public package(set) var misfits: Int?
    /// Some of the values that do not fit, as text.
    public package(set) var samples: [String] = []

    /// The name under which an answer to the step is given: `City.nickname`, or `City` for the entity.
    public var id: String { property.map { "\(entity).\($0)" } ?? entity }

    package init(_ kind: Kind, _ risk: Risk, entity: String, property: String? = nil, _ text: String) {
        self.kind = kind
        self.risk = risk
        self.entity = entity
        self.property = property
        self.text = text
    }
}

extension MigrationStep: CustomStringConvertible {
    /// The step on one line.
    public var description: String {
        var line = "\(id): \(text)"
        switch risk {
        case .safe: break
        case .checked: line += " [checked]"
        case .lossy: line += " [loses data]"
        case .impossible: line += " [needs a custom stage]"
        }
        if let rows { line += ", \(rows) \(rows == 1 ? "object" : "objects")" }
        if let misfits, misfits > 0 {
            line += risk == .lossy ? ", \(misfits) with a value" : ", \(misfits) do not fit"
            if !samples.isEmpty { line += " (\(samples.joined(separator: ", ")))" }
        }
        return line
    }
}

/// The answer to a step of a migration that loses data, or whose data may not fit.
///
///     var options = SQLiteStore.Options()
///     options.migration.answers = [
///         "City.nickname": .accept,      // the attribute was removed
///         "City.population": .fill(0),   // it is required now
///         "City.cityId": .keepFirst,     // it is unique now
///     ]
///     let container = try PersistentContainer(model: model, at: .file(path: "cities.sqlite"), options: options)
///
/// Give answers under the ``MigrationStep/id`` of the step. Without one, opening the store throws
/// ``StoreError/migrationNeedsAnswers(path:steps:)``, and the file stays as it was. An answer has an effect only if it
/// fits the kind of step, and only if the data need it. No answer helps where a step cannot be inferred; write a
/// ``MigrationStage``. Leave answers in place as long as old files may exist.
public enum MigrationAnswer: Sendable, Hashable {
    /// The data may be lost: a removed entity, property or order, all links but the first of a to-many relationship
    /// that becomes to-one.
    case accept
    /// Required values that are missing, and values that do not fit a new type, become this one. Give a value of the
    /// new type: any other fails the migration. The validation rules of the attribute are not checked.
    case fill(Value)
    /// Values that do not fit a new type become nil, or the default of a required attribute. It does not answer the step
    /// of a required attribute without a default.
    case clear
    /// Of several objects with the same unique values, the one that was created first stays. The others are deleted,
    /// and relationships to them lead to the one that stays.
    case keepFirst
    /// Like ``keepFirst``, but the object that was created last stays.
    case keepLast
}

/// Where the data of each entity of a new model come from.
package struct ModelMapping: Sendable, Hashable {
    /// By the name of the new entity.
    package var entities: [String: EntityMapping] = [:]
    /// The names of old entities that no new one continues.
    package var removed: [String] = []

    /// The new entity that continues an old one.
    package func successor(of entity: String) -> String? { entities.values.first { $0.source == entity }?.entity }
}

/// Where the data of an entity come from.
package struct EntityMapping: Sendable, Hashable {
    /// The name of the new entity.
    package let entity: String
    /// The name of the old one; nil if there was none.
    package let source: String?
    /// For each property of the new entity, inherited ones included, the property of the old one that it continues.
    package var properties: [String: String] = [:]
    /// For each stored attribute slot how it is filled.
    package var slots: [SlotMapping] = []

    package init(entity: String, source: String?) {
        self.entity = entity
        self.source = source
    }
}

/// Where the values of a slot of an attribute come from.
package struct SlotMapping: Sendable, Hashable {
    /// The name of the slot: an attribute, or the path to an element.
    package let slot: String
    /// The slot of the old entity; nil if there was none, or none that was stored.
    package let source: String?
    /// How values change; nil if they stay as they are.
    package var conversion: ValueConversion?
    /// What stands in for a missing value.
    package var fill: AttributeDefault?
    /// How the value is computed from others.
    package var derivation: Derivation?
}
