import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting

/// A back end in the process: records on a shelf, with switches for what a test wants to go wrong.
final class ShelfBackend: RemoteBackend, @unchecked Sendable {
    // Sendable because all state is reached only with the lock held.
    private let lock = NSLock()
    private var shelf: [RemoteIdentity: RemoteRecord] = [:]
    private var order: [RemoteIdentity] = []
    private var operations: [RemoteOperation] = []
    private var optionsSeen: [RequestOptions] = []
    private var revision = 0
    private var features: RemoteCapabilities
    private var failures: [RemoteIdentity: RemoteError] = [:]
    private var outage: RemoteError?
    private var gate: [CheckedContinuation<Void, Never>]?
    private var time: Date?
    private var isMute = false

    let name = "Shelf"

    init(_ change: (inout RemoteCapabilities) -> Void = { _ in }) {
        features = RemoteCapabilities(
            features: [.sorting, .paging, .counting, .readingMany, .creatingMany, .relating],
            maximumBatch: 100, maximumIDs: 200)
        change(&features)
    }

    var capabilities: RemoteCapabilities { lock.withLock { features } }

    // MARK: For tests

    func put(_ entity: String, _ id: String, _ values: [String: RemoteValue]) {
        lock.withLock {
            let identity = RemoteIdentity(entity: entity, id: id)
            if shelf[identity] == nil { order.append(identity) }
            store(identity, values)
        }
    }

    func take(_ entity: String, _ id: String) {
        lock.withLock {
            shelf[RemoteIdentity(entity: entity, id: id)] = nil
            order.removeAll { $0 == RemoteIdentity(entity: entity, id: id) }
        }
    }

    func record(_ entity: String, _ id: String) -> RemoteRecord? {
        lock.withLock { shelf[RemoteIdentity(entity: entity, id: id)] }
    }

    func count(_ entity: String) -> Int { lock.withLock { order.count { $0.entity == entity } } }

    /// What every request fails with; nil for none.
    var down: RemoteError? {
        get { lock.withLock { outage } }
        set { lock.withLock { outage = newValue } }
    }

    /// Whether requests are carried out but their answers are lost.
    var losesAnswers: Bool {
        get { lock.withLock { isMute } }
        set { lock.withLock { isMute = newValue } }
    }

    /// When the shelf says that it changes objects; nil for seconds that count its changes.
    var now: Date? {
        get { lock.withLock { time } }
        set { lock.withLock { time = newValue } }
    }

    func refuse(_ entity: String, _ id: String, _ error: RemoteError?) {
        lock.withLock { failures[RemoteIdentity(entity: entity, id: id)] = error }
    }

    /// What was asked for since the last time.
    func takeLog() -> [RemoteOperation] {
        lock.withLock {
            defer { operations = [] }
            return operations
        }
    }

    var lastOptions: RequestOptions? { lock.withLock { optionsSeen.last } }

    /// Makes requests wait until ``open()``.
    func close() { lock.withLock { gate = [] } }

    func open() {
        let waiting = lock.withLock {
            defer { gate = nil }
            return gate ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Whether a request waits at the gate.
    var isWaitedFor: Bool { waitingCount > 0 }
    /// How many requests wait at the gate.
    var waitingCount: Int { lock.withLock { gate?.count ?? 0 } }

    // MARK: A back end

    func check(_ model: ManagedObjectModel) throws(RemoteError) {
        if model.entity(named: "Unkept") != nil {
            throw RemoteError(.unsupported, message: "Unkept.thing has a type that a shelf does not keep")
        }
    }

    func check(_ operation: RemoteOperation) throws(RemoteError) {
        guard case .query(let query) = operation, let predicate = query.predicate else { return }
        for path in predicate.keyPaths where path.count > 1 {
            throw RemoteError(.unsupported, message: "\(path.joined(separator: ".")) leads through a relationship")
        }
        if "\(predicate)".contains("CONTAINS") { throw RemoteError(.unsupported, message: "CONTAINS is not supported") }
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        await withCheckedContinuation { continuation in
            let waits = lock.withLock {
                operations.append(operation)
                optionsSeen.append(options)
                guard gate != nil else { return false }
                gate?.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
        if let outage = down { throw outage }
        let result = lock.withLock { Result { () throws(RemoteError) in try answer(operation) } }
        if losesAnswers { throw RemoteError(.timeout, domain: "test", message: "no answer") }
        return try result.get()
    }

    private func answer(_ operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .query(let query): return .page(try page(query))
        case .count(let query): return .count(try found(query).count)
        case .read(let entity, let ids):
            return .page(RemotePage(records: ids.compactMap { shelf[RemoteIdentity(entity: entity.name, id: $0)] }))
        case .create(let entity, let writes):
            return .outcomes(
                writes.map { write in
                    self.write(entity, write) { identity throws(RemoteError) in
                        guard shelf[identity] == nil else { throw RemoteError(.duplicate, message: "is there already") }
                        order.append(identity)
                    }
                })
        case .update(let entity, let write):
            return .outcomes([
                self.write(entity, write) { identity throws(RemoteError) in
                    guard let known = shelf[identity] else { throw RemoteError(.notFound, message: "is not there") }
                    if features.features.contains(.conditionalWrites), let base = write.baseVersion,
                        base != known.version
                    {
                        throw RemoteError(.conflict, message: "has another version", serverRecord: known)
                    }
                }
            ])
        case .delete(let entity, let write):
            let identity = RemoteIdentity(entity: entity.name, id: write.id)
            if let error = failures[identity] { return .outcomes([.failed(error)]) }
            if features.features.contains(.conditionalWrites), let base = write.baseVersion,
                let known = shelf[identity], known.version != base
            {
                let error = RemoteError(.conflict, message: "has another version", serverRecord: known)
                return .outcomes([.failed(error)])
            }
            order.removeAll { $0 == identity }
            shelf[identity] = nil
            return .outcomes([.done(nil)])
        case .relate(let entity, let relation):
            let identity = RemoteIdentity(entity: entity.name, id: relation.id)
            guard let object = shelf[identity] else {
                return .outcomes([.failed(RemoteError(.notFound, message: "is not there", identity: identity))])
            }
            var ids: [String] = []
            if case .references(let known)? = object.values[relation.relationship] { ids = known }
            ids = ids.filter { !relation.removed.contains($0) && !relation.added.contains($0) } + relation.added
            store(identity, [relation.relationship: .references(ids)])
            return .outcomes([.done(shelf[identity])])
        case .batch(let operations):
            var outcomes: [RemoteOutcome] = []
            for operation in operations {
                if case .outcomes(let list) = try answer(operation) { outcomes += list }
            }
            return .outcomes(outcomes)
        default: throw RemoteError(.unsupported, message: "\(operation)")
        }
    }

    private func write(
        _ entity: EntityDescription, _ write: RemoteWrite,
        _ check: (RemoteIdentity) throws(RemoteError) -> Void
    ) -> RemoteOutcome {
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        do throws(RemoteError) {
            if let error = failures[identity] { throw error }
            try check(identity)
        } catch {
            return .failed(error)
        }
        store(identity, write.values)
        return .done(shelf[identity])
    }

    private func store(_ identity: RemoteIdentity, _ values: [String: RemoteValue]) {
        revision += 1
        var record = shelf[identity] ?? RemoteRecord(entity: identity.entity, id: identity.id)
        record.values.merge(values) { $1 }
        record.version = "\(revision)"
        record.modified = time ?? Date(timeIntervalSinceReferenceDate: Double(revision))
        // What the server fills in.
        if identity.entity == "City" { record.values["revision"] = .value(.integer(Int64(revision))) }
        shelf[identity] = record
    }

    private func found(_ query: RemoteQuery) throws(RemoteError) -> [RemoteRecord] {
        var result: [RemoteRecord] = []
        do throws(PredicateEvaluationError) {
            for identity in order where identity.entity == query.entity.name {
                guard let record = shelf[identity] else { continue }
                if try query.predicate?.evaluate(on: RecordSource(record: record, of: query.entity)) ?? true {
                    result.append(record)
                }
            }
            if let distance = query.predicate?.nearestFirst {
                var keyed: [(RemoteRecord, Value)] = []
                for record in result {
                    keyed.append((record, try distance.evaluate(on: RecordSource(record: record, of: query.entity))))
                }
                return keyed.sorted { ValueComparison.sortOrder($0.1, $1.1, []) == .orderedAscending }.map(\.0)
            }
        } catch {
            throw RemoteError(.rejected, message: "\(error)")
        }
        for sort in query.sorts.reversed() {
            result = result.enumerated().sorted { a, b in
                let order = ValueComparison.sortOrder(
                    RecordSource(record: a.element, of: query.entity).value(at: sort.keyPath ?? []),
                    RecordSource(record: b.element, of: query.entity).value(at: sort.keyPath ?? []), sort.options)
                if order == .orderedSame { return a.offset < b.offset }
                return (order == .orderedAscending) == sort.ascending
            }.map(\.element)
        }
        return result
    }

    private func page(_ query: RemoteQuery) throws(RemoteError) -> RemotePage {
        let all = try found(query)
        let start = query.cursor.flatMap { Int($0) } ?? query.offset
        let size = min(query.limit ?? .max, features.maximumPage ?? .max, max(0, all.count - start))
        let end = start + size
        return RemotePage(
            records: Array(all[min(start, all.count)..<min(end, all.count)]), total: all.count,
            next: end < all.count ? "\(end)" : nil, hasMore: end < all.count)
    }
}
