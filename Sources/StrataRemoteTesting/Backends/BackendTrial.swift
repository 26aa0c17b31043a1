import Foundation
import Strata
import StrataRemote

/// A back end at a new server, with the operations that checks are made of.
struct BackendTrial: Sendable {
    /// What a check found.
    struct Unmet: Error {
        let message: String
    }

    let backend: any RemoteBackend
    let model: ManagedObjectModel
    let note: EntityDescription
    let folder: EntityDescription
    /// Whether a pull may report objects again that have not changed.
    let repeatsRecentChanges: Bool
    /// The smallest difference between dates that the service keeps, in seconds.
    let datePrecision: Double

    /// Whether the server gives new objects their primary keys.
    private let assignsIDs: Bool

    /// - Parameter isAboutKeys: Whether the checks are about the keys that a server gives. Others use keys of their own in the place of
    ///   those.
    init(_ subject: some BackendSubject, isAboutKeys: Bool = false) async throws {
        repeatsRecentChanges = subject.repeatsRecentChanges
        datePrecision = subject.datePrecision
        let own = try Self.makeModel(without: subject.omissions, hasIntegerKeys: subject.hasIntegerKeys)
        var opened = try await subject.open(own)
        if subject.takesOnlyWholeObjects { opened = WholeObjectBackend(inner: opened) }
        try opened.check(own)
        guard let ownNote = own.entity(named: "Note") else { throw Unmet(message: "the kit's model is incomplete") }
        assignsIDs = opened.capabilities.features(of: ownNote).contains(.assignsIDs)
        if assignsIDs, !isAboutKeys {
            model = try Self.makeModel(without: subject.omissions, hasIntegerKeys: false)
            backend = AliasedBackend(opened, model: own, hasIntegerKeys: subject.hasIntegerKeys)
        } else {
            model = own
            backend = opened
        }
        guard let note = model.entity(named: "Note"), let folder = model.entity(named: "Folder") else {
            throw Unmet(message: "the kit's model is incomplete")
        }
        self.note = note
        self.folder = folder
    }

    /// Every type, a relationship to one, and one of many to many, without what a back end leaves out.
    private static func makeModel(
        without omissions: Set<ConformanceFeature>, hasIntegerKeys: Bool
    ) throws -> ManagedObjectModel {
        func has(_ feature: ConformanceFeature) -> Bool { !omissions.contains(feature) }
        func key(_ name: String) -> Attribute {
            hasIntegerKeys ? Attribute(name, .integer64, optional: true) : Attribute(name, .string)
        }
        return try ManagedObjectModel(name: "Backends") {
            Entity("Note", primaryKey: "noteId") {
                key("noteId")
                Attribute("text", .string, optional: true)
                Attribute("count", .integer64, optional: true)
                Attribute("ratio", .double, optional: true)
                Attribute("flag", .boolean, optional: true)
                Attribute("written", .date, optional: true)
                if has(.decimals) { Attribute("price", .decimal, optional: true) }
                if has(.binaries) { Attribute("payload", .binary, optional: true) }
                if has(.uuids) { Attribute("token", .uuid, optional: true) }
                if has(.uris) { Attribute("link", .uri, optional: true) }
                if has(.geoPoints) { Attribute("place", .geoPoint, optional: true) }
                Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
                if has(.manyToMany) { Relationship("tags", to: "Tag", .toMany, inverse: "notes") }
            }
            Entity("Folder", primaryKey: "folderId") {
                key("folderId")
                Attribute("name", .string, optional: true)
                Relationship("notes", to: "Note", .toMany, inverse: "folder")
            }
            if has(.manyToMany) {
                Entity("Tag", primaryKey: "tagId") {
                    key("tagId")
                    Attribute("name", .string, optional: true)
                    Relationship("notes", to: "Note", .toMany, inverse: "tags")
                }
            }
        }
    }

    /// Whether a check can be made of the back end.
    func allows(_ check: BackendSuite.Check) -> Bool {
        guard features.isSuperset(of: check.needs) else { return false }
        return switch check.keys {
        case .any: true
        case .chosen: !assignsIDs
        case .chosenOrRepeatable: !assignsIDs || features.contains(.idempotencyTokens)
        }
    }

    /// How a key may be refused that no object ever had. A server that assigns keys may say that it is none of its own.
    var refusalsOfUnknownKeys: Set<RemoteError.Kind> {
        assignsIDs ? [.notFound, .gone, .invalidRequest, .rejected] : [.notFound, .gone]
    }

    var features: RemoteCapabilities.Features { backend.capabilities.features(of: note) }

    // MARK: Expecting

    func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws {
        if !holds { throw Unmet(message: message()) }
    }

    // MARK: Operations

    func perform(_ operation: RemoteOperation) async throws(RemoteError) -> RemoteAnswer {
        try await backend.perform(operation, options: RequestOptions())
    }

    /// The outcomes of a write. An error of the whole request counts as that of its only write.
    func outcomes(_ operation: RemoteOperation) async throws -> [RemoteOutcome] {
        do throws(RemoteError) {
            if case .outcomes(let list) = try await perform(operation) { return list }
        } catch {
            return [.failed(error)]
        }
        throw Unmet(message: "the answer to a write has no outcomes")
    }

    /// The outcomes of several writes in one request; nil if the server refuses all of them because of one.
    func outcomes(ofGroup operation: RemoteOperation) async throws -> [RemoteOutcome]? {
        do throws(RemoteError) {
            if case .outcomes(let list) = try await perform(operation) { return list }
        } catch {
            try expect(
                !error.concernsAll,
                "a group with one write that cannot be done fails with \(error), which a store takes for the end of the connection"
            )
            return nil
        }
        throw Unmet(message: "the answer to writes has no outcomes")
    }

    func outcome(_ operation: RemoteOperation) async throws -> RemoteOutcome {
        let list = try await outcomes(operation)
        try expect(list.count == 1, "one write has \(list.count) outcomes")
        return list[0]
    }

    /// Does a write that must succeed.
    @discardableResult
    func done(_ operation: RemoteOperation, _ what: String) async throws -> RemoteRecord? {
        switch try await outcome(operation) {
        case .done(let record): return record
        case .failed(let error): throw Unmet(message: "\(what) fails: \(error)")
        }
    }

    /// Does a write that must be refused.
    @discardableResult
    func refused(_ operation: RemoteOperation, _ kinds: Set<RemoteError.Kind>, _ what: String) async throws
        -> RemoteError
    {
        switch try await outcome(operation) {
        case .done: throw Unmet(message: "\(what) succeeds")
        case .failed(let error):
            try expect(kinds.contains(error.kind), "\(what) is refused as \(error.kind.rawValue): \(error)")
            return error
        }
    }

    func write(
        _ id: String, text: String? = nil, _ values: [String: RemoteValue] = [:], base: String? = nil,
        token: UUID = UUID()
    ) -> RemoteWrite {
        var all = values
        if let text { all["text"] = .value(.string(text)) }
        return RemoteWrite(id: id, values: all, baseVersion: base, token: token)
    }

    @discardableResult
    func create(_ id: String, text: String? = nil, _ values: [String: RemoteValue] = [:], token: UUID = UUID())
        async throws
        -> RemoteRecord?
    {
        try await done(
            .create(entity: note, [write(id, text: text, values, token: token)]), "the creation of a note named \(id)")
    }

    @discardableResult
    func update(
        _ id: String, text: String? = nil, _ values: [String: RemoteValue] = [:], base: String? = nil,
        token: UUID = UUID()
    ) async throws -> RemoteRecord? {
        try await done(
            .update(entity: note, write(id, text: text, values, base: base, token: token)),
            "the update of the note \(id)")
    }

    func delete(_ id: String, token: UUID = UUID()) async throws {
        try await done(.delete(entity: note, write(id, token: token)), "the delete of the note \(id)")
    }

    // MARK: Reading

    func page(_ operation: RemoteOperation) async throws -> RemotePage {
        guard case .page(let page) = try await perform(operation) else {
            throw Unmet(message: "the answer to a read is not a page")
        }
        return page
    }

    func find(_ id: String, _ entity: EntityDescription? = nil) async throws -> RemoteRecord? {
        let page = try await page(.read(entity: entity ?? note, ids: [id]))
        try expect(page.records.count <= 1, "one primary key finds \(page.records.count) objects")
        return page.records.first
    }

    /// The object of a primary key, which must be there.
    func read(_ id: String, _ entity: EntityDescription? = nil) async throws -> RemoteRecord {
        guard let record = try await find(id, entity) else {
            throw Unmet(message: "\(id) is not found by its primary key")
        }
        try expect(record.id == id, "\(id) is found as \(record.id)")
        return record
    }

    func text(_ id: String) async throws -> String? { Self.text(try await read(id)) }

    /// The primary keys of the tags of a note, in alphabetical order; nil if there is no way to find out.
    func tags(_ id: String) async throws -> [String]? {
        let value = try await read(id).values["tags"]
        guard let relationship = note.relationship(named: "tags"), !backend.lists(relationship, of: note) else {
            if case .references(let list)? = value { return list.sorted() } else { return [] }
        }
        try expect(value == nil, "a record lists the tags, although the back end says that records do not")
        guard features.contains(.memberQueries) else { return nil }
        var query = RemoteQuery(entity: model.destination(of: relationship))
        query.memberOf = RemoteMembership(entity: note, id: id, relationship: "tags")
        return try await all(query).map(\.id).sorted()
    }

    static func text(_ record: RemoteRecord) -> String? {
        if case .value(.string(let text))? = record.values["text"] { text } else { nil }
    }

    /// All objects of a query, page by page.
    func all(_ query: RemoteQuery) async throws -> [RemoteRecord] {
        var query = query
        var found: [RemoteRecord] = []
        for _ in 0..<1000 {
            let page = try await page(.query(query))
            found += page.records
            guard page.hasMore else { return found }
            try expect(page.next != nil && page.next != query.cursor, "there is more, but no way to it")
            query.cursor = page.next
        }
        throw Unmet(message: "the pages of a query do not end")
    }

    var allNotes: [RemoteRecord] {
        get async throws { try await all(RemoteQuery(entity: note)) }
    }

    /// Pulls all that is new, page by page.
    /// - Parameter between: Called after each page but the last.
    func pull(
        from cursor: String?, limit: Int = 2, between: (Int) async throws -> Void = { _ in }
    ) async throws -> (records: [String: RemoteRecord], deleted: Set<String>, cursor: String?) {
        var pull = RemotePull(entity: note, cursor: cursor, limit: limit)
        var records: [String: RemoteRecord] = [:]
        var deleted: Set<String> = []
        for number in 0..<200 {
            let page = try await page(.pull(pull))
            try expect(
                page.records.allSatisfy { $0.entity == note.name },
                "a pull of notes reports \(page.records.map(\.entity))")
            for record in page.records {
                records[record.id] = record
                deleted.remove(record.id)
            }
            for identity in page.deleted {
                records[identity.id] = nil
                deleted.insert(identity.id)
            }
            guard page.hasMore else { return (records, deleted, page.next) }
            try expect(page.next != nil && page.next != pull.cursor, "there is more, but the cursor stands still")
            pull.cursor = page.next
            try await between(number)
        }
        throw Unmet(message: "the pages of a pull do not end")
    }
}

extension RemoteOutcome {
    /// Whether the write is done.
    var isDone: Bool { if case .done = self { true } else { false } }
}
