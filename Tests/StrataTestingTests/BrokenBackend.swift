import Foundation
import StrataRemote
import StrataStore
import StrataRemoteTesting

/// What is wrong with a back end, as a line of its author's code may be.
enum BackendDefect: String, CaseIterable, Sendable {
    // Outcomes.
    case outcomeOfAnother, lostOutcome, outcomesReversed, failureNamesFirst, batchEndsAtFailure, memberIsOwner
    // Versions.
    case versionStandsStill, noVersion, updatesAnyVersion, deletesAnyVersion, refusalShowsOwn, refusalWrites,
        needsVersion
    case conflictIsRejected, batchWithoutVersions
    // Tokens.
    case creationsRepeat, updatesRepeat, deletesRepeat, creationComesBack, usedTokenIsDone, batchWithoutTokens
    // Cursors.
    case pullEndsEarly, cursorStandsStill, pullLosesLast, noLastCursor, pullComesAgain, pullSkipsUpdates,
        deletionsUntold
    case madeAgainIsDeleted, foreignCursorIsEnd, pageTooLarge, pullOfOtherEntity, endBeforeRefused
    // Queries.
    case silentCap, limitIgnored, offsetIgnored, pagesOverlap, orderIgnored, alwaysAscending, conditionIgnored,
        countsAll
    case totalOfPage, queryOfAllEntities, pageAgain, oneHundredAtMost, keyFindsNothing, partIsWhole, numbersAreTexts
    // Groups.
    case groupCutOff, readCutOff, refusedInPart
    // Primary keys.
    case lowercase, numbers, lastComponent, decodedTwice, plusIsSpace, trimmed
    // Primary keys that the server assigns.
    case keyUntold, keyOfClient, newKeyEachTime

    var isAboutAssignedKeys: Bool { [.keyUntold, .keyOfClient, .newKeyEachTime].contains(self) }
    // Values.
    case emptyTextIsNil, zeroIsNil, falseIsNil, numbersAsDoubles, singlePrecision, decimalsAsDoubles, wholeSeconds
    case bytesEndAtZero, swappedPositions, trimmedTexts, updateReplaces, nilIgnored, referenceStays, answerShowsOld
    // What is there.
    case updateMakes, createOverwrites, deletedIsFound, anybodyIsFound, missingIsForbidden, secondDeleteIsRejected
    // Claims.
    case unreachable, countIsRejected, selectionIgnored, membershipIgnored, listsHidden, membersReplaced, membersStay,
        incrementSets, subqueriesIgnored, oppositeIgnored
    // Synchronization.
    case everyFifthLost, laterTextLost
}

/// A back end that does all but one thing right.
struct BrokenBackend: RemoteBackend {
    let base: MemoryBackend
    let defect: BackendDefect
    private let seen = Seen()

    init(_ defect: BackendDefect, assignsIDs: Bool = false) {
        self.defect = defect
        var features = MemoryBackend.allFeatures
        if defect == .countIsRejected { features.remove(.counting) }
        if defect.isAboutAssignedKeys || assignsIDs { features.insert(.assignsIDs) }
        base = MemoryBackend(
            features: features, unlisted: defect == .membershipIgnored ? ["Note": ["tags"]] : [:])
    }

    var name: String { defect.rawValue }

    var capabilities: RemoteCapabilities { base.capabilities }

    func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        defect != .listsHidden && base.lists(relationship, of: entity)
    }

    func check(_ operation: RemoteOperation) throws(RemoteError) {
        if case .count = operation, defect == .countIsRejected { return }
        try base.check(operation)
    }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        if let answer = try await instead(of: operation) { return answer }
        return changed(try await base.perform(changed(operation), options: options), operation)
    }

    private func send(_ operation: RemoteOperation) async throws(RemoteError) -> RemoteAnswer {
        try await base.perform(operation, options: RequestOptions())
    }

    // MARK: Answers of its own

    /// The answer to an operation that the back end does not pass on.
    private func instead(of operation: RemoteOperation) async throws(RemoteError) -> RemoteAnswer? {
        switch (defect, operation) {
        case (.batchEndsAtFailure, .batch(let list)):
            var outcomes: [RemoteOutcome] = []
            for part in list {
                guard case .outcomes(let some) = try await send(part) else { continue }
                outcomes += some
                if case .failed? = some.last { break }
            }
            return .outcomes(outcomes)
        case (.refusedInPart, .batch):
            guard case .outcomes(let outcomes) = try await send(operation) else { return nil }
            for case .failed(let error) in outcomes { throw error }
            return .outcomes(outcomes)
        case (.memberIsOwner, .relate(let entity, let relation)) where relation.added.contains("nobody"):
            return failed(.notFound, entity, relation.id)
        case (.needsVersion, .update(let entity, let write)) where write.baseVersion == nil:
            return failed(.conflict, entity, write.id)
        case (.refusalWrites, .update(let entity, var write)):
            let answer = try await send(operation)
            guard case .outcomes(let list) = answer, case .failed(let error)? = list.first, error.kind == .conflict
            else {
                return answer
            }
            write.baseVersion = nil
            write.token = UUID()
            _ = try await send(.update(entity: entity, write))
            return answer
        case (.keyUntold, .create):
            _ = try await send(operation)
            return .outcomes([.done(nil)])
        case (.keyOfClient, .create(_, let writes)):
            guard case .outcomes(let list) = try await send(operation), case .done(var record?)? = list.first else {
                return nil
            }
            record.id = writes[0].id
            return .outcomes([.done(record)])
        case (.newKeyEachTime, .create(let entity, var writes)):
            for index in writes.indices { writes[index].token = UUID() }
            return try await send(.create(entity: entity, writes))
        case (.creationComesBack, .create(let entity, var writes)):
            for index in writes.indices { writes[index].token = UUID() }
            guard case .outcomes(let list) = try await send(.create(entity: entity, writes)) else { return nil }
            return .outcomes(
                list.map { outcome in
                    guard case .failed(let error) = outcome, error.kind == .duplicate, let there = error.serverRecord
                    else {
                        return outcome
                    }
                    return .done(there)
                })
        case (.foreignCursorIsEnd, .pull(let pull)) where pull.cursor.map({ Int($0) == nil }) ?? false:
            return .page(RemotePage(next: "0"))
        case (.pageTooLarge, .pull(var pull)):
            pull.limit = 500
            return try await send(.pull(pull))
        case (.pullComesAgain, .pull(var pull)):
            pull.cursor = pull.cursor.flatMap { Int($0) }.map { String(max(0, $0 - 1)) }
            return try await send(.pull(pull))
        case (.endBeforeRefused, .pull(let pull)):
            // It believes that a version that it refused is the newest there is.
            if let last = seen.refused, let cursor = pull.cursor.flatMap({ Int($0) }), cursor <= last {
                seen.refused = nil
                return .page(RemotePage(next: String(last + 1)))
            }
            return nil
        case (.updateMakes, .update(let entity, var write)):
            let answer = try await send(operation)
            guard case .outcomes(let list) = answer, case .failed? = list.first else { return answer }
            write.token = UUID()
            return try await send(.create(entity: entity, [write]))
        case (.createOverwrites, .create(let entity, let writes)):
            guard case .outcomes(let list) = try await send(operation) else { return nil }
            var outcomes: [RemoteOutcome] = []
            for (outcome, var write) in zip(list, writes) {
                if case .failed = outcome {
                    write.token = UUID()
                    guard case .outcomes(let some) = try await send(.update(entity: entity, write)) else { continue }
                    outcomes += some
                } else {
                    outcomes.append(outcome)
                }
            }
            return .outcomes(outcomes)
        case (.deletedIsFound, .delete): return .outcomes([.done(nil)])
        case (.unreachable, .ping): throw RemoteError(.unavailable, message: "it cannot be reached")
        case (.countIsRejected, .count): throw RemoteError(.rejected, message: "it does not count")
        case (.membersReplaced, .relate(let entity, let relation)) where !relation.added.isEmpty:
            let write = RemoteWrite(id: relation.id, values: [relation.relationship: .references(relation.added)])
            return try await send(.update(entity: entity, write))
        case (.everyFifthLost, .create(let entity, let writes)):
            let kept = writes.filter { _ in seen.next() % 5 != 0 }
            let answer = try await send(.create(entity: entity, kept))
            guard case .outcomes(let list) = answer, list.count != writes.count else { return answer }
            return .outcomes(
                writes.map { .done(RemoteRecord(entity: entity.name, id: $0.id, values: $0.values, version: "1")) })
        default: return nil
        }
    }

    private func failed(_ kind: RemoteError.Kind, _ entity: EntityDescription, _ id: String) -> RemoteAnswer {
        .outcomes([
            .failed(RemoteError(kind, message: "no", identity: RemoteIdentity(entity: entity.name, id: id)))
        ])
    }

    // MARK: Operations

    private func changed(_ operation: RemoteOperation) -> RemoteOperation {
        switch operation {
        case .create(let entity, var writes):
            if defect == .groupCutOff { writes = Array(writes.prefix(50)) }
            return .create(entity: entity, writes.map { changed($0, .create) })
        case .update(let entity, let write): return .update(entity: entity, changed(write, .update))
        case .delete(let entity, let write): return .delete(entity: entity, changed(write, .delete))
        case .relate(let entity, var relation):
            relation.id = changed(relation.id)
            if defect == .membersStay { relation.removed = [] }
            return .relate(entity: entity, relation)
        case .read(let entity, var ids):
            if defect == .readCutOff { ids = Array(ids.prefix(100)) }
            return .read(entity: entity, ids: ids.map(changed))
        case .query(var query):
            switch defect {
            case .limitIgnored: query.limit = nil
            case .offsetIgnored: query.offset = 0
            case .pagesOverlap where query.offset > 0: query.offset -= 1
            case .orderIgnored: query.sorts = []
            case .alwaysAscending: query.sorts = query.sorts.compactMap { $0.keyPath.map { FetchSort($0[0]) } }
            case .conditionIgnored: query.predicate = nil
            case .selectionIgnored: query.properties = nil
            case .membershipIgnored: query.memberOf = nil
            case .subqueriesIgnored: query.subqueries = []
            case .oppositeIgnored: for index in query.subqueries.indices { query.subqueries[index].isNegated = false }
            default: break
            }
            return .query(query)
        case .count(var query):
            if defect == .countsAll { query.predicate = nil }
            return .count(query)
        case .batch(let list): return .batch(list.map { member(changed($0)) })
        default: return operation
        }
    }

    /// A write of a batch.
    private func member(_ operation: RemoteOperation) -> RemoteOperation {
        guard case .update(let entity, var write) = operation else { return operation }
        if defect == .batchWithoutVersions { write.baseVersion = nil }
        if defect == .batchWithoutTokens { write.token = UUID() }
        return .update(entity: entity, write)
    }

    private enum Kind { case create, update, delete }

    private func changed(_ write: RemoteWrite, _ kind: Kind) -> RemoteWrite {
        var write = write
        write.id = changed(write.id)
        switch defect {
        case .updatesAnyVersion where kind == .update: write.baseVersion = nil
        case .deletesAnyVersion where kind == .delete: write.baseVersion = nil
        case .creationsRepeat where kind == .create: write.token = UUID()
        case .updatesRepeat where kind == .update: write.token = UUID()
        case .deletesRepeat where kind == .delete: write.token = UUID()
        case .nilIgnored where kind == .update: write.values = write.values.filter { $0.value != .value(.null) }
        case .laterTextLost where kind == .update && seen.next() > 1: write.values["text"] = nil
        case .referenceStays where kind == .update: write.values = write.values.filter { $0.value != .reference(nil) }
        case .updateReplaces where kind == .update:
            for name in ["text", "count", "ratio"] where write.values[name] == nil {
                write.values[name] = .value(.null)
            }
        case .incrementSets:
            for (name, operation) in write.operations {
                if case .increment(let value) = operation { write.values[name] = .value(value) }
            }
            write.operations = [:]
        default: break
        }
        write.values = write.values.mapValues { value in
            if case .value(let value) = value { .value(changed(value)) } else { value }
        }
        return write
    }

    private func changed(_ id: String) -> String {
        switch defect {
        case .lowercase: id.lowercased()
        case .numbers: Int(id).map(String.init) ?? id
        case .lastComponent: id.split(separator: "/").last.map(String.init) ?? id
        case .decodedTwice: id.removingPercentEncoding ?? id
        case .plusIsSpace: id.replacingOccurrences(of: "+", with: " ")
        case .trimmed: String(id.prefix(100))
        default: id
        }
    }

    private func changed(_ value: Value) -> Value {
        switch (defect, value) {
        case (.emptyTextIsNil, .string("")), (.zeroIsNil, .integer(0)), (.falseIsNil, .boolean(false)): .null
        case (.numbersAsDoubles, .integer(let number)): .integer(Int64(exactly: Double(number)) ?? number / 10 * 10)
        case (.singlePrecision, .double(let number)): .double(Double(Float(number)))
        case (.decimalsAsDoubles, .decimal(let number)): .decimal(Decimal((number as NSDecimalNumber).doubleValue))
        case (.wholeSeconds, .date(let date)):
            .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
        case (.bytesEndAtZero, .binary(let data)): .binary(data.prefix { $0 != 0 })
        case (.swappedPositions, .geoPoint(let point)):
            .geoPoint(GeoPoint(latitude: point.longitude / 2, longitude: point.latitude))
        case (.trimmedTexts, .string(let text)): .string(text.trimmingCharacters(in: .whitespaces))
        default: value
        }
    }

    // MARK: Answers

    private func changed(_ answer: RemoteAnswer, _ operation: RemoteOperation) -> RemoteAnswer {
        switch answer {
        case .outcomes(let list): .outcomes(changed(list, operation))
        case .page(let page): .page(changed(page, operation))
        default: answer
        }
    }

    private func changed(_ list: [RemoteOutcome], _ operation: RemoteOperation) -> [RemoteOutcome] {
        var list = list.map { outcome -> RemoteOutcome in
            switch outcome {
            case .done(let record): .done(record.map { shown($0) })
            case .failed(let error): changed(error, operation)
            }
        }
        switch defect {
        case .lostOutcome where list.count > 1: list.removeLast()
        case .outcomesReversed: list.reverse()
        case .failureNamesFirst:
            list = list.map { outcome in
                guard case .failed(var error) = outcome, case .create(let entity, let writes) = operation else {
                    return outcome
                }
                error.identity = RemoteIdentity(entity: entity.name, id: writes[0].id)
                return .failed(error)
            }
        default: break
        }
        return list
    }

    private func changed(_ error: RemoteError, _ operation: RemoteOperation) -> RemoteOutcome {
        var error = error
        error.serverRecord = error.serverRecord.map { shown($0) }
        switch (defect, error.kind) {
        case (.conflictIsRejected, .conflict): error.kind = .rejected
        case (.refusalShowsOwn, .conflict):
            if case .update(_, let write) = operation { error.serverRecord?.values.merge(write.values) { $1 } }
        case (.missingIsForbidden, .notFound), (.missingIsForbidden, .gone): error.kind = .forbidden
        case (.secondDeleteIsRejected, .gone): error.kind = .rejected
        case (.usedTokenIsDone, .rejected): return .done(nil)
        case (.endBeforeRefused, .conflict):
            seen.refused = Int(error.serverRecord?.modified?.timeIntervalSinceReferenceDate ?? 0)
        default: break
        }
        return .failed(error)
    }

    /// A record as the back end shows it.
    private func shown(_ record: RemoteRecord) -> RemoteRecord {
        var record = record
        switch defect {
        case .outcomeOfAnother: record.id += "2"
        case .versionStandsStill: record.version = "1"
        case .noVersion: record.version = nil
        case .answerShowsOld: record.values["text"] = .value(.string("old"))
        default: break
        }
        return record
    }

    private func changed(_ page: RemotePage, _ operation: RemoteOperation) -> RemotePage {
        var page = page
        if defect == .versionStandsStill || defect == .noVersion { page.records = page.records.map { shown($0) } }
        switch operation {
        case .pull(let pull): change(&page, pull)
        case .query(let query): change(&page, query)
        case .read(let entity, let ids):
            if defect == .anybodyIsFound, page.records.isEmpty {
                page.records = ids.map { RemoteRecord(entity: entity.name, id: $0) }
            }
        default: break
        }
        return page
    }

    private func change(_ page: inout RemotePage, _ pull: RemotePull) {
        switch defect {
        case .pullEndsEarly: page.hasMore = false
        case .cursorStandsStill where page.hasMore: page.next = pull.cursor ?? "0"
        case .pullLosesLast where page.hasMore: page.records = page.records.dropLast()
        case .noLastCursor where !page.hasMore: page.next = nil
        case .pullSkipsUpdates: page.records.removeAll { $0.version != "1" }
        case .deletionsUntold: page.deleted = []
        case .madeAgainIsDeleted:
            let again = page.records.filter { $0.version == "3" }
            page.records.removeAll { $0.version == "3" }
            page.deleted += again.map(\.identity)
        case .pullOfOtherEntity:
            for index in page.records.indices { page.records[index].entity = "Folder" }
        default: break
        }
    }

    private func change(_ page: inout RemotePage, _ query: RemoteQuery) {
        switch defect {
        case .silentCap: page.records = Array(page.records.prefix(5))
        case .oneHundredAtMost: page.records = Array(page.records.prefix(100))
        case .keyFindsNothing where query.predicate?.keyPaths.contains(["noteId"]) == true: page.records = []
        case .partIsWhole where "\(query.predicate ?? .constant(true))".contains("CONTAINS"):
            page.records.removeAll { _ in true }
        case .numbersAreTexts where "\(query.predicate ?? .constant(true))".contains("count >"):
            page.records.removeAll { $0.id != "n1" }
        case .totalOfPage: page.total = page.records.count - 1
        case .queryOfAllEntities:
            page.records += base.records.filter { $0.entity == "Folder" }
        case .pageAgain: page.records += page.records.prefix(1)
        default: break
        }
    }

    /// What the back end remembers.
    private final class Seen: Sendable {
        private let state = Guarded<(count: Int, refused: Int?)>((0, nil))
        func next() -> Int {
            state.withLock { state in
                state.count += 1
                return state.count
            }
        }
        var refused: Int? {
            get { state.withLock(\.refused) }
            set { state.withLock { $0.refused = newValue } }
        }
    }
}
