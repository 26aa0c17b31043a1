import Foundation
import StrataModel
import StrataStore

/// Which of several stores keeps which entities of a model.
struct StoreAssignment {
    let model: ManagedObjectModel
    let descriptions: [PersistentStoreDescription]
    /// For each description the names of its entities.
    private(set) var entities: [Set<String>] = []
    /// Why the stores cannot be opened.
    private var problems: [String] = []

    /// - Throws: ``PersistenceError/invalidStores(model:reasons:)`` with everything that is wrong.
    init(_ model: ManagedObjectModel, _ descriptions: [PersistentStoreDescription]) throws(PersistenceError) {
        self.model = model
        self.descriptions = descriptions
        checkDescriptions()
        guard problems.isEmpty else { throw .invalidStores(model: model.name, reasons: problems) }
        assignEntities()
        checkRelationships()
        guard problems.isEmpty else { throw .invalidStores(model: model.name, reasons: problems) }
    }

    private mutating func checkDescriptions() {
        if descriptions.isEmpty { problems.append("there are no stores; describe at least one") }
        var names: Set<String> = []
        var paths: Set<String> = []
        for description in descriptions {
            if let name = description.configuration, model.configuration(named: name) == nil {
                problems.append(
                    "the model has no configuration \(name)"
                        + Spelling.suggestion(for: name, in: model.configurations.map(\.name)))
            }
            if !names.insert(description.name).inserted {
                problems.append("two stores are for the configuration \(description.name); remove one")
            }
            guard let path = description.path else { continue }
            let file = URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
            if !paths.insert(file).inserted {
                problems.append("two stores are in the file \(path); a file holds the objects of one configuration")
            }
        }
    }

    private mutating func assignEntities() {
        var keeper: [String: String] = [:]
        for description in descriptions {
            let configuration = description.configuration.flatMap(model.configuration(named:))
            for name in configuration?.entities ?? [] {
                if let other = keeper.updateValue(description.name, forKey: name) {
                    problems.append("\(name) is in both \(other) and \(description.name); one store keeps an entity")
                }
            }
        }
        let rest = model.entities.map(\.name).filter { keeper[$0] == nil }
        let hasDefault = descriptions.contains { $0.configuration == nil }
        if hasDefault, rest.isEmpty {
            problems.append("the store without a configuration keeps nothing, as others keep all entities; remove it")
        } else if !hasDefault, !rest.isEmpty {
            problems.append(
                "no store keeps \(rest.joined(separator: ", ")); add a store without a configuration, which keeps the rest"
            )
        }
        for name in rest { keeper[name] = ModelConfiguration.defaultName }
        entities = descriptions.map { description in
            Set(keeper.filter { $0.value == description.name }.map(\.key))
        }
    }

    private mutating func checkRelationships() {
        guard problems.isEmpty else { return }
        func store(of entity: String) -> Int? { entities.firstIndex { $0.contains(entity) } }
        for entity in model.entities {
            for relationship in entity.declaration.relationships {
                guard let near = store(of: entity.name), let far = store(of: relationship.destination), near != far
                else { continue }
                problems.append(
                    "\(entity.name).\(relationship.name) leads from the store of \(descriptions[near].name) to that of "
                        + "\(descriptions[far].name), and relationships do not cross stores; refer to the object with an "
                        + "attribute: Attribute(\"\(relationship.name)\", .uri).references(\"\(relationship.destination)\")"
                )
            }
        }
    }

    // MARK: Opening

    /// Opens the stores. If one fails, those before it are closed again.
    /// - Throws: ``PersistenceError/store(_:)`` of the store that failed;
    ///   ``PersistenceError/invalidStores(model:reasons:)`` if the model of a store is another one.
    func open() throws(PersistenceError) -> any PersistentStore {
        var parts: [StoreSet.Part] = []
        do throws(PersistenceError) {
            for (description, names) in zip(descriptions, entities) {
                let store: any PersistentStore
                do throws(StoreError) {
                    store = try description.open(try model(of: names))
                } catch {
                    throw .store(error)
                }
                // The only one keeps everything, by the model itself.
                if descriptions.count == 1, store.model === model { return store }
                do throws(PersistenceError) {
                    try check(store, of: description, besides: parts)
                    parts.append(try part(description, store, names))
                } catch {
                    store.close()
                    throw error
                }
            }
        } catch {
            for part in parts { part.store.close() }
            throw error
        }
        return StoreSet(model: model, parts: parts)
    }

    /// A mirror has one owner: its outbox and its rows would be written by two.
    private func check(
        _ store: any PersistentStore, of description: PersistentStoreDescription, besides parts: [StoreSet.Part]
    ) throws(PersistenceError) {
        for part in parts where part.store.identifier == store.identifier {
            guard store is any NetworkStore || part.store is any NetworkStore else { continue }
            throw .invalidStores(
                model: model.name,
                reasons: [
                    "the stores of \(part.configuration) and \(description.name) are the same, \(store.name); give each a "
                        + "mirror of its own, or put their entities into one configuration"
                ])
        }
    }

    private func model(of names: Set<String>) throws(StoreError) -> ManagedObjectModel {
        if names.count == model.entities.count { return model }
        do throws(ModelError) {
            return try model.restricted(to: names)
        } catch {
            // The checks above leave no other reason than a model that cannot be without the rest.
            throw .unsupported(
                store: model.name, feature: "a store of \(names.sorted().joined(separator: ", ")): \(error)")
        }
    }

    private func part(
        _ description: PersistentStoreDescription, _ store: any PersistentStore, _ names: Set<String>
    ) throws(PersistenceError) -> StoreSet.Part {
        let differences = EntityTranslation.differences(of: store.model, from: model, names)
        guard differences.isEmpty else {
            throw .invalidStores(
                model: model.name,
                reasons: differences.map { "the store of \(description.name), \(store.name), has another model: \($0)" }
            )
        }
        return StoreSet.Part(
            configuration: description.name, store: store,
            translation: EntityTranslation(outer: model, inner: store.model, names))
    }
}
