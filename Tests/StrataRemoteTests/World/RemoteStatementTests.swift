import Foundation
import Strata
import StrataRemote
import Testing

/// How many statements synchronisation costs beside the rows themselves.
@Suite struct RemoteStatementTests {
    private static func bookkeeping(_ statements: [String]) -> [String] {
        statements.filter { $0.contains("_remote") || $0.contains("_outbox") || $0.contains("_sync_state") }
    }

    private func open(
        _ backend: any RemoteBackend, _ log: Guarded<[String]>
    ) throws -> (RemoteStore, ManagedObjectContext) {
        try Atlas.offline(backend) { options in
            options.sync.pageSize = 500
            options.mirror.trace = { trace in log.withLock { $0.append(trace.sql) } }
        }
    }

    @Test("A pull writes names, versions and placeholders as sets: less than a fifth of a statement for each object")
    func pull() async throws {
        let backend = ShelfBackend.conditional()
        for number in 0..<10 { backend.putCountry("c\(number)", "Country \(number)") }
        for number in 0..<400 { backend.putCity("\(number)", "City \(number)", country: "c\(number % 10)") }
        let log = Guarded<[String]>([])
        let (store, context) = try open(backend, log)
        log.withLock { $0 = [] }
        try await store.sync.pull()
        let statements = log.withLock { $0 }
        #expect(try await context.count(cities()) == 400)
        #expect(Self.bookkeeping(statements).count <= 82, "\(Self.bookkeeping(statements).count)")
    }
}
