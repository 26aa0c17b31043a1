import Strata
import StrataRemote
import Testing

/// The whole table of answers to writes.
@Suite struct WriteReactionTests {
    enum End: String { case waits, failed, done, gone }

    /// What becomes of a queued change for each kind of error and each kind of change, with one push that does not retry.
    private static func expected(_ kind: RemoteError.Kind, _ change: ChangeKind) -> End {
        switch kind {
        case .unreachable, .timeout, .cancelled, .throttled, .unavailable, .unauthorized, .invalidAnswer: .waits
        case .forbidden, .rejected, .invalidRequest, .missingSecret, .unsupported, .cursorExpired: .failed
        case .notFound: change == .insert ? .failed : change == .update ? .gone : .done
        case .gone: change == .delete ? .done : .gone
        // The policy takes the server's state, which the test's back end does not have.
        case .conflict: change == .insert ? .failed : change == .update ? .gone : .done
        case .duplicate: .failed
        }
    }

    @Test(arguments: RemoteError.Kind.allCases, ChangeKind.allCases)
    func everyAnswerHasItsReaction(kind: RemoteError.Kind, change: ChangeKind) async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let id: String
        switch change {
        case .insert:
            id = "2"
            try Atlas.city(id, "Quito", context)
        case .update:
            id = "1"
            try #require(try await context.fetch(cities()).first)["name"] = "Here"
        case .delete:
            id = "1"
            context.delete(try #require(try await context.fetch(cities()).first))
        }
        // Another change goes on whatever becomes of this one.
        try Atlas.city("3", "Cusco", context)
        try await context.save()
        backend.shelf.take("City", "1")
        backend.shelf.refuse("City", id, RemoteError(kind, message: "\(kind)"))
        do {
            try await store.sync.push()
        } catch {
            #expect(Self.expected(kind, change) == .waits, "\(error)")
        }
        let failed = try store.sync.failedChanges().filter { $0.identity.id == id }
        let isHere = try await !context.fetch(cities("cityId = '\(id)'")).isEmpty
        let waits = try store.mirror.pendingEntries().contains { entry in
            try store.mirror.id(of: entry.identity)?.id ?? entry.id == id
        }
        switch Self.expected(kind, change) {
        case .waits:
            #expect(waits && failed.isEmpty)
            #expect(isHere == (change != .delete))
        case .failed:
            #expect(!waits && failed.count == 1)
            #expect(failed.first?.error.kind == kind)
            #expect(isHere == (change != .delete))
        case .done, .gone:
            #expect(!waits && failed.isEmpty && !isHere)
        }
        // A change that was sent and may have been carried out is sent again under its name.
        if waits, kind != .unauthorized {
            #expect(try store.mirror.pendingEntries().contains { $0.token != nil && $0.state == .sent })
        }
    }
}
