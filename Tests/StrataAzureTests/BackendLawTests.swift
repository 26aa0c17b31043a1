import Foundation
import StrataAzure
import StrataRemoteTesting
import Testing

/// Servers in memory as back ends: what stores over them rely on.
@Suite struct AzureBackendLawTests {
    struct Servers: BackendSubject, CustomTestStringConvertible {
        let version: AzureVersion
        var keepsDeleted = true
        var page = 50
        var hasIntegerKeys = false

        var name: String { "Azure \(version)" }
        var testDescription: String {
            "\(name), \(keepsDeleted ? "soft" : "hard") deletes, pages of \(page), \(hasIntegerKeys ? "integer" : "text") ids"
        }
        /// The services keep neither positions nor members of relationships.
        var omissions: Set<ConformanceFeature> { [.geoPoints, .manyToMany] }
        /// Newer services take only whole rows, as pushes send them.
        var takesOnlyWholeObjects: Bool { version == .datasync }
        /// Ids have rules: none of `+ ? / \` and so on.
        var exceptions: Set<BackendSuite.Law> { [.identities] }

        func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
            var dialect = try AzureDialect(
                address: "https://notes.example", version: version,
                applicationKey: version == .mobileServices ? "key" : nil)
            dialect.keepsDeletedRows = keepsDeleted
            return HTTPBackend(
                dialect: dialect,
                transport: AzureTestServer(
                    version, keepsDeleted: keepsDeleted, page: page,
                    integerTables: hasIntegerKeys ? ["Note", "Folder"] : []))
        }
    }

    @Test(
        "The laws of back ends hold with each version of the service",
        arguments: [
            Servers(version: .mobileServices), Servers(version: .mobileApps), Servers(version: .datasync, page: 100),
            Servers(version: .mobileApps, keepsDeleted: false), Servers(version: .mobileApps, page: 3),
            Servers(version: .mobileServices, hasIntegerKeys: true),
            Servers(version: .mobileServices, keepsDeleted: false, page: 3, hasIntegerKeys: true),
        ])
    func lawsHold(subject: Servers) async {
        let failures = await BackendSuite.run(subject)
        #expect(failures.isEmpty, "\(failures.map(\.description).joined(separator: "\n"))")
    }
}
