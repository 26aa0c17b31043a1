import Foundation
import KintoStore
import StrataRemoteTesting
import Testing

/// A store over Kinto does what every store must do: what is saved goes to the server, and what is fetched comes from it.
@Suite(.enabled("Kinto needs Python 3 with venv and pip", { await KintoInstallation.isThere() }))
struct ConformanceTests {
    struct Subject: ConformanceSubject {
        let name = "Kinto"
        /// A save is a request for each object, or a batch whose parts succeed and fail separately; Kinto has no unique fields.
        let omissions: Set<ConformanceFeature> = [.atomicSaves, .uniqueKeys]
        /// Dates are milliseconds.
        let datePrecision = 0.001

        func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
            var options = RemoteStore.Options()
            options.fetchPolicy = .networkOnly
            options.waitsForNetwork = true
            options.finishesLocally = true
            return try RemoteStore.open(
                model: model, backend: try await kinto(user: place.path),
                location: .file(path: place.appending(path: "mirror.sqlite").path), options: options)
        }
    }

    @Test func kintoIsAStore() async {
        let report = await ConformanceSuite.standard.run(Subject())
        print(CapabilityMatrix([report]))
        #expect(report.failures.isEmpty, "\(report)")
    }
}
