import Foundation
import SeededRandom
import Strata
import StrataRemote

/// A device that works offline and synchronizes at the same time.
struct LedgerClient {
    let store: RemoteStore
    let server: LedgerServer
    private let container: PersistentContainer
    private let journal: Journal
    private var random: SplitMix64
    /// Makes titles different from those of earlier runs.
    private let run: UInt64
    private var titles = 0

    static func makeModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Device") {
            Entity("Folder") {
                Attribute("folderId", .string)
                Attribute("title", .string, optional: true)
                Relationship("items", to: "Item", .toMany, inverse: "folder")
            }
            Entity("Item") {
                Attribute("itemId", .string)
                Attribute("title", .string, optional: true)
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "items")
                Relationship("tags", to: "Tag", .toMany, inverse: "items")
            }
            Entity("Tag") {
                Attribute("tagId", .string)
                Attribute("title", .string, optional: true)
                Relationship("items", to: "Item", .toMany, inverse: "tags")
            }
        }
    }

    init(folder: URL, seed: UInt64, longestDelay: Int) throws {
        let model = try Self.makeModel()
        server = try LedgerServer(
            file: folder.appending(path: "server.sqlite"), model: model, longestDelay: longestDelay)
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = .cacheOnly
        options.sync.pageSize = 25
        store = try RemoteStore.open(
            model: model, backend: server, location: .file(path: folder.appending(path: "mirror.sqlite").path),
            options: options)
        container = try PersistentContainer(store: store)
        journal = try Journal(folder.appending(path: "journal"))
        random = SplitMix64(seed: seed)
        run = seed
    }

    // MARK: Acting

    /// Does something at random and saves it. What meets a change that synchronization has just brought, or an object of
    /// which no more than the primary key is here, is given up.
    mutating func act() throws {
        let context = container.newContext()
        var states: Journal.States = [:]
        do {
            switch random.below(20) {
            case 0..<8: try insert(context, &states)
            case 8..<15: try update(context, &states)
            default: try delete(context, &states)
            }
            if states.isEmpty { return }
            try journal.around(states) { try context.save() }
        } catch is PersistenceError {
            return
        }
    }

    private mutating func newTitle() -> String {
        titles += 1
        return "\(run).\(titles)"
    }

    private func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entity: entity))
    }

    private func id(_ object: ManagedObject) -> String {
        object[object.entity.primaryKeyField ?? ""] as? String ?? ""
    }

    private func name(_ object: ManagedObject) -> String { "\(object.entity.name)/\(id(object))" }

    /// An object that others do not change, often a new one, which may be under way.
    private mutating func pickOwn(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
        let own = try all(entity, context).filter { !id($0).hasPrefix(Self.others) }.sorted { id($0) < id($1) }
        return random.pick(random.oneIn(4) ? own : own.suffix(10))
    }

    private mutating func insert(_ context: ManagedObjectContext, _ states: inout Journal.States) throws {
        for _ in 0...random.below(4) {
            let entity = random.oneIn(3) ? random.oneIn(2) ? "Folder" : "Tag" : "Item"
            let object = try context.insert(entityNamed: entity)
            try object.assignObjectID()
            let title = newTitle()
            object["title"] = title
            if entity == "Item" { try relate(object, context) }
            states[name(object)] = title
        }
    }

    private mutating func relate(_ item: ManagedObject, _ context: ManagedObjectContext) throws {
        item["folder"] = random.pick(try all("Folder", context))
        item["tags"] = Set(try all("Tag", context).filter { _ in random.oneIn(6) })
    }

    private mutating func update(_ context: ManagedObjectContext, _ states: inout Journal.States) throws {
        for _ in 0...random.below(2) {
            guard let object = try pickOwn(random.oneIn(4) ? "Tag" : "Item", context) else { continue }
            let title = newTitle()
            object["title"] = title
            if object.entity.name == "Item", random.oneIn(2) { try relate(object, context) }
            states[name(object)] = title
        }
    }

    private mutating func delete(_ context: ManagedObjectContext, _ states: inout Journal.States) throws {
        let entity = random.oneIn(4) ? random.oneIn(2) ? "Folder" : "Tag" : "Item"
        guard let object = try pickOwn(entity, context) else { return }
        states.updateValue(nil, forKey: name(object))
        context.delete(object)
    }

    // MARK: Others

    /// How the primary keys of others begin.
    private static let others = "other-"

    /// Another client does something at the server.
    mutating func actElsewhere() async throws {
        let lines = try await server.lines().filter { !$0.isGone }
        let entity = ["Folder", "Item", "Tag"][random.below(3)]
        let theirs = lines.filter { $0.identity.entity == entity && $0.identity.id.hasPrefix(Self.others) }
        if random.oneIn(4), let line = random.pick(theirs) { return try await server.put(line.identity, nil) }
        let title = newTitle()
        let identity =
            (random.oneIn(2) ? random.pick(theirs) : nil)?.identity
            ?? RemoteIdentity(entity: entity, id: Self.others + title)
        var values: [String: RemoteValue] = ["title": .value(.string(title))]
        if entity == "Item" {
            values["folder"] = .reference(random.pick(lines.filter { $0.identity.entity == "Folder" })?.identity.id)
            values["tags"] = .references(
                lines.filter { $0.identity.entity == "Tag" && random.oneIn(5) }.map(\.identity.id))
        }
        try await server.put(identity, values)
    }

    // MARK: What is here

    /// All objects of the mirror as the server would tell them; references to what the server has not are left out.
    func contents() throws -> [RemoteIdentity: [String: RemoteValue]] {
        let context = container.newContext()
        var result: [RemoteIdentity: [String: RemoteValue]] = [:]
        let objects = try ["Folder", "Item", "Tag"].map { ($0, try all($0, context)) }
        let here = Set(objects.flatMap(\.1))
        for (entity, list) in objects {
            for object in list {
                var values: [String: RemoteValue] = [
                    "title": .value((object["title"] as? String).map(Value.string) ?? .null)
                ]
                if entity == "Item" {
                    let folder = (object["folder"] as? ManagedObject).flatMap { here.contains($0) ? $0 : nil }
                    let tags = (object["tags"] as? Set<ManagedObject> ?? []).intersection(here)
                    values["folder"] = .reference(folder.map(id))
                    values["tags"] = .references(tags.map(id).sorted())
                }
                result[RemoteIdentity(entity: entity, id: id(object))] = values
            }
        }
        return result
    }
}
