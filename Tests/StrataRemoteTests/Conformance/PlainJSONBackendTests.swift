import PlainJSONStore
import StrataTesting
import Testing

/// The back end of somebody else does what stores must be able to rely on.
@Suite struct PlainJSONBackendTests {
    private struct Subject: BackendSubject {
        let name = "Plain JSON"
        let datePrecision = 0.0
        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
            HTTPBackend(dialect: PlainJSONDialect(authority: "localhost"), transport: PlainJSONServer())
        }
    }

    @Test("Each law of back ends holds for the store of plain JSON", arguments: BackendSuite.Law.allCases)
    func holds(law: BackendSuite.Law) async {
        let failures = await BackendSuite.run(Subject(), laws: [law])
        #expect(failures.isEmpty, "\(failures.map { "\n\($0)" }.joined())")
    }
}
