import Foundation
import StrataAzure
import StrataStore
import StrataRemoteTesting
import Testing

/// Operations that wait: what becomes of them while one is being sent, when the server refuses one, and when nothing can be kept.
@Suite struct AzureSyncOperationTests {
    private let transport = ScriptedTransport()
    private let storage = BreakableStorage()

    private func context() throws -> AzureSyncContext {
        var configuration = try AzureConfiguration("https://notes.example")
        configuration.transport = transport
        configuration.sessionStorage = MemorySessionStorage()
        return try AzureSyncContext(AzureClient(configuration), keptIn: storage, named: "a")
    }

    private func failure(_ body: () async throws(AzureFailure) -> Void) async -> AzureFailure? {
        do throws(AzureFailure) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private var methods: [HTTPRequest.Method] { transport.requests.map(\.head.method) }

    // MARK: In progress

    /// Makes a change of the row `a`.
    private static func perform(
        _ kind: AzureTableOperation.Kind, _ text: String, _ sync: AzureSyncContext
    ) async throws(RemoteError) {
        switch kind {
        case .insert: try await sync.insert(["id": "a", "text": .string(text)], into: "Note")
        case .update: try await sync.update(["id": "a", "text": .string(text)], in: "Note")
        case .delete: try await sync.delete(["id": "a", "text": .string(text)], in: "Note")
        }
    }

    @Test(arguments: AzureTableOperation.Kind.allCases, AzureTableOperation.Kind.allCases)
    func whatIsAllowedWaitsUntilTheOneInProgressIsDone(
        pending: AzureTableOperation.Kind, new: AzureTableOperation.Kind
    ) async throws {
        let sent: [HTTPRequest.Method]? =
            switch (pending, new) {
            case (.insert, .update): [.post, .patch]
            case (.insert, .delete): [.post, .delete]
            case (.update, .update): [.patch, .patch]
            case (.update, .delete): [.patch, .delete]
            default: nil
            }
        let sync = try context()
        let codes = Guarded<[Int]>([])
        let transport = transport
        transport.handle { request in
            if transport.requests.count == 1 {
                do throws(RemoteError) {
                    try await AzureSyncOperationTests.perform(new, "2", sync)
                } catch {
                    let code = error.code
                    codes.withLock { $0.append(code) }
                }
            }
            return .scripted(json: String(decoding: request.body ?? Data("{}".utf8), as: UTF8.self))
        }
        try await Self.perform(pending, "1", sync)
        try await sync.push()
        #expect(await sync.pendingOperations == 0)
        let refusals = codes.withLock { $0 }
        guard let sent else {
            #expect(refusals == [AzureError.syncTableInvalidAction.rawValue])
            #expect(methods.count == 1)
            return
        }
        #expect(refusals == [])
        #expect(methods == sent)
        let text: JSONValue? = new == .delete ? nil : "2"
        #expect(await sync.item("a", in: "Note")?["text"] == text)
    }

    // MARK: Rows that are deleted while they are sent

    @Test func aRefusedInsertAndItsDeleteCancelOut() async throws {
        let sync = try context()
        try await sync.insert(["id": "a"], into: "Note")
        transport.handle { _ in
            try? await sync.delete(["id": "A"], in: "Note")
            return .scripted(json: #"{"error":"no"}"#, status: 400)
        }
        try await sync.push()
        #expect(await sync.pendingOperations == 0)
        try await sync.push()
        #expect(methods == [.post])
    }

    @Test func afterAnUnclearAnswerTheDeleteIsSent() async throws {
        let sync = try context()
        try await sync.insert(["id": "a"], into: "Note")
        transport.handle { request in
            guard request.head.method == .post else {
                return .scripted(json: #"{"error":"The item does not exist"}"#, status: 404)
            }
            try? await sync.delete(["id": "a"], in: "Note")
            return .scripted(json: #"{"error":"broken"}"#, status: 500)
        }
        try await sync.push()
        #expect(methods == [.post, .delete])
        #expect(await sync.pendingOperations == 0)
    }

    @Test func afterALostAnswerTheNextPushSendsTheDelete() async throws {
        let sync = try context()
        try await sync.insert(["id": "a"], into: "Note")
        transport.fail(.answerLost)
        transport.handle { request in
            guard request.head.method == .post else { return .scripted(status: 204) }
            try? await sync.delete(["id": "a"], in: "Note")
            return .scripted(json: #"{"id":"a"}"#, status: 201)
        }
        let error = await failure { () async throws(AzureFailure) in try await sync.push() }
        #expect(error?.code == .pushAbortedNetwork)
        #expect(await sync.pendingOperations == 2)
        // The next launch has only what was kept.
        let next = try context()
        try await next.push()
        #expect(methods == [.post, .delete])
        #expect(await next.pendingOperations == 0)
    }

    @Test func aRefusedUpdateOfADeletedRowIsNotRepeated() async throws {
        let sync = try context()
        try await sync.update(["id": "a", "text": "1"], in: "Note")
        transport.handle { request in
            guard request.head.method == .patch else { return .scripted(status: 204) }
            try? await sync.delete(["id": "a"], in: "Note")
            return .scripted(json: #"{"id":"a","version":"2"}"#, status: 412)
        }
        try await sync.push()
        #expect(methods == [.patch, .delete])
        #expect(await sync.pendingOperations == 0)
    }

    @Test func aDeleteThatTheServerRefusesWaitsOn() async throws {
        let sync = try context()
        try await sync.delete(["id": "a"], in: "Note")
        transport.answer(json: #"{"error":"The item does not exist"}"#, status: 404)
        let error = await failure { () async throws(AzureFailure) in try await sync.push() }
        #expect(error?.code == .pushCompleteWithErrors)
        #expect(await sync.pendingOperations == 1)
    }

    // MARK: Resolutions

    private func refused() async throws -> AzureSyncContext {
        let sync = try context()
        try await sync.insert(["id": "a", "text": "1"], into: "Note")
        transport.answer(json: #"{"error":"no"}"#, status: 400)
        return sync
    }

    @Test func aRefusedOperationIsDiscardedWithItsRow() async throws {
        let sync = try await refused()
        try await sync.push { _ in .cancelAndDiscard }
        #expect(await sync.item("a", in: "Note") == nil)
        #expect(await sync.pendingOperations == 0)
        try await sync.push()
        #expect(methods == [.post])
    }

    @Test func nothingIsSentForARowThatWasDiscardedLater() async throws {
        let sync = try context()
        try await sync.insert(["id": "a"], into: "Note")
        transport.handle { request in
            if request.head.method == .post { try? await sync.update(["id": "a"], in: "Note") }
            return .scripted(json: #"{"error":"no"}"#, status: 400)
        }
        let error = await failure { () async throws(AzureFailure) in
            try await sync.push { $0.operation.kind == .update ? .cancelAndDiscard : .leave }
        }
        #expect(error?.pushResult.map(\.operation.kind) == [.insert])
        #expect(methods == [.post, .patch])
        try await sync.push()
        #expect(methods.count == 2)
        #expect(await sync.pendingOperations == 0)
    }

    @Test(arguments: [
        AzureResolution.cancelAndUpdate(["text": "theirs"]), .cancelAndUpdate(["id": "b"]), .modify(["id": 1]),
    ])
    func anItemWithAnotherIDIsNoResolution(resolution: AzureResolution) async throws {
        let sync = try await refused()
        let error = await failure { () async throws(AzureFailure) in try await sync.push { _ in resolution } }
        #expect(error?.code == .syncTableCancel)
        #expect(error?.pushResult.count == 1)
        #expect(await sync.pendingOperations == 1)
        #expect(await sync.item("a", in: "Note")?["text"] == "1")
    }

    @Test func anOperationThatIsGoneCannotBeResolved() async throws {
        let sync = try await refused()
        let error = await failure { () async throws(AzureFailure) in
            try await sync.push { _ in
                // The insert that waits and the delete cancel out.
                try? await sync.delete(["id": "a"], in: "Note")
                return .cancelAndUpdate(["id": "a", "text": "theirs"])
            }
        }
        #expect(error?.code == .syncTableOperationNotFound)
        #expect(await sync.item("a", in: "Note") == nil)
    }

    // MARK: What cannot be kept

    @Test func changesThatCannotBeKeptAreNotMade() async throws {
        let sync = try context()
        storage.isBroken = true
        do throws(RemoteError) {
            try await sync.insert(["id": "a"], into: "Note")
            Issue.record("the storage is broken")
        } catch {
            #expect(error.code == AzureError.syncTableLocalStore.rawValue)
        }
        #expect(await sync.item("a", in: "Note") == nil)
        let opened = #expect(throws: RemoteError.self) { try context() }
        #expect(opened?.code == AzureError.syncTableLocalStore.rawValue)
        transport.answer(json: #"[{"id":"b"}]"#)
        let pulled = await failure { () async throws(AzureFailure) in try await sync.pull("Note") }
        #expect(pulled?.code == .syncTableLocalStore)
    }

    @Test func aPushEndsWhenItsResultCannotBeKept() async throws {
        let sync = try context()
        try await sync.insert(["id": "a"], into: "Note")
        try await sync.insert(["id": "b"], into: "Note")
        let storage = storage
        transport.handle { request in
            storage.isBroken = true
            return .scripted(json: String(decoding: request.body ?? Data(), as: UTF8.self), status: 201)
        }
        let error = await failure { () async throws(AzureFailure) in try await sync.push() }
        #expect(error?.code == .pushAbortedDataSource)
        #expect(error?.error.underlying.map(\.code) == [AzureError.syncTableLocalStore.rawValue])
        #expect(methods.count == 1)
        #expect(await sync.pendingOperations == 2)
    }

    @Test func aPushEndsWhenAResolutionCannotBeKept() async throws {
        let sync = try await refused()
        let storage = storage
        let error = await failure { () async throws(AzureFailure) in
            try await sync.push { _ in
                storage.isBroken = true
                return .cancelAndDiscard
            }
        }
        #expect(error?.code == .pushAbortedDataSource)
        #expect(await sync.pendingOperations == 1)
    }

    // MARK: Cancelled tasks

    /// What a task throws that was cancelled before it begins.
    private func cancelled(
        _ body: @escaping @Sendable () async throws(AzureFailure) -> Void
    ) async -> AzureFailure? {
        let task = Task { () -> AzureFailure? in
            while !Task.isCancelled { await Task.yield() }
            do throws(AzureFailure) {
                try await body()
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        return await task.value
    }

    @Test func cancelledPullsAndPushesHaveCodesOfTheirOwn() async throws {
        let sync = try context()
        let first = await cancelled { () async throws(AzureFailure) in try await sync.pull("Note", queryID: "all") }
        #expect(first?.code == .pullAbortedUnknown)
        #expect(first?.error.kind == .cancelled)
        #expect(first?.error.underlying.map(\.kind) == [.cancelled])
        try await sync.insert(["id": "a"], into: "Note")
        let push = await cancelled { () async throws(AzureFailure) in try await sync.push() }
        #expect(push?.code == .pushAbortedUnknown)
        #expect(push?.error.kind == .cancelled)
        // A pull pushes first.
        let second = await cancelled { () async throws(AzureFailure) in try await sync.pull("Note", queryID: "all") }
        #expect(second?.code == .pullAbortedUnknown)
        #expect(second?.error.kind == .cancelled)
        #expect(await sync.pendingOperations == 1)
        #expect(transport.requests.isEmpty)
    }
}

/// A storage that fails while it is broken.
private final class BreakableStorage: SessionStorage {
    private let kept = MemorySessionStorage()
    private let state = Guarded(false)

    var isBroken: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    private func check(_ name: String) throws(SessionStorageError) {
        guard !isBroken else { throw SessionStorageError(place: name, reason: "it is broken in this test") }
    }

    func session(named name: String) throws(SessionStorageError) -> Data? {
        try check(name)
        return kept.session(named: name)
    }

    func keep(_ session: Data, named name: String) throws(SessionStorageError) {
        try check(name)
        kept.keep(session, named: name)
    }

    func forget(named name: String) throws(SessionStorageError) {
        try check(name)
        kept.forget(named: name)
    }
}
