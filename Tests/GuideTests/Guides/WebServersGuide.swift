import Strata

/// The code of Documentation/WebServers.md that is not in the examples.
enum WebServersGuide {
    static func backUp(_ container: PersistentContainer) async throws -> Int {
        let report = try await container.backUp(to: "backups/2026-11-25.sqlite")
        return report.fileSize
    }
}
