import Foundation
import StrataRemote
import StrataStore

/// A server in the memory of the process, for tests of apps that synchronize.
///
///     let server = MemoryBackend()
///     let phone = try RemoteStore.open(model: model, backend: server, location: .memory(name: nil))
///     let tablet = try RemoteStore.open(model: model, backend: server, location: .memory(name: nil))
///     try await phone.sync.synchronize()
///     try await tablet.sync.synchronize()
///     print(server.records.count)
///
/// Nothing is sent over a network, and all data is lost when it is released. Stores that share it share its objects. Declare
/// fewer ``allFeatures`` to see how an app behaves with a simpler service. ``backUp()`` and ``restore(_:)`` play a server that
/// is restored from a backup.
///
/// It has no users and no files, and takes conditions on attributes of the object itself, on the primary keys that its
/// relationships lead to, and on what other queries find.
public final class MemoryBackend: RemoteBackend {
    /// An object, alive or deleted.
    fileprivate struct Entry {
        var values: [String: RemoteValue] = [:]
        var version = 0
        /// The place of the last change among all changes.
        var sequence = 0
        /// The life of the server that the last change belongs to; see ``MemoryBackend/restore(_:)``.
        var life = 0
        var isDeleted = false
    }

    fileprivate struct State: Sendable {
        /// How often the server went back to a backup.
        var life = 0
        var entries: [RemoteIdentity: Entry] = [:]
        /// The entities of which there were objects, by name.
        var entities: [String: EntityDescription] = [:]
        var sequence = 0
        /// What became of writes, by token: with their content, since a token belongs to one write.
        var outcomes: [UUID: (write: RemoteOperationContent, outcome: RemoteOutcome)] = [:]
    }

    public let name = "Memory"
    public let capabilities: RemoteCapabilities
    private let state = Guarded(State())
    /// The to-many relationships, by entity, whose members records do not list.
    private let unlisted: [String: Set<String>]

    /// All that it can do. With ``RemoteCapabilities/Features/assignsIDs`` in addition, it numbers new objects from 1.
    public static let allFeatures: RemoteCapabilities.Features = [
        .sorting, .paging, .counting, .selecting, .readingMany, .creatingMany, .batches, .conditionalWrites,
        .idempotencyTokens, .increments, .arrayOperations, .relating, .incrementalPull, .deletions,
        .memberQueries, .subqueries,
    ]

    /// Makes an empty server.
    /// - Parameters:
    ///   - features: The features that it declares; it refuses all others.
    ///   - maximumPage: The maximum number of objects in one answer.
    ///   - unlisted: The to-many relationships, by entity, whose members records do not list. They are only found by
    ///     ``RemoteQuery/memberOf``.
    public init(
        features: RemoteCapabilities.Features = MemoryBackend.allFeatures, maximumPage: Int? = nil,
        unlisted: [String: Set<String>] = [:]
    ) {
        self.unlisted = unlisted
        capabilities = RemoteCapabilities(
            features: features.intersection(Self.allFeatures.union(.assignsIDs)),
            maximumBatch: features.contains(.creatingMany) ? 100 : 1,
            maximumIDs: features.contains(.readingMany) ? 200 : 1, maximumPage: maximumPage.map { max(1, $0) })
    }

    /// What the server has, in no order.
    public var records: [RemoteRecord] {
        state.withLock { state in state.entries.compactMap { record($0.key, $0.value) } }
    }

    /// What the server had at a moment.
    public struct Backup: Sendable {
        fileprivate let state: State
    }

    /// Keeps what the server has.
    public func backUp() -> Backup { state.withLock { Backup(state: $0) } }

    /// Goes back to what the server had, as if its operator had restored a backup. It has forgotten all later writes and whom
    /// it answered; cursors of the time between are refused as expired, and no version comes twice.
    public func restore(_ backup: Backup) {
        state.withLock { state in
            let life = state.life + 1
            state = backup.state
            state.life = life
        }
    }

    private func has(_ feature: RemoteCapabilities.Features) -> Bool { capabilities.features.contains(feature) }

    private func record(_ identity: RemoteIdentity, _ entry: Entry?) -> RemoteRecord? {
        guard let entry, !entry.isDeleted else { return nil }
        let hidden = unlisted[identity.entity] ?? []
        return RemoteRecord(
            entity: identity.entity, id: identity.id,
            values: hidden.isEmpty ? entry.values : entry.values.filter { !hidden.contains($0.key) },
            version: Self.marked(entry.version, entry.life),
            modified: Date(timeIntervalSinceReferenceDate: Double(entry.sequence)))
    }

    public func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        unlisted[entity.name]?.contains(relationship.name) != true
    }

    // MARK: Operations

    public func check(_ operation: RemoteOperation) throws(RemoteError) {
        let needed: RemoteCapabilities.Features
        switch operation {
        case .query(let query), .count(let query):
            var features: RemoteCapabilities.Features = []
            if case .count = operation { features.insert(.counting) }
            if !query.sorts.isEmpty { features.insert(.sorting) }
            if query.limit != nil || query.offset > 0 { features.insert(.paging) }
            if query.properties != nil { features.insert(.selecting) }
            let predicates = [query.predicate] + query.subqueries.map(\.predicate)
            for path in predicates.flatMap({ $0?.keyPaths ?? [] }) where path.count > 1 {
                throw Self.unsupported("a condition on \(path.joined(separator: "."))")
            }
            if !query.includes.isEmpty { throw Self.unsupported("related objects in an answer") }
            if query.memberOf != nil { features.insert(.memberQueries) }
            if !query.subqueries.isEmpty { features.insert(.subqueries) }
            needed = features
        case .create(_, let writes): needed = writes.count > 1 ? .creatingMany : []
        case .update(_, let write):
            needed = write.operations.values.reduce(into: []) { $0.formUnion($1.feature) }
        case .read(_, let ids): needed = ids.count > 1 ? .readingMany : []
        case .relate: needed = .relating
        case .pull: needed = .incrementalPull
        case .batch: needed = .batches
        case .delete, .ping: needed = []
        case .upload: throw Self.unsupported("files")
        case .call: throw Self.unsupported("calls")
        }
        guard capabilities.features.isSuperset(of: needed) else { throw Self.unsupported("this operation") }
    }

    private static func unsupported(_ what: String) -> RemoteError {
        RemoteError(.unsupported, domain: "Memory", message: "a server in memory does not offer \(what)")
    }

    public func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer
    {
        try check(operation)
        return try state.withLock { (state) throws(RemoteError) in try answer(operation, &state) }
    }

    private func answer(_ operation: RemoteOperation, _ state: inout State) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .query(let query): return .page(try page(query, state))
        case .count(let query): return .count(try found(query, state).count)
        case .read(let entity, let ids):
            let identities = ids.map { RemoteIdentity(entity: entity.name, id: $0) }
            return .page(RemotePage(records: identities.compactMap { record($0, state.entries[$0]) }))
        case .create(let entity, let writes):
            var outcomes: [RemoteOutcome] = []
            for write in writes {
                outcomes.append(once(.write(write), write.token, &state) { create(entity, write, &$0) })
            }
            return .outcomes(outcomes)
        case .update(let entity, let write):
            return .outcomes([once(.write(write), write.token, &state) { update(entity, write, &$0) }])
        case .delete(let entity, let write):
            return .outcomes([once(.write(write), write.token, &state) { delete(entity, write, &$0) }])
        case .relate(let entity, let relation):
            return .outcomes([once(.relation(relation), relation.token, &state) { relate(entity, relation, &$0) }])
        case .pull(let pull): return .page(try page(pull, state))
        case .batch(let operations):
            var outcomes: [RemoteOutcome] = []
            for operation in operations {
                if case .outcomes(let list) = try answer(operation, &state) { outcomes += list }
            }
            return .outcomes(outcomes)
        case .ping: return .nothing
        case .upload: throw Self.unsupported("files")
        case .call: throw Self.unsupported("calls")
        }
    }

    // MARK: Writing

    /// Carries out a write unless it was carried out before; then the outcome is the same again.
    private func once(
        _ content: RemoteOperationContent, _ token: UUID, _ state: inout State, _ body: (inout State) -> RemoteOutcome
    ) -> RemoteOutcome {
        guard has(.idempotencyTokens) else { return body(&state) }
        if let known = state.outcomes[token] {
            guard known.write == content else {
                return .failed(
                    RemoteError(
                        .rejected, domain: "Memory", message: "the token belongs to another write; make a new one"))
            }
            return known.outcome
        }
        let outcome = body(&state)
        if case .done = outcome { state.outcomes[token] = (content, outcome) }
        return outcome
    }

    private func create(_ entity: EntityDescription, _ write: RemoteWrite, _ state: inout State) -> RemoteOutcome {
        var identity = RemoteIdentity(entity: entity.name, id: write.id)
        var values = write.values
        if has(.assignsIDs) {
            // Deleted objects keep their entry, so no number comes twice.
            identity.id = String(state.entries.count + 1)
            if let key = entity.primaryKeyField {
                let isInteger = entity.attribute(named: key)?.type == .integer64
                values[key] = .value(isInteger ? .integer(Int64(state.entries.count + 1)) : .string(identity.id))
            }
        }
        if let there = record(identity, state.entries[identity]) {
            return .failed(
                RemoteError(
                    .duplicate, domain: "Memory", message: "there is an object with this primary key",
                    identity: identity,
                    serverRecord: there))
        }
        state.entities[entity.name] = entity
        change(identity, &state) { entry in
            entry.isDeleted = false
            entry.values = values
        }
        return .done(record(identity, state.entries[identity]))
    }

    private func update(_ entity: EntityDescription, _ write: RemoteWrite, _ state: inout State) -> RemoteOutcome {
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let refusal = refusal(identity, write.baseVersion, state) { return .failed(refusal) }
        var values = (state.entries[identity]?.values ?? [:]).merging(write.values) { $1 }
        for (property, operation) in write.operations {
            var old = Value.null
            if case .value(let known)? = values[property] { old = known }
            guard let type = entity.attribute(named: property)?.type, let value = operation.applied(to: old, of: type)
            else {
                return .failed(
                    RemoteError(
                        .rejected, domain: "Memory", message: "\(property): \(operation) cannot be done to \(old)",
                        identity: identity))
            }
            values[property] = .value(value)
        }
        change(identity, &state) { $0.values = values }
        return .done(record(identity, state.entries[identity]))
    }

    private func delete(_ entity: EntityDescription, _ write: RemoteWrite, _ state: inout State) -> RemoteOutcome {
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        if let refusal = refusal(identity, write.baseVersion, state) { return .failed(refusal) }
        change(identity, &state) { entry in
            entry.isDeleted = true
            entry.values = [:]
        }
        return .done(nil)
    }

    private func relate(_ entity: EntityDescription, _ relation: RemoteRelation, _ state: inout State) -> RemoteOutcome
    {
        let identity = RemoteIdentity(entity: entity.name, id: relation.id)
        if let refusal = refusal(identity, nil, state) { return .failed(refusal) }
        change(identity, &state) { entry in
            var members: [String] = []
            if case .references(let known)? = entry.values[relation.relationship] { members = known }
            members.removeAll(where: relation.removed.contains)
            members += relation.added.filter { !members.contains($0) }
            entry.values[relation.relationship] = .references(members)
        }
        return .done(record(identity, state.entries[identity]))
    }

    /// What conflicts with a change of an object.
    private func refusal(_ identity: RemoteIdentity, _ base: String?, _ state: State) -> RemoteError? {
        guard let there = record(identity, state.entries[identity]) else {
            return RemoteError(
                state.entries[identity] == nil ? .notFound : .gone, domain: "Memory",
                message: "there is no such object",
                identity: identity)
        }
        guard has(.conditionalWrites), let base, base != there.version else { return nil }
        return RemoteError(
            .conflict, domain: "Memory", message: "the object has been changed", identity: identity, serverRecord: there
        )
    }

    private func change(_ identity: RemoteIdentity, _ state: inout State, _ body: (inout Entry) -> Void) {
        state.sequence += 1
        var entry = state.entries[identity] ?? Entry()
        body(&entry)
        entry.version += 1
        entry.sequence = state.sequence
        entry.life = state.life
        state.entries[identity] = entry
    }

    /// A number of a life of the server: `7`, or `7@2` after it was restored twice.
    private static func marked(_ number: Int, _ life: Int) -> String { life == 0 ? "\(number)" : "\(number)@\(life)" }

    // MARK: Reading

    private func found(_ query: RemoteQuery, _ state: State) throws(RemoteError) -> [RemoteRecord] {
        var found: [RemoteRecord] = []
        let wanted = query.memberOf.map { members(of: $0, state) }
        let others = try query.subqueries.map { (subquery) throws(RemoteError) in
            (subquery, values: try values(foundBy: subquery, state))
        }
        do throws(PredicateEvaluationError) {
            for (identity, entry) in state.entries where identity.entity == query.entity.name {
                if let wanted, !wanted.contains(identity.id) { continue }
                guard let record = record(identity, entry) else { continue }
                // Conditions see what records do not list.
                var whole = record
                whole.values = entry.values
                let source = RecordSource(record: whole, of: query.entity)
                guard try query.predicate?.evaluate(on: source) ?? true,
                    others.allSatisfy({ other, values in
                        values.contains(source.value(other.property)) != other.isNegated
                    })
                else { continue }
                found.append(record)
            }
            // Ties are in the order of their primary keys, so that pages never overlap.
            var keyed: [(record: RemoteRecord, values: [Value])] = []
            for record in found {
                var values: [Value] = []
                for sort in query.sorts {
                    values.append(try sort.expression.evaluate(on: RecordSource(record: record, of: query.entity)))
                }
                keyed.append((record, values))
            }
            keyed.sort { a, b in
                for (position, sort) in query.sorts.enumerated() {
                    let order = ValueComparison.sortOrder(a.values[position], b.values[position], sort.options)
                    if order != .orderedSame { return (order == .orderedAscending) == sort.ascending }
                }
                return a.record.id < b.record.id
            }
            return keyed.map(\.record)
        } catch {
            throw RemoteError(.rejected, domain: "Memory", message: "the condition cannot be evaluated: \(error)")
        }
    }

    /// The values that a property must have one of, in objects that meet a condition on what another query finds.
    private func values(foundBy subquery: RemoteSubquery, _ state: State) throws(RemoteError) -> Set<Value> {
        guard let entity = state.entities[subquery.entity] else { return [] }
        var query = RemoteQuery(entity: entity)
        query.predicate = subquery.predicate
        query.sorts = subquery.sorts
        let objects = try found(query, state).prefix(max(0, subquery.limit ?? .max))
        let values = objects.map { record -> Value in
            guard let key = subquery.key else { return .string(record.id) }
            return RecordSource(record: record, of: entity).value(key)
        }
        return Set(values.filter { !$0.isNull })
    }

    private func members(of membership: RemoteMembership, _ state: State) -> Set<String> {
        let entry = state.entries[RemoteIdentity(entity: membership.entity.name, id: membership.id)]
        guard case .references(let ids)? = entry?.values[membership.relationship] else { return [] }
        return Set(ids)
    }

    private func page(_ query: RemoteQuery, _ state: State) throws(RemoteError) -> RemotePage {
        let all = try found(query, state)
        let wanted = all.dropFirst(max(0, query.offset)).prefix(max(0, query.limit ?? .max))
        let begin = max(0, query.cursor.flatMap { Int($0) } ?? 0)
        let rest = wanted.dropFirst(begin)
        let part = rest.prefix(capabilities.maximumPage ?? .max)
        return RemotePage(
            records: part.map { record in
                guard let properties = query.properties else { return record }
                var some = record
                some.values = record.values.filter { properties.contains($0.key) }
                return some
            },
            total: all.count, next: part.count < rest.count ? String(begin + part.count) : nil,
            hasMore: part.count < rest.count)
    }

    private func page(_ pull: RemotePull, _ state: State) throws(RemoteError) -> RemotePage {
        let parts = (pull.cursor ?? "0").split(separator: "@").map { Int($0) }
        guard let from = parts.first ?? nil, (0...state.sequence).contains(from),
            from == 0 || (parts.count > 1 ? parts[1] : 0) == state.life
        else {
            throw RemoteError(
                .cursorExpired, domain: "Memory",
                message: "\(pull.cursor ?? "") is not a cursor of this server; start over")
        }
        let news = state.entries.filter { $0.key.entity == pull.entity.name && $0.value.sequence > from }
            .sorted { $0.value.sequence < $1.value.sequence }
        let part = news.prefix(min(max(1, pull.limit), capabilities.maximumPage ?? .max))
        var page = RemotePage(
            next: Self.marked(part.count < news.count ? part.last?.value.sequence ?? from : state.sequence, state.life),
            hasMore: part.count < news.count)
        for (identity, entry) in part {
            if let record = record(identity, entry) {
                page.records.append(record)
            } else if has(.deletions) {
                page.deleted.append(identity)
            }
        }
        return page
    }
}

/// What a token stands for.
private enum RemoteOperationContent: Equatable {
    case write(RemoteWrite)
    case relation(RemoteRelation)
}
