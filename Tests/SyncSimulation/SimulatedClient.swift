import Foundation
import StrataRemote

/// One device: a mirror that outlives crashes, and an engine that does not.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class SimulatedClient: @unchecked Sendable {
    let number: Int
    let world: SimulationWorld
    private let clock: SimulatedClock
    private let location = SQLiteStore.Location.memory(name: "simulation-\(UUID().uuidString)")
    /// Keeps the memory that stands for the disk.
    private let disk: SQLiteStore
    private(set) var mirror: Mirror
    private(set) var engine: SyncEngine
    private var savedValues = 0
    /// What engines of this client reported, also those that crashed.
    private(set) var results: [SyncResult] = []
    private var streams: [AsyncStream<SyncResult>] = []

    init(number: Int, world: SimulationWorld, skew: Double) throws {
        self.number = number
        self.world = world
        clock = SimulatedClock(executor: world.executor, skew: skew)
        var options = SQLiteStore.Options()
        options.isMirror = true
        disk = try SQLiteStore.open(model: world.model, location: location, options: options)
        (mirror, engine) = try Self.start(number, world, clock, location)
        streams = [engine.results]
    }

    private static func start(
        _ number: Int, _ world: SimulationWorld, _ clock: SimulatedClock, _ location: SQLiteStore.Location
    ) throws -> (Mirror, SyncEngine) {
        let mirror = try Mirror.open(
            model: world.model, location: location, now: { clock.now.addingTimeInterval(-clock.skew) })
        var options = SyncOptions()
        options.retries = 3
        options.firstDelay = 0.5
        options.pageSize = 3
        let network = SimulatedNetwork(
            client: number, server: world.server, executor: world.executor, clock: clock, world: world)
        let executor = world.executor
        return (
            mirror,
            SyncEngine(
                mirror: mirror, backend: network, options: options, clock: clock,
                random: { executor.random.unit() }, executor: executor)
        )
    }

    /// The process dies and starts again.
    func crash() throws {
        world.trace("\(number) crashes")
        mirror.store.close()
        (mirror, engine) = try Self.start(number, world, clock, location)
        streams.append(engine.results)
    }

    func close() {
        mirror.store.close()
        disk.close()
    }

    /// Reads what all engines reported; they must have ended.
    func collectResults() async {
        for stream in streams {
            let reader = Task(executorPreference: world.executor) {
                var list: [SyncResult] = []
                for await result in stream { list.append(result) }
                return list
            }
            // What is there comes at once; the stream of an engine that lives has no end.
            try? await clock.sleep(seconds: 0.001)
            reader.cancel()
            results += await reader.value
        }
        streams = []
    }

    // MARK: Local changes

    private func entity(_ name: String) -> EntityDescription {
        guard let entity = world.model.entity(named: name) else { fatalError("the model has no \(name)") }
        return entity
    }

    private func slot(_ name: String, _ entity: EntityDescription) -> SlotDescription {
        guard let slot = entity.slot(named: name) else { fatalError("\(entity.name) has no \(name)") }
        return slot
    }

    private func rows(_ name: String) throws -> [RowReference] {
        try mirror.store.fetch(FetchPlan(entityIndex: entity(name).index)).rows
    }

    private func pick(_ name: String) throws -> RowReference? {
        let all = try rows(name)
        return all.isEmpty ? nil : all[world.executor.random.below(all.count)]
    }

    /// One of the objects that are here; nil if there is none.
    func anyIdentity() throws -> RemoteIdentity? {
        try pick(["Folder", "Item", "Tag"][world.executor.random.below(3)]).map(id)
    }

    private func newValue() -> String {
        savedValues += 1
        return "\(number)-\(savedValues)"
    }

    private func id(_ row: RowReference) -> RemoteIdentity {
        let entity = world.model.entities[row.entityIndex]
        return RemoteIdentity(
            entity: entity.name, id: PrimaryKey.id(of: row.row, slot(entity.primaryKeyField ?? "", entity)) ?? "")
    }

    /// Does something at random and saves it.
    func act() throws {
        let name = ["Folder", "Item", "Item", "Item", "Tag"][world.executor.random.below(5)]
        var changes = ChangeSet()
        switch world.executor.random.below(10) {
        case 0..<3: try insert(name, &changes)
        case 3..<7: try update(name, &changes)
        case 7..<9: try relate(&changes)
        default: try delete(name, &changes)
        }
        guard case .committed = try mirror.commit(changes, enqueues: true) else {
            return world.violate("client \(number): a save met a conflict")
        }
    }

    private func insert(_ name: String, _ changes: inout ChangeSet) throws {
        let entity = entity(name)
        let key = try mirror.store.allocateKeys(1, rootIndex: entity.rootIndex).lowerBound
        var slab = RowEditing.emptyRow(entity: entity, key: key)
        let id = "\(name)-\(newValue())"
        set(.string(id), slot(entity.primaryKeyField ?? "", entity), entity, &slab)
        let identity = RemoteIdentity(entity: name, id: id)
        change("a", nil, identity, entity, &slab)
        if name == "Item", let folder = try pick("Folder") {
            set(.object(folder.key), slot("folder", entity), entity, &slab)
        }
        RowEditing.setVersion(1, in: slab)
        changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
        if name == "Item", world.executor.random.chance(0.5), let tag = try pick("Tag") {
            addPair(key, added: [tag.key], removed: [], &changes)
        }
    }

    private func set(_ value: Value, _ slot: SlotDescription, _ entity: EntityDescription, _ slab: inout RowSlab) {
        if !RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) {
            fatalError("\(value) for \(slot.name)")
        }
    }

    /// Gives a property a value that nobody else gives, and tells the world of it.
    private func change(
        _ property: String, _ old: RowReference?, _ identity: RemoteIdentity, _ entity: EntityDescription,
        _ slab: inout RowSlab
    ) {
        let slot = slot(property, entity)
        let value = newValue()
        set(.string(value), slot, entity, &slab)
        world.saved(
            ModelServer.Write(identity: identity, property: property, value: .value(.string(value))), by: number,
            seen: .value(old?.row.value(slot) ?? .null))
    }

    private func update(_ name: String, _ changes: inout ChangeSet) throws {
        guard let row = try pick(name) else { return }
        let entity = entity(name)
        var slab = RowSlab.copy(of: row.row)
        var slots = SlotSet()
        let property = name == "Item" && world.executor.random.chance(0.5) ? "b" : "a"
        change(property, row, id(row), entity, &slab)
        slots.insert(slot(property, entity).index)
        if name == "Item", world.executor.random.chance(0.3) {
            let folder = slot("folder", entity)
            set(try pick("Folder").map { .object($0.key) } ?? .null, folder, entity, &slab)
            if !slab.row.hasSameValue(as: row.row, slot: folder.index, storage: folder.storage) {
                slots.insert(folder.index)
            }
        }
        RowEditing.setVersion(row.version + 1, in: slab)
        changes.updates.append(
            .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: row.version))
    }

    private func addPair(_ owner: Int64, added: [Int64], removed: [Int64], _ changes: inout ChangeSet) {
        let entity = entity("Item")
        guard let tags = entity.relationship(named: "tags") else { return }
        world.trace("\(number) relates \(owner) +\(added) -\(removed)")
        changes.pairs.append(
            .init(
                entityIndex: entity.index, relationshipIndex: tags.index, owner: owner, added: added, removed: removed))
    }

    private func relate(_ changes: inout ChangeSet) throws {
        guard let item = try pick("Item"), let tags = entity("Item").relationship(named: "tags") else { return }
        let present = try mirror.store.memberKeys(
            entityIndex: item.entityIndex, relationshipIndex: tags.index, owners: [item.key]
        ).map(\.member)
        if world.executor.random.chance(0.4), let gone = present.first {
            addPair(item.key, added: [], removed: [gone], &changes)
        } else if let tag = try pick("Tag"), !present.contains(tag.key) {
            addPair(item.key, added: [tag.key], removed: [], &changes)
        }
    }

    private func delete(_ name: String, _ changes: inout ChangeSet) throws {
        guard let row = try pick(name) else { return }
        changes.deletes.append(.init(entityIndex: row.entityIndex, key: row.key, baseVersion: row.version))
        world.deleted(id(row), by: number)
        guard name == "Folder" else { return }
        let folder = slot("folder", entity("Item"))
        let members = try rows("Item").filter {
            $0.row.isPresent(folder.index) && Int64(bitPattern: $0.row.word(folder.index)) == row.key
        }
        if !members.isEmpty {
            changes.clearings.append(
                .init(
                    entityIndex: entity("Item").index, slot: folder.index, targets: [row.key], keys: members.map(\.key))
            )
        }
    }

    // MARK: What is here

    /// All objects as the server would tell them; references to what is not here lead to nobody.
    func contents() throws -> [RemoteIdentity: [String: RemoteValue]] {
        var names: [RowIdentity: String] = [:]
        var all: [(RowReference, EntityDescription)] = []
        for entity in world.model.entities {
            for row in try rows(entity.name) {
                names[RowIdentity(entityIndex: entity.index, key: row.key)] = id(row).id
                all.append((row, entity))
            }
        }
        var result: [RemoteIdentity: [String: RemoteValue]] = [:]
        for (row, entity) in all {
            var values: [String: RemoteValue] = [:]
            for slot in entity.slots where slot.name != entity.primaryKeyField {
                if let index = slot.relationshipIndex {
                    let destination = entity.relationships[index].destinationIndex
                    let key = row.row.isPresent(slot.index) ? Int64(bitPattern: row.row.word(slot.index)) : nil
                    values[slot.name] = .reference(
                        key.flatMap { names[RowIdentity(entityIndex: destination, key: $0)] ?? "nobody" })
                } else {
                    values[slot.name] = .value(row.row.value(slot))
                }
            }
            if let tags = entity.relationship(named: "tags") {
                let members = try mirror.store.memberKeys(
                    entityIndex: entity.index, relationshipIndex: tags.index, owners: [row.key])
                values["tags"] = .references(
                    members.map {
                        names[RowIdentity(entityIndex: tags.destinationIndex, key: $0.member)] ?? "nobody"
                    }
                    .sorted())
            }
            result[id(row)] = values
        }
        return result
    }
}
