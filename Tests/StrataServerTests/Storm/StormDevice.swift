#if Server
    import Foundation
    import StrataRemote
    import StrataServer
    import StrataRemoteTesting

    /// A mirror in a file, the store in front of it and a context.
    final class StormDevice {
        let name: String
        let store: RemoteStore
        let context: ManagedObjectContext
        private let container: PersistentContainer
        private let model: ManagedObjectModel
        /// Whether the server numbers the objects. Then devices know them by another attribute.
        private let hasNumbers: Bool

        init(
            _ name: String, model: ManagedObjectModel, backend: any RemoteBackend, file: String, clock: VirtualClock,
            hasNumbers: Bool
        ) throws {
            self.name = name
            self.model = model
            self.hasNumbers = hasNumbers
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.pushesAutomatically = false
            options.sync.retries = 2
            options.sync.firstDelay = 0.5
            options.sync.pageSize = 4
            store = try RemoteStore.open(
                model: model, backend: backend, location: .file(path: file), options: options,
                surroundings: Surroundings(clock: clock, random: { 0.5 }))
            container = try PersistentContainer(store: store)
            context = container.newContext(automaticallyMergesChanges: true)
            context.mergePolicy = .objectWinsByProperty
        }

        func close() {
            container.close()
            store.close()
        }

        func save() throws { try context.save() }

        @discardableResult
        func make(_ entity: String, id: String) throws -> ManagedObject {
            let object = try context.insert(entityNamed: entity)
            object[identity(entity)] = id
            return object
        }

        func objects(_ entity: String) throws -> [ManagedObject] {
            try context.fetch(
                FetchRequest<ManagedObject>(entity: entity, sortedBy: [FetchSort(identity(entity))]))
        }

        /// The attribute by which devices know the objects of an entity: they choose its values.
        private func identity(_ entity: String) -> String { hasNumbers ? "code" : "\(entity.lowercased())Id" }

        func id(of object: ManagedObject) -> String { object[identity(object.entity.name)] as? String ?? "?" }

        /// The identities that several objects of an entity have. A pull may report a row before its creation is answered: until
        /// then, the row and the object that was made here are two.
        func doubles(_ entity: String) throws -> Set<String> {
            let counts = Dictionary(grouping: try objects(entity), by: id(of:)).mapValues(\.count)
            return Set(counts.filter { $0.value > 1 }.keys)
        }

        /// The title of a note; nil if there is none with this identity.
        func title(of id: String) throws -> String? {
            let found = try context.fetchFirst(
                FetchRequest<ManagedObject>(
                    entity: "Note",
                    where: .comparison(.keyPath([identity("Note")]), .equal, .constant(.string(id)), [])))
            return found.map { $0["title"] as? String ?? "" }
        }

        /// An object that waits to be saved, as text.
        func line(_ object: ManagedObject) -> String {
            "\(object.entity.name) \(id(of: object)): \(object.changedValues().sorted { $0.key < $1.key })"
        }

        /// All objects as text, by entity and identity.
        func contents() throws -> [String: String] {
            var result: [String: String] = [:]
            let fresh = container.newContext()
            for entity in model.entities {
                for object in try fresh.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
                    let id = id(of: object)
                    var parts = entity.attributes.map { "\($0.name): \(object[$0.name].map { "\($0)" } ?? "nil")" }
                    for relationship in entity.relationships where relationship.inverse != nil {
                        if relationship.isToMany {
                            let members = object[relationship.name] as? Set<ManagedObject> ?? []
                            parts.append("\(relationship.name): \(members.map(self.id(of:)).sorted())")
                        } else {
                            let target = object[relationship.name] as? ManagedObject
                            parts.append("\(relationship.name): \(target.map(self.id(of:)) ?? "nil")")
                        }
                    }
                    result["\(entity.name) \(id)"] = parts.joined(separator: ", ")
                }
            }
            return result
        }
    }
#endif
