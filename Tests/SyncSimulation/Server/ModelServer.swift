import Foundation
import StrataRemote

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

    /// What became of a write; without a record for a delete.
    private struct Answer {
        let identity: RemoteIdentity
        let record: RemoteRecord?
    }

    /// What the server had at a moment.
    private struct Backup {
        let objects: [RemoteIdentity: Object]
        let answers: [UUID: Answer]
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
    /// The server's own clock.
    let clock: SimulatedClock
    private(set) var objects: [RemoteIdentity: Object] = [:]
    /// Whether the server changes what it is given: texts that end with a mark, and primary keys of new folders.
    var marksTexts = false
    var renamesFolders = false
    /// Primary keys that objects may have again after they were deleted.
    var mayReturn: (RemoteIdentity) -> Bool = { _ in false }
    private var sequence = 0
    private var lastChange = Date.distantPast
    /// What was answered to writes, by their names.
    private var answers: [UUID: Answer] = [:]
    /// Whether the answer to a write that is repeated is the one that was given first, and not what there is now.
    var repeatsAnswers = false
    /// How often the server was restored from a backup.
    private(set) var epoch = 0
    private var backup: Backup?
    /// Whether records say when they were changed.
    var tellsTime = true
    /// Called with each value that replaces another one.
    var onReplace: (Write, _ old: RemoteValue) -> Void = { _, _ in }
    /// Called with each object that is deleted, and what it has.
    var onDelete: (RemoteIdentity, _ values: [String: RemoteValue]) -> Void = { _, _ in }
    /// Called with each value of a new object.
    var onTake: (Write) -> Void = { _ in }
    /// Called when something is kept otherwise than it was sent: a primary key, or a value.
    var onChange: (_ isKey: Bool) -> Void = { _ in }
    /// Called when a write is answered that was done before; whether others have changed the object since.
    var onRepeat: (_ isOld: Bool) -> Void = { _ in }
    var onViolation: (String) -> Void = { _ in }

    init(variant: ServerVariant, model: ManagedObjectModel, clock: SimulatedClock) {
        self.variant = variant
        self.model = model
        self.clock = clock
    }

    var capabilities: RemoteCapabilities {
        RemoteCapabilities(
            features: variant.features, maximumBatch: variant.maximumBatch, maximumIDs: 3,
            maximumPage: variant.maximumPage)
    }

    /// The order of changes is that of their times where clients have nothing else to go by.
    private func stamp() -> (Date, Int) {
        lastChange = variant.isConditional ? clock.now : max(clock.now, lastChange.addingTimeInterval(0.001))
        sequence += 1
        changeCount += 1
        return (lastChange, sequence)
    }

    /// Grows with each change.
    private(set) var changeCount = 0

    func record(_ identity: RemoteIdentity) -> RemoteRecord? {
        guard let object = objects[identity], !object.isDeleted else { return nil }
        return RemoteRecord(
            entity: identity.entity, id: identity.id, values: told(object.values, identity.entity),
            version: "\(object.epoch).\(object.version)",
            modified: tellsTime ? object.modified : nil)
    }

    // MARK: Backups

    /// Whether it has ever gone back.
    var wasRestored: Bool { epoch > 0 }

    func backUp() { backup = Backup(objects: objects, answers: answers, sequence: sequence) }

    /// Goes back to what it had at the last backup.
    /// - Returns: false if there is no backup, or nothing has changed since.
    func restore() -> Bool {
        guard let backup, backup.sequence < sequence else { return false }
        objects = backup.objects
        answers = backup.answers
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
        case .query(let query): return .page(try page(query))
        case .pull(let pull): return .page(try page(pull))
        default:
            throw RemoteError(.unsupported, domain: "Simulation", message: "\(operation)")
        }
    }

    private func note(_ token: UUID, _ identity: RemoteIdentity) {
        if variant.hasTokens { answers[token] = Answer(identity: identity, record: record(identity)) }
    }

    /// The answer to a write that was done before.
    private func repeated(_ token: UUID) -> RemoteOutcome? {
        guard variant.hasTokens, let answer = answers[token] else { return nil }
        let identity = answer.identity
        if repeatsAnswers {
            onRepeat(answer.record != record(identity))
            return .done(answer.record)
        }
        if let record = record(identity) { return .done(record) }
        return .failed(RemoteError(.gone, domain: "Simulation", message: "gone", identity: identity))
    }

    private func create(_ entity: EntityDescription, _ write: RemoteWrite) -> RemoteOutcome {
        if let repeated = repeated(write.token) { return repeated }
        let identity = RemoteIdentity(
            entity: entity.name, id: renamesFolders ? Self.renamed(write.id, entity) : write.id)
        if let there = record(identity) {
            return .failed(
                RemoteError(
                    .duplicate, domain: "Simulation", message: "there already", identity: identity,
                    serverRecord: variant.isConditional ? there : nil))
        }
        if objects[identity] != nil, variant.hasTokens, !mayReturn(identity) {
            onViolation("\(identity) was deleted and is made again")
        }
        let (modified, sequence) = stamp()
        objects[identity] = Object(
            values: taken(write.values, entity), version: (objects[identity]?.version ?? 0) + 1, epoch: epoch,
            modified: modified,
            sequence: sequence)
        for (property, value) in write.values {
            onTake(Write(identity: identity, property: property, value: value))
        }
        if identity.id != write.id { onChange(true) }
        note(write.token, identity)
        return .done(record(identity))
    }

    /// What conflicts with a change.
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
        }
        change(identity) {
            $0.merge(taken(write.values, entity)) { $1 }
            $0 = changed($0, write.operations, entity)
        }
        note(write.token, identity)
        return .done(record(identity))
    }

    private func relate(_ entity: EntityDescription, _ relation: RemoteRelation) -> RemoteOutcome {
        if let repeated = repeated(relation.token) { return repeated }
        let identity = RemoteIdentity(entity: entity.name, id: relation.id)
        if let refusal = refusal(identity, nil) { return refusal }
        change(identity) { values in
            var members: [String] = []
            if case .references(let list) = values[relation.relationship] { members = list }
            members += relation.added.filter { !members.contains($0) }
            members.removeAll(where: relation.removed.contains)
            values[relation.relationship] = .references(members)
        }
        note(relation.token, identity)
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
        if variant.hasTokens, answers[write.token] != nil { return .done(nil) }
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let refusal = refusal(identity, write.baseVersion) { return refusal }
        onDelete(identity, objects[identity]?.values ?? [:])
        let (modified, sequence) = stamp()
        objects[identity]?.isDeleted = true
        objects[identity]?.modified = modified
        objects[identity]?.sequence = sequence
        objects[identity]?.values = [:]
        note(write.token, identity)
        return .done(nil)
    }
}
