import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Primary keys that are integers, which the server assigns in the order of creation, as the tables of SQL databases do.
@Suite struct IntegerKeyTests {
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Numbered") {
            Entity("Folder", primaryKey: "id") {
                Attribute("id", .integer64, optional: true)
                Attribute("name", .string)
                Relationship("notes", to: "Note", .toMany, inverse: "folder")
            }
            Entity("Note", primaryKey: "id") {
                Attribute("id", .integer64, optional: true)
                Attribute("text", .string)
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
            }
        }
    }

    private static func store(_ server: NumberingBackend, isOnline: Bool) throws -> RemoteStore {
        var options = RemoteStore.Options()
        options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
        options.fetchPolicy = .cacheOnly
        options.pushesAutomatically = false
        options.sync.retries = 0
        return try RemoteStore.open(
            model: try model(), backend: server, location: .memory(name: nil), options: options)
    }

    private static func save(_ context: ManagedObjectContext) throws { try context.save() }

    private static func notes(
        _ context: ManagedObjectContext, _ condition: FetchPredicate? = nil
    ) throws -> [ManagedObject] {
        var request = FetchRequest<ManagedObject>(entity: "Note")
        request.predicate = condition
        return try context.fetch(request)
    }

    private static func insert(_ context: ManagedObjectContext) throws -> (folder: ManagedObject, note: ManagedObject) {
        let folder = try context.insert(entityNamed: "Folder")
        folder["name"] = "Work"
        let note = try context.insert(entityNamed: "Note")
        note["text"] = "1"
        note["folder"] = folder
        return (folder, note)
    }

    @Test("What is saved to the server has the server's keys afterwards, in references, too")
    func online() async throws {
        let server = NumberingBackend()
        let store = try Self.store(server, isOnline: true)
        let context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
        let (folder, note) = try Self.insert(context)
        try await context.save(options: nil)
        let keys = [try #require(folder["id"] as? Int64), try #require(note["id"] as? Int64)]
        #expect(keys.sorted() == [1, 2])
        let sent = try #require(server.base.records.first { $0.entity == "Note" })
        #expect(sent.id == String(keys[1]) && sent.values["folder"] == .reference(String(keys[0])))
        let condition = try FetchPredicate(format: "id == %d AND folder.id == %d", keys[1], keys[0])
        let found = try Self.notes(context, condition)
        #expect(found == [note])
        note["text"] = "2"
        try await context.save(options: nil)
        #expect(server.base.records.first { $0.entity == "Note" }?.values["text"] == .value(.string("2")))
        #expect(server.strangeKeys.isEmpty)
        withExtendedLifetime(context) {}
    }

    @Test(
        "What is made offline gets its keys by the push: changes and deletions before and after it, and a lost answer")
    func offline() async throws {
        let server = NumberingBackend()
        let store = try Self.store(server, isOnline: false)
        let context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
        let (folder, note) = try Self.insert(context)
        let other = try context.insert(entityNamed: "Note")
        other["text"] = "other"
        try Self.save(context)
        let identity = note.objectID
        #expect((note["id"] as? Int64 ?? 0) < 0 && (folder["id"] as? Int64 ?? 0) < 0)
        note["text"] = "2"
        try Self.save(context)
        server.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        server.losesAnswers = false
        note["text"] = "3"
        context.delete(other)
        try Self.save(context)
        try await store.sync.synchronize()
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        #expect(server.strangeKeys.isEmpty, "\(server.strangeKeys)")
        // The context takes over what the push did with its next fetch.
        #expect(try Self.notes(context) == [note])
        let records = server.base.records
        #expect(records.count == 2, "\(records)")
        let sent = try #require(records.first { $0.entity == "Note" })
        #expect(sent.values["text"] == .value(.string("3")))
        #expect((note["id"] as? Int64).map(String.init) == sent.id && note.objectID == identity)
        #expect(sent.values["folder"] == .reference((folder["id"] as? Int64).map(String.init)))

        let second = try Self.store(server, isOnline: false)
        try await second.sync.synchronize()
        let reader = try PersistentContainer(store: second).newContext()
        let read = try #require(try Self.notes(reader).first)
        #expect(read["id"] as? Int64 == note["id"] as? Int64 && read["text"] as? String == "3")
        #expect((read["folder"] as? ManagedObject)?["id"] as? Int64 == folder["id"] as? Int64)
        reader.delete(read)
        try Self.save(reader)
        try await second.sync.synchronize()
        #expect(server.base.records.map(\.entity) == ["Folder"])
        withExtendedLifetime(context) {}
    }

    @Test("Only entities with integers wait for keys of the server", arguments: [true, false])
    func mixed(isOnline: Bool) async throws {
        let model = try ManagedObjectModel(name: "Mixed") {
            Entity("Note", primaryKey: "id") {
                Attribute("id", .integer64, optional: true)
                Relationship("owner", to: "Person", .optionalToOne, inverse: "notes")
                Relationship("fans", to: "Person", .toMany, inverse: "favorite")
            }
            Entity("Person") {
                Attribute("personId", .string)
                Relationship("notes", to: "Note", .toMany, inverse: "owner")
                Relationship("favorite", to: "Note", .optionalToOne, inverse: "fans")
                Relationship("friend", to: "Person", .optionalToOne, inverse: "friends")
                Relationship("friends", to: "Person", .toMany, inverse: "friend")
            }
        }
        let server = NumberingBackend(numbersAll: false)
        let person = try #require(model.entity(named: "Person"))
        let owner = try #require(model.entity(named: "Note")?.relationship(named: "owner"))
        #expect(person.primaryKeyType == .string && owner.destinationKeyType == .string)
        #expect(person.relationship(named: "favorite")?.destinationKeyType == .integer64)
        #expect(!server.capabilities.features(of: person).contains(.assignsIDs))
        var options = RemoteStore.Options()
        options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
        options.fetchPolicy = .cacheOnly
        let store = try RemoteStore.open(model: model, backend: server, location: .memory(name: nil), options: options)
        let context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
        let (ann, bob) = (try context.insert(entityNamed: "Person"), try context.insert(entityNamed: "Person"))
        (ann["friend"], bob["friend"]) = (bob, ann)
        let note = try context.insert(entityNamed: "Note")
        (note["owner"], ann["favorite"]) = (ann, note)
        if isOnline { try await context.save(options: nil) } else { try Self.save(context) }
        try await store.sync.synchronize()
        #expect(try Self.notes(context) == [note])
        #expect(try store.sync.pendingCount() == 0)
        let keys = try [ann, bob].map { try #require($0["personId"] as? String) }
        let number = try #require(note["id"] as? Int64)
        func sent(_ id: String) throws -> RemoteRecord { try #require(server.base.records.first { $0.id == id }) }
        #expect(server.base.records.count == 3)
        #expect(try sent(String(number)).values["owner"] == .reference(keys[0]))
        #expect(try sent(keys[0]).values["favorite"] == .reference(String(number)))
        #expect(try sent(keys[0]).values["friend"] == .reference(keys[1]))
        #expect(try sent(keys[1]).values["friend"] == .reference(keys[0]))
    }

    @Test("Before the push, assignObjectID gives the number that stands for the key until then")
    func assigning() throws {
        let context = try PersistentContainer(store: try Self.store(NumberingBackend(), isOnline: false)).newContext()
        let note = try context.insert(entityNamed: "Note")
        let text = try note.assignObjectID()
        #expect((note["id"] as? Int64).map(String.init) == text && text.hasPrefix("-"))
        #expect(try note.assignObjectID() == text)
        // 0 counts as no value.
        note["id"] = Int64(0)
        #expect(try note.assignObjectID().hasPrefix("-"))
    }

    @Test("An answer with a key that is not an integer is an error that names the property")
    func wrongKey() async throws {
        let server = NumberingBackend()
        server.answersText = true
        let store = try Self.store(server, isOnline: false)
        let context = try PersistentContainer(store: store).newContext()
        _ = try Self.insert(context)
        try Self.save(context)
        await #expect {
            try await store.sync.push()
        } throws: { error in
            "\(error)".contains("id") && "\(error)".contains("\"key-")
        }
    }

    @Test("The JSON coder writes integers and leaves out keys that are not the server's")
    func coder() throws {
        let coder = JSONRecordCoder(keys: .integers)
        let model = try Self.model()
        try coder.check(model)
        let note = try #require(model.entity(named: "Note"))
        let new = RemoteWrite(id: "-7", values: ["text": .value(.string("a")), "folder": .reference("3")])
        #expect(try coder.fields(of: new, note) == ["folder": .integer(3), "text": .string("a")])
        #expect(try coder.fields(of: RemoteWrite(id: "8"), note) == ["id": .integer(8)])
        let unknown = RemoteWrite(id: "8", values: ["folder": .reference("-3")])
        #expect(throws: RemoteError.self) { _ = try coder.fields(of: unknown, note) }
        let record = try coder.record(.object(["id": .integer(8), "folder": .integer(3)]), note)
        #expect(record.id == "8" && record.values["id"] == .value(.integer(8)))
        #expect(record.values["folder"] == .reference("3"))
        #expect(throws: RemoteError.self) { _ = try coder.record(.object(["id": .string("8")]), note) }
        #expect { try JSONRecordCoder().check(model) } throws: { "\($0)".contains("are of type string") }
    }

    @Test("The JSON coder writes references as the entity that they lead to declares its keys")
    func mixedCoder() throws {
        let model = try ManagedObjectModel(name: "Tickets") {
            Entity("Ticket", primaryKey: "ticketId") {
                Attribute("ticketId", .integer64, optional: true)
                Relationship("owner", to: "Person", .optionalToOne, inverse: "tickets")
                Relationship("fans", to: "Person", .toMany, inverse: "favorite")
            }
            Entity("Person") {
                Attribute("personId", .string)
                Relationship("tickets", to: "Ticket", .toMany, inverse: "owner")
                Relationship("favorite", to: "Ticket", .optionalToOne, inverse: "fans")
            }
        }
        let (ticket, person) = (
            try #require(model.entity(named: "Ticket")), try #require(model.entity(named: "Person"))
        )
        let coder = JSONRecordCoder(keys: .integers)
        try coder.check(model)
        let write = RemoteWrite(id: "3", values: ["owner": .reference("ann"), "fans": .references(["bob"])])
        #expect(try coder.fields(of: write, ticket) == ["id": .integer(3), "fans": ["bob"], "owner": "ann"])
        let other = RemoteWrite(id: "ann", values: ["favorite": .reference("3"), "tickets": .references(["3", "4"])])
        #expect(try coder.fields(of: other, person) == ["id": "ann", "favorite": 3, "tickets": [3, 4]])
        let read = try coder.record(["id": 3, "owner": "ann", "fans": ["bob"]], ticket)
        #expect(read.id == "3" && read.values["owner"] == .reference("ann"))
        #expect(read.values["fans"] == .references(["bob"]) && read.values["ticketId"] == .value(.integer(3)))
        let readPerson = try coder.record(["id": "ann", "favorite": 3, "tickets": [3]], person)
        #expect(readPerson.values["favorite"] == .reference("3") && readPerson.values["tickets"] == .references(["3"]))
        #expect(coder.field("ticketId", of: ticket) == "id" && coder.field("owner", of: ticket) == "owner")
    }
}

/// A server that numbers what it creates, and notes keys that it cannot have assigned.
final class NumberingBackend: RemoteBackend, @unchecked Sendable {
    // Sendable because all state is reached only while the lock is held.
    let base = MemoryBackend(features: [
        .readingMany, .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions,
    ])
    private let lock = NSLock()
    private var next: Int64 = 0
    private var numbers: [UUID: String] = [:]
    private var strange: [String] = []
    private var (mute, wrong) = (false, false)

    let name = "Numbers"
    /// Whether objects with strings as keys are numbered, too.
    private let numbersAll: Bool
    var capabilities: RemoteCapabilities {
        var capabilities = base.capabilities
        if numbersAll {
            capabilities.features.insert(.assignsIDs)
        } else {
            capabilities.integerKeyFeatures = capabilities.features.union(.assignsIDs)
        }
        return capabilities
    }

    init(numbersAll: Bool = true) { self.numbersAll = numbersAll }

    func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

    /// Whether writes are carried out and not answered.
    var losesAnswers: Bool {
        get { lock.withLock { mute } }
        set { lock.withLock { mute = newValue } }
    }
    /// Whether new objects get keys that are not integers.
    var answersText: Bool {
        get { lock.withLock { wrong } }
        set { lock.withLock { wrong = newValue } }
    }
    /// Keys in requests that the server has not assigned.
    var strangeKeys: [String] { lock.withLock { strange } }

    private func note(_ write: RemoteWrite, isNew: Bool) {
        var keys = isNew ? [] : [write.id]
        for value in write.values.values { if case .reference(let id?) = value { keys.append(id) } }
        lock.withLock { strange += keys.filter { (Int64($0) ?? 0) <= 0 } }
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        var operation = operation
        var isWrite = true
        switch operation {
        case .create(let entity, _) where !numbersAll && entity.primaryKeyType != .integer64: break
        case .create(let entity, let writes):
            let numbered = writes.map { write in
                note(write, isNew: true)
                var copy = write
                copy.id = lock.withLock {
                    if let known = numbers[write.token] { return known }
                    next += 1
                    numbers[write.token] = (wrong ? "key-" : "") + String(next)
                    return numbers[write.token] ?? ""
                }
                copy.values["id"] = nil
                return copy
            }
            operation = .create(entity: entity, numbered)
        case .update(_, let write), .delete(_, let write): note(write, isNew: false)
        default: isWrite = false
        }
        let answer = try await base.perform(operation, options: options)
        if isWrite, losesAnswers { throw RemoteError(.timeout, domain: name, message: "no answer") }
        return answer
    }
}
