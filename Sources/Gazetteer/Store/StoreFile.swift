import Foundation
import Strata

/// A store in a SQLite file.
struct StoreFile: TourStore {
    /// The path.
    let path: String

    /// Removes what an earlier run left. Nothing is removed that is not a store of the Gazetteer, unless that is asked
    /// for.
    /// - Throws: ``GazetteerError/foreignFile(path:reason:)``, ``GazetteerError/cannotReplace(path:reason:)``.
    func removeOld(force: Bool) throws(GazetteerError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        if isFolder.boolValue { throw .cannotReplace(path: path, reason: "it is a folder") }
        if !force, size > 0 { try checkOwn() }
        do {
            for companion in companions where FileManager.default.fileExists(atPath: companion) {
                try FileManager.default.removeItem(atPath: companion)
            }
        } catch {
            throw .cannotReplace(path: path, reason: (error as NSError).localizedDescription)
        }
    }

    var name: String { path }
    var copyPath: String { path + ".second-version" }

    func open(trace: @escaping @Sendable (StatementTrace) -> Void) throws(PersistenceError) -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.trace = trace
        return try PersistentContainer(GazetteerModel.self, at: .file(path: path), options: options)
    }

    func copy(_ container: PersistentContainer, to path: String) throws {
        try (container.store as? SQLiteStore)?.backUp(to: path)
    }

    /// The size of the file in bytes.
    var size: Int {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    }

    /// What SQLite and the store keep next to the file, and last the file itself: a run that is stopped half-way leaves
    /// a file that the next run knows.
    private var companions: [String] { ["\(path)-shm", "\(path)-wal", "\(path)-blobs", path] }

    private func checkOwn() throws(GazetteerError) {
        let name: String
        do throws(StoreError) {
            name = try SQLiteStore.metadata(at: path).modelName
        } catch {
            let reason =
                switch error {
                case .notAStore(_, let reason), .corrupt(_, let reason), .cannotOpen(_, let reason): reason
                default: error.description
                }
            throw .foreignFile(path: path, reason: reason)
        }
        guard name == GazetteerModel.model.name else {
            throw .foreignFile(path: path, reason: "it belongs to the model \(name)")
        }
    }
}
