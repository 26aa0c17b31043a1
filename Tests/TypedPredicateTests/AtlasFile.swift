import Foundation
import Strata

/// A store in a file of its own, which goes with this object.
final class AtlasFile {
    let container: PersistentContainer
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "atlas-\(UUID().uuidString).sqlite").path
        container = try PersistentContainer(AtlasModel.self, at: .file(path: path))
    }

    deinit {
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
