import Foundation
import StrataRemote

/// What a server of a simulation can do, and what therefore can be asked of those who use it.
public struct ServerVariant: Sendable, Hashable, CustomStringConvertible {
    public var description: String
    var features: RemoteCapabilities.Features
    var maximumBatch = 1

    var isConditional: Bool { features.contains(.conditionalWrites) }
    /// Whether several writes go in one request.
    public var sendsGroups: Bool { maximumBatch > 1 }
    /// Whether pulls ask for what is new.
    public var tellsNews: Bool { features.contains(.incrementalPull) }
    var hasTokens: Bool { features.contains(.idempotencyTokens) }

    /// All kinds of servers that are simulated.
    public static let all: [ServerVariant] = [
        ServerVariant(
            description: "complete",
            features: [
                .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions, .relating, .batches,
                .creatingMany, .readingMany, .inverses,
            ], maximumBatch: 5),
        ServerVariant(
            description: "single writes",
            features: [
                .conditionalWrites, .idempotencyTokens, .incrementalPull, .deletions, .relating, .readingMany,
            ]),
        ServerVariant(
            description: "no tokens", features: [.conditionalWrites, .incrementalPull, .deletions, .inverses]),
        ServerVariant(
            description: "no news",
            features: [.conditionalWrites, .idempotencyTokens, .paging, .sorting, .selecting, .relating]),
        ServerVariant(
            description: "news without deletions",
            features: [.conditionalWrites, .idempotencyTokens, .incrementalPull, .paging, .sorting, .relating]),
        ServerVariant(description: "plain", features: [.readingMany, .creatingMany, .paging, .sorting]),
    ]
}

/// A back end in memory: the simplest that keeps what it promises.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class ModelServer: @unchecked Sendable {
    struct Object {
        var values: [String: RemoteValue]
        var version = 1
        /// Which life of the server the last change belongs to.
        var epoch = 0
        var modified: Date
        /// The place of the last change among all changes.
        var sequence: Int
        var isDeleted = false
    }

    /// What the server had at a moment.
    private struct Backup {
        let objects: [RemoteIdentity: Object]
        let tokens: [UUID: RemoteIdentity]
        let sequence: Int
    }

    /// A value that was written to a property.
    struct Write: Hashable {
        let identity: RemoteIdentity
        let property: String
        let value: RemoteValue
    }

    let variant: ServerVariant
    let model: ManagedObjectModel
    private let clock: SimulatedClock
    private(set) var objects: [RemoteIdentity: Object] = [:]
    private(set) var history: Set<Write> = []
    private var sequence = 0
    private var lastChange = Date.distantPast
    private var tokens: [UUID: RemoteIdentity] = [:]
    /// How often the server was restored from a backup.
    private var epoch = 0
    private var backup: Backup?
    /// Whether records say when they were changed.
    var tellsTime = true
    /// Called with each value that replaces another one.
    var onReplace: (Write, _ old: RemoteValue) -> Void = { _, _ in }
    var onViolation: (String) -> Void = { _ in }

    init(variant: ServerVariant, model: ManagedObjectModel, clock: SimulatedClock) {
        self.variant = variant
        self.model = model
        self.clock = clock
    }

    var capabilities: RemoteCapabilities {
        RemoteCapabilities(
            features: variant.features, maximumBatch: variant.maximumBatch, maximumIDs: 3, maximumPage: 4)
    }

    /// The order of changes is that of their times.
    private func stamp() -> (Date, Int) {
        lastChange = max(clock.now, lastChange.addingTimeInterval(0.001))
        sequence += 1
        changeCount += 1
        return (lastChange, sequence)
    }

    /// Grows with each change.
    private(set) var changeCount = 0

    func record(_ identity: RemoteIdentity) -> RemoteRecord? {
        guard let object = objects[identity], !object.isDeleted else { return nil }
        return RemoteRecord(
            entity: identity.entity, id: identity.id, values: object.values,
            version: "\(object.epoch).\(object.version)",
            modified: tellsTime ? object.modified : nil)
    }

    // MARK: Backups

    /// Whether it has ever gone back.
    var wasRestored: Bool { epoch > 0 }

    func backUp() { backup = Backup(objects: objects, tokens: tokens, sequence: sequence) }

    /// Goes back to what it had at the last backup.
    /// - Returns: false if there is no backup, or nothing has changed since.
    func restore() -> Bool {
        guard let backup, backup.sequence < sequence else { return false }
        objects = backup.objects
        tokens = backup.tokens
        sequence = backup.sequence
        epoch += 1
        changeCount += 1
        return true
    }

    // MARK: Operations

    func perform(_ operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .create(let entity, let writes): return .outcomes(writes.map { create(entity, $0) })
        case .update(let entity, let write): return .outcomes([update(entity, write)])
        case .delete(let entity, let write): return .outcomes([delete(entity, write)])
        case .relate(let entity, let relation): return .outcomes([relate(entity, relation)])
        case .batch(let operations):
            var outcomes: [RemoteOutcome] = []
            for operation in operations {
                if case .outcomes(let list) = try perform(operation) { outcomes += list }
            }
            return .outcomes(outcomes)
        case .read(let entity, let ids):
            return .page(
                RemotePage(records: ids.compactMap { record(RemoteIdentity(entity: entity.name, id: $0)) }))
        case .query(let query): return .page(page(query))
        case .pull(let pull): return .page(try page(pull))
        default:
            throw RemoteError(.unsupported, domain: "Simulation", message: "\(operation)")
        }
    }

    private func page(_ query: RemoteQuery) -> RemotePage {
        var wanted: String?
        if case .comparison(_, .equal, let right, _)? = query.predicate?.node,
            case .constant(.string(let id)) = right.node
        {
            wanted = id
        }
        let all = objects.filter { $0.key.entity == query.entity.name && !$0.value.isDeleted }
            .filter { wanted == nil || $0.key.id == wanted }
            .sorted { $0.key.id < $1.key.id }
        let part = all.dropFirst(query.offset).prefix(query.limit ?? .max)
        return RemotePage(
            records: part.compactMap { found in
                var record = record(found.key)
                if query.properties != nil { record?.values = [:] }
                return record
            })
    }

    private func page(_ pull: RemotePull) throws(RemoteError) -> RemotePage {
        let cursor = pull.cursor?.split(separator: ".").compactMap { Int($0) } ?? [epoch, 0]
        guard cursor.count == 2, cursor[0] == epoch else {
            throw RemoteError(.cursorExpired, domain: "Simulation", message: "begin anew", status: 410)
        }
        let from = cursor[1]
        let news = objects.filter { $0.key.entity == pull.entity.name && $0.value.sequence > from }
            .sorted { $0.value.sequence < $1.value.sequence }
        let part = news.prefix(pull.limit)
        var page = RemotePage(next: "\(epoch).\(part.last?.value.sequence ?? from)", hasMore: news.count > part.count)
        for (identity, object) in part {
            if !object.isDeleted {
                if let record = record(identity) { page.records.append(record) }
            } else if variant.features.contains(.deletions) {
                page.deleted.append(identity)
            }
        }
        return page
    }

    /// The answer to a write that was done before.
    private func repeated(_ token: UUID) -> RemoteOutcome? {
        guard variant.hasTokens, let identity = tokens[token] else { return nil }
        if let record = record(identity) { return .done(record) }
        return .failed(RemoteError(.gone, domain: "Simulation", message: "gone", identity: identity))
    }

    private func create(_ entity: EntityDescription, _ write: RemoteWrite) -> RemoteOutcome {
        if let repeated = repeated(write.token) { return repeated }
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let there = record(identity) {
            return .failed(
                RemoteError(
                    .duplicate, domain: "Simulation", message: "there already", identity: identity,
                    serverRecord: variant.isConditional ? there : nil))
        }
        if objects[identity] != nil, variant.hasTokens { onViolation("\(identity) was deleted and is made again") }
        let (modified, sequence) = stamp()
        objects[identity] = Object(
            values: write.values, version: (objects[identity]?.version ?? 0) + 1, epoch: epoch, modified: modified,
            sequence: sequence)
        for (property, value) in write.values {
            history.insert(Write(identity: identity, property: property, value: value))
        }
        if variant.hasTokens { tokens[write.token] = identity }
        return .done(record(identity))
    }

    /// What stands against a change.
    private func refusal(_ identity: RemoteIdentity, _ baseVersion: String?) -> RemoteOutcome? {
        guard let there = record(identity) else {
            return .failed(RemoteError(.notFound, domain: "Simulation", message: "not there", identity: identity))
        }
        guard variant.isConditional, let baseVersion, baseVersion != there.version else { return nil }
        return .failed(
            RemoteError(
                .conflict, domain: "Simulation", message: "another version", identity: identity, serverRecord: there))
    }

    private func update(_ entity: EntityDescription, _ write: RemoteWrite) -> RemoteOutcome {
        if let repeated = repeated(write.token) { return repeated }
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let refusal = refusal(identity, write.baseVersion) { return refusal }
        for (property, value) in write.values {
            let change = Write(identity: identity, property: property, value: value)
            onReplace(change, objects[identity]?.values[property] ?? .value(.null))
            history.insert(change)
        }
        change(identity) { $0.merge(write.values) { $1 } }
        if variant.hasTokens { tokens[write.token] = identity }
        return .done(record(identity))
    }

    private func relate(_ entity: EntityDescription, _ relation: RemoteRelation) -> RemoteOutcome {
        if let repeated = repeated(relation.token) { return repeated }
        let identity = RemoteIdentity(entity: entity.name, id: relation.id)
        if let refusal = refusal(identity, nil) { return refusal }
        change(identity) { values in
            var members: Set<String> = []
            if case .references(let list) = values[relation.relationship] { members = Set(list) }
            members.formUnion(relation.added)
            members.subtract(relation.removed)
            values[relation.relationship] = .references(members.sorted())
        }
        if variant.hasTokens { tokens[relation.token] = identity }
        return .done(record(identity))
    }

    private func change(_ identity: RemoteIdentity, _ body: (inout [String: RemoteValue]) -> Void) {
        let (modified, sequence) = stamp()
        guard var object = objects[identity] else { return }
        body(&object.values)
        object.version += 1
        object.epoch = epoch
        object.modified = modified
        object.sequence = sequence
        objects[identity] = object
    }

    private func delete(_ entity: EntityDescription, _ write: RemoteWrite) -> RemoteOutcome {
        if variant.hasTokens, tokens[write.token] != nil { return .done(nil) }
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let refusal = refusal(identity, write.baseVersion) { return refusal }
        let (modified, sequence) = stamp()
        objects[identity]?.isDeleted = true
        objects[identity]?.modified = modified
        objects[identity]?.sequence = sequence
        objects[identity]?.values = [:]
        if variant.hasTokens { tokens[write.token] = identity }
        if variant.features.contains(.inverses) { forget(identity) }
        return .done(nil)
    }

    /// Nothing refers to a deleted object any more.
    private func forget(_ gone: RemoteIdentity) {
        for (identity, object) in objects where !object.isDeleted {
            guard let entity = model.entity(named: identity.entity) else { continue }
            for relationship in entity.relationships where relationship.destination == gone.entity {
                switch object.values[relationship.name] {
                case .reference(gone.id): change(identity) { $0[relationship.name] = .reference(nil) }
                case .references(let list) where list.contains(gone.id):
                    change(identity) { $0[relationship.name] = .references(list.filter { $0 != gone.id }) }
                default: break
                }
            }
        }
    }
}
