import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Moves the file of a store aside, with its log and its values in files, in the place of one that was moved there before.
    static func moveAside(_ path: String) throws(StoreError) {
        let aside = path + ".erased"
        for suffix in ["", "-wal", "-shm", "-blobs"] {
            guard FileManager.default.fileExists(atPath: path + suffix) else { continue }
            try? FileManager.default.removeItem(atPath: aside + suffix)
            guard rename(path + suffix, aside + suffix) == 0 else {
                throw .io(path: path + suffix, code: Int(errno), reason: String(cString: strerror(errno)))
            }
        }
    }
}

extension StoreError {
    /// Whether a file cannot be opened because of the model that it was made with.
    var isMismatch: Bool {
        switch self {
        case .incompatibleModel, .migrationNeedsAnswers, .migrationFailed: true
        default: false
        }
    }
}
