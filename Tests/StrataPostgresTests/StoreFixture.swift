#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore

    @testable import StrataPostgres

    /// A small model with what stores must do, and ways to write it without contexts.
    enum TestModel {
        static func make(_ change: (inout [Entity]) -> Void = { _ in }) throws -> ManagedObjectModel {
            var city = Entity(name: "City", location: nil)
            city.attributes = [
                Attribute("name", .string, optional: true), Attribute("code", .string, optional: true).unique(),
                Attribute("count", .integer64, optional: true), Attribute("price", .decimal, optional: true).indexed(),
                Attribute("founded", .date, optional: true), Attribute("rate", .double, optional: true),
                Attribute("photo", .binary, optional: true).externalStorage(),
                Attribute("tags", .array(.string), optional: true),
            ]
            city.relationships = [
                Relationship("land", to: "Land", .optionalToOne, inverse: "cities"),
                Relationship("streets", to: "Street", .orderedToMany, inverse: "city"),
            ]
            var port = Entity(name: "Port", location: nil)
            port.parent = "City"
            port.attributes = [Attribute("berth", .string, optional: true).unique()]
            var land = Entity(name: "Land", location: nil)
            land.attributes = [
                Attribute("name", .string, optional: true),
                Attribute("cityCount", .integer64, optional: true).derived(.count("cities")),
                Attribute("total", .decimal, optional: true).derived(.sum("cities", "price")),
            ]
            land.relationships = [
                Relationship("cities", to: "City", .toMany, inverse: "land"),
                Relationship("neighbours", to: "Land", .toMany, inverse: "neighbours"),
            ]
            var street = Entity(name: "Street", location: nil)
            street.attributes = [Attribute("name", .string, optional: true)]
            street.relationships = [Relationship("city", to: "City", .optionalToOne, inverse: "streets")]
            var entities = [city, port, land, street]
            change(&entities)
            return try ManagedObjectModel(name: "Test", entities: entities)
        }
    }

    extension PostgresStore {
        /// A store in a new database.
        static func fresh(_ change: (inout Options) -> Void = { _ in }) throws -> (store: PostgresStore, url: String) {
            let url = try PostgresServer.shared.newDatabase()
            return (try open(at: url, change), url)
        }

        static func open(at url: String, _ change: (inout Options) -> Void = { _ in }) throws -> PostgresStore {
            var options = Options()
            change(&options)
            return try open(model: try TestModel.make(), at: url, options: options)
        }

        func row(_ name: String, _ key: Int64, version: Int64 = 1, _ values: [String: Value]) throws -> RowReference {
            guard let entity = model.entity(named: name) else { throw StoreError.notFound(path: name) }
            var builder = RowBatchBuilder(expectedRows: 1)
            builder.beginRow(entity: entity, key: key, version: version)
            for slot in entity.slots {
                guard let value = values[slot.name] else { continue }
                guard builder.setValue(value, slot: slot) else { throw StoreError.notFound(path: slot.name) }
            }
            builder.endRow()
            return builder.finish()[0]
        }

        @discardableResult
        func insert(_ rows: (String, Int64, [String: Value])...) throws -> CommitResult {
            var changes = ChangeSet()
            for (name, key, values) in rows { changes.inserts.append(.init(row: try row(name, key, values))) }
            return try commit(changes)
        }

        func update(_ name: String, _ key: Int64, base: Int64, _ values: [String: Value]) throws -> ChangeSet.Update {
            let row = try row(name, key, version: base + 1, values)
            let entity = model.entities[row.entityIndex]
            return .init(
                row: row, slots: SlotSet(values.keys.compactMap { entity.slot(named: $0)?.index }), baseVersion: base)
        }

        func read(_ name: String, _ key: Int64) throws -> [String: Value]? {
            guard let entity = model.entity(named: name),
                let row = try rows(entityIndex: entity.index, keys: [key]).rows.first
            else { return nil }
            let own = model.entities[row.entityIndex]
            return Dictionary(uniqueKeysWithValues: own.slots.map { ($0.name, row.value($0)) })
        }

        func version(_ name: String, _ key: Int64) throws -> Int64? {
            guard let entity = model.entity(named: name) else { return nil }
            return try rows(entityIndex: entity.index, keys: [key]).rows.first?.version
        }

        func count(_ name: String) throws -> Int {
            guard let entity = model.entity(named: name) else { return -1 }
            return try count(FetchPlan(entityIndex: entity.index))
        }
    }

    extension CommitResult {
        var conflicts: [StoreConflict]? { if case .conflicts(let list) = self { list } else { nil } }
        var effects: CommitEffects? { if case .committed(let effects) = self { effects } else { nil } }
    }

    /// Runs closures on threads of their own and waits for all of them.
    func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(number)
                group.leave()
            }
        }
        group.wait()
    }
#endif
