import Foundation
import Strata
import StrataRemote

/// A back end that keeps its objects in a file of its own, each request as one save: it is there before and after the
/// process that is killed, and a request was carried out or was not.
actor LedgerServer: RemoteBackend {
    nonisolated let name = "Ledger"
    nonisolated let capabilities = RemoteCapabilities(
        features: [
            .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions, .creatingMany, .batches, .readingMany,
        ], maximumBatch: 7, maximumIDs: 20, maximumPage: 40)

    private let container: PersistentContainer
    private let model: ManagedObjectModel
    private let longestDelay: Int

    /// - Parameters:
    ///   - model: The model of the clients.
    ///   - longestDelay: The most microseconds that a request takes on its way, and the answer on its way back.
    init(file: URL, model: ManagedObjectModel, longestDelay: Int) throws {
        self.model = model
        self.longestDelay = longestDelay
        container = try PersistentContainer(model: Self.makeLedger(), at: .file(path: file.path))
    }

    private static func makeLedger() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Ledger") {
            Entity("Entry") {
                Attribute("name", .string).unique()
                Attribute("values", .string)
                Attribute("version", .integer64)
                Attribute("sequence", .integer64).indexed()
                Attribute("isGone", .boolean)
                Attribute("timesMade", .integer64)
            }
            Entity("Token") { Attribute("name", .string).unique() }
        }
    }

    nonisolated func check(_ operation: RemoteOperation) throws(RemoteError) {}

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        await delay()
        let answer: RemoteAnswer
        do {
            answer = try carryOut(operation)
        } catch {
            throw error as? RemoteError ?? RemoteError(.rejected, domain: name, message: "\(error)")
        }
        await delay()
        return answer
    }

    private func delay() async {
        guard longestDelay > 0 else { return }
        try? await Task.sleep(for: .microseconds(Int.random(in: 0...longestDelay)))
    }

    private func carryOut(_ operation: RemoteOperation) throws -> RemoteAnswer {
        let context = container.newContext()
        let answer = try answer(operation, context)
        try context.save()
        return answer
    }

    // MARK: Others

    /// What another client does: writes an object as a whole, whatever is there; nil deletes it.
    func put(_ identity: RemoteIdentity, _ values: [String: RemoteValue]?) throws {
        let context = container.newContext()
        if let values {
            _ = try write(identity, values, context, isNew: try entry(identity, context) == nil)
        } else {
            try end(identity, context)
        }
        try context.save()
    }

    /// What is kept of an object.
    struct Line {
        var identity: RemoteIdentity
        var values: [String: RemoteValue]
        var isGone: Bool
        var timesMade: Int
    }

    /// All that the server has ever had.
    func lines() throws -> [Line] {
        let context = container.newContext()
        return try context.fetch(FetchRequest<ManagedObject>(entity: "Entry")).map { entry in
            let record = try record(entry)
            return Line(
                identity: record.identity, values: record.values, isGone: entry["isGone"] as? Bool ?? false,
                timesMade: Int(number(entry, "timesMade")))
        }
    }

    // MARK: Operations

    private func answer(_ operation: RemoteOperation, _ context: ManagedObjectContext) throws -> RemoteAnswer {
        switch operation {
        case .create(let entity, let writes):
            return .outcomes(
                try writes.map { write in
                    try once(write, entity, context) { identity in
                        let there = try entry(identity, context)
                        if let there, !isGone(there) {
                            return .failed(try error(.duplicate, identity, there))
                        }
                        return .done(try self.write(identity, write.values, context, isNew: true))
                    }
                })
        case .update(let entity, let write):
            return .outcomes([
                try once(write, entity, context) { identity in
                    if let refusal = try refusal(identity, write, context) { return refusal }
                    return .done(try self.write(identity, write.values, context, isNew: false))
                }
            ])
        case .delete(let entity, let write):
            return .outcomes([
                try once(write, entity, context) { identity in
                    if let refusal = try refusal(identity, write, context) { return refusal }
                    try end(identity, context)
                    return .done(nil)
                }
            ])
        case .batch(let operations):
            var outcomes: [RemoteOutcome] = []
            for operation in operations {
                if case .outcomes(let list) = try answer(operation, context) { outcomes += list }
            }
            return .outcomes(outcomes)
        case .read(let entity, let ids):
            let found = try ids.compactMap { try entry(RemoteIdentity(entity: entity.name, id: $0), context) }
            return .page(RemotePage(records: try found.filter { !isGone($0) }.map(record)))
        case .pull(let pull): return .page(try page(pull, context))
        default: throw RemoteError(.unsupported, domain: name, message: "\(operation)")
        }
    }

    private func page(_ pull: RemotePull, _ context: ManagedObjectContext) throws -> RemotePage {
        let from = pull.cursor.flatMap(Int64.init) ?? 0
        let news = try context.fetch(
            FetchRequest<ManagedObject>(
                entity: "Entry", where: FetchPredicate(format: "sequence > %@", from),
                sortedBy: [FetchSort(["sequence"])])
        ).filter { string($0, "name").hasPrefix(pull.entity.name + "/") }
        let part = news.prefix(min(pull.limit, capabilities.maximumPage ?? .max))
        var page = RemotePage(
            next: String(part.last.map { number($0, "sequence") } ?? from), hasMore: news.count > part.count)
        for entry in part {
            let record = try record(entry)
            if isGone(entry) { page.deleted.append(record.identity) } else { page.records.append(record) }
        }
        return page
    }

    /// Does a write unless it was done before.
    private func once(
        _ write: RemoteWrite, _ entity: EntityDescription, _ context: ManagedObjectContext,
        _ body: (RemoteIdentity) throws -> RemoteOutcome
    ) throws -> RemoteOutcome {
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        let known = try context.fetch(
            FetchRequest<ManagedObject>(
                entity: "Token", where: FetchPredicate(format: "name == %@", write.token.uuidString)))
        if !known.isEmpty {
            let there = try entry(identity, context)
            return .done(try there.flatMap { isGone($0) ? nil : try record($0) })
        }
        let outcome = try body(identity)
        if case .done = outcome {
            try context.insert(entityNamed: "Token")["name"] = write.token.uuidString
        }
        return outcome
    }

    /// What conflicts with a change.
    private func refusal(
        _ identity: RemoteIdentity, _ write: RemoteWrite, _ context: ManagedObjectContext
    ) throws -> RemoteOutcome? {
        guard let there = try entry(identity, context), !isGone(there) else {
            return .failed(try error(.notFound, identity, nil))
        }
        guard let base = write.baseVersion, base != String(number(there, "version")) else { return nil }
        return .failed(try error(.conflict, identity, there))
    }

    private func error(
        _ kind: RemoteError.Kind, _ identity: RemoteIdentity, _ there: ManagedObject?
    ) throws -> RemoteError {
        RemoteError(
            kind, domain: name, message: "\(identity)", identity: identity, serverRecord: try there.map(record))
    }

    // MARK: Entries

    private func entry(_ identity: RemoteIdentity, _ context: ManagedObjectContext) throws -> ManagedObject? {
        try context.fetch(
            FetchRequest<ManagedObject>(
                entity: "Entry", where: FetchPredicate(format: "name == %@", identity.description))
        ).first
    }

    private func isGone(_ entry: ManagedObject) -> Bool { entry["isGone"] as? Bool ?? false }
    private func number(_ entry: ManagedObject, _ name: String) -> Int64 { entry[name] as? Int64 ?? 0 }
    private func string(_ entry: ManagedObject, _ name: String) -> String { entry[name] as? String ?? "" }

    private func touch(_ entry: ManagedObject, _ context: ManagedObjectContext) throws {
        let last = try context.fetch(
            FetchRequest<ManagedObject>(
                entity: "Entry", sortedBy: [FetchSort(["sequence"], ascending: false)], limit: 1)
        ).first
        entry["sequence"] = (last.map { number($0, "sequence") } ?? 0) + 1
        entry["version"] = number(entry, "version") + 1
    }

    private func write(
        _ identity: RemoteIdentity, _ values: [String: RemoteValue], _ context: ManagedObjectContext, isNew: Bool
    ) throws -> RemoteRecord {
        let entry = try entry(identity, context) ?? context.insert(entityNamed: "Entry")
        if entry.isInserted, string(entry, "name").isEmpty { entry["name"] = identity.description }
        let old: [String: RemoteValue] = isNew ? [:] : try record(entry).values
        entry["values"] = try LedgerValue.encode(old.merging(values) { $1 })
        entry["isGone"] = false
        entry["timesMade"] = number(entry, "timesMade") + (isNew ? 1 : 0)
        try touch(entry, context)
        return try record(entry)
    }

    private func end(_ identity: RemoteIdentity, _ context: ManagedObjectContext) throws {
        guard let entry = try entry(identity, context) else { return }
        entry["isGone"] = true
        entry["values"] = "{}"
        try touch(entry, context)
    }

    private func record(_ entry: ManagedObject) throws -> RemoteRecord {
        let name = string(entry, "name").split(separator: "/", maxSplits: 1).map(String.init)
        return RemoteRecord(
            entity: name[0], id: name[1], values: try LedgerValue.decode(string(entry, "values")),
            version: String(number(entry, "version")))
    }
}

/// The value of a property as the server keeps it.
enum LedgerValue: Codable {
    case text(String?)
    case reference(String?)
    case references([String])

    static func encode(_ values: [String: RemoteValue]) throws -> String {
        let kept: [String: LedgerValue] = try values.mapValues { value in
            switch value {
            case .value(.string(let text)): .text(text)
            case .value(.null): .text(nil)
            case .reference(let id): .reference(id)
            case .references(let ids): .references(ids)
            default: throw RemoteError(.unsupported, domain: "Ledger", message: "\(value)")
            }
        }
        return String(decoding: try JSONEncoder().encode(kept), as: UTF8.self)
    }

    static func decode(_ text: String) throws -> [String: RemoteValue] {
        try JSONDecoder().decode([String: LedgerValue].self, from: Data(text.utf8)).mapValues { value in
            switch value {
            case .text(let text): .value(text.map(Value.string) ?? .null)
            case .reference(let id): .reference(id)
            case .references(let ids): .references(ids)
            }
        }
    }
}
