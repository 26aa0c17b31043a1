import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// Finds the model of a store.
struct ModelFinder {
    let path: String
    let metadata: CoreDataMetadata
    let tables: CoreDataTables
    var warnings: [String] = []

    init(path: String, metadata: CoreDataMetadata, tables: CoreDataTables) {
        self.path = path
        self.metadata = metadata
        self.tables = tables
    }

    mutating func find(_ source: CoreDataModelSource, on connection: Connection) throws(StoreError)
        -> CoreDataStoreModel
    {
        switch source {
        case .automatic:
            if let file = try cached(on: connection) { return checked(file, .cache) }
            warnings.append(
                "the store has no copy of its model; names and types are what its tables show, so give the model file")
            return try inferred(on: connection)
        case .inferred: return try inferred(on: connection)
        case .model(let file): return checked(file, .given)
        case .file(let path): return try chosen(path)
        }
    }

    // MARK: In the store

    /// The copy of the model in the store; nil if there is none.
    private func cached(on connection: Connection) throws(StoreError) -> CoreDataModelFile? {
        guard let column = tables.table("Z_MODELCACHE")?.column("Z_CONTENT") else { return nil }
        let statement = try connection.prepare(
            "SELECT \(Identifiers.quote(column)) FROM Z_MODELCACHE", persistent: false)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        defer { statement.reset() }
        let content = Data(statement.blobBytes(0))
        func damage(_ reason: String) -> StoreError {
            .corrupt(path: path, reason: "its copy of the model cannot be read (\(reason)); give the model file")
        }
        let archive: Data
        do throws(DeflateError) {
            archive = try Inflater.inflate(content)
        } catch {
            throw damage(error.description)
        }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        do throws(CoreDataModelError) {
            return try CoreDataModelFile(compiled: archive, name: name, file: path)
        } catch {
            throw damage(error.message)
        }
    }

    private func inferred(on connection: Connection) throws(StoreError) -> CoreDataStoreModel {
        var inference = ModelInference(path: path, tables: tables)
        return CoreDataStoreModel(file: try inference.infer(on: connection), origin: .inferred, hasMatchingHashes: nil)
    }

    // MARK: Hashes

    private mutating func checked(_ file: CoreDataModelFile, _ origin: CoreDataStoreModel.Origin) -> CoreDataStoreModel
    {
        let comparison = compare(file.model)
        if !comparison.different.isEmpty {
            let names = comparison.different.joined(separator: ", ")
            warnings.append("the version hashes of \(names) in the store are not those of the model")
        }
        return CoreDataStoreModel(file: file, origin: origin, hasMatchingHashes: comparison.matches)
    }

    private struct Comparison {
        /// The entities whose hashes differ, or that one side lacks.
        var different: [String] = []
        /// How many entities have no hash that could be compared.
        var unknown = 0
        var isPossible: Bool
        var matches: Bool? { !different.isEmpty ? false : isPossible && unknown == 0 ? true : nil }
    }

    private func compare(_ model: CoreDataModel) -> Comparison {
        guard !metadata.versionHashes.isEmpty else { return Comparison(isPossible: false) }
        let computed = CoreDataVersionHashes(model)
        var comparison = Comparison(isPossible: true)
        for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) {
            if let own = computed.hashes[name] {
                if own != hash { comparison.different.append(name) }
            } else if computed.unknown[name] != nil {
                comparison.unknown += 1
            } else {
                comparison.different.append(name)
            }
        }
        // A store may be one of a configuration, which has some of the entities.
        if model.configurations.isEmpty {
            for entity in model.entities where metadata.versionHashes[entity.name] == nil {
                comparison.different.append(entity.name)
            }
        }
        return comparison
    }

    /// The version of a model file that the store has.
    private mutating func chosen(_ modelPath: String) throws(StoreError) -> CoreDataStoreModel {
        let bundle: CoreDataModelBundle
        var candidates: [(name: String, file: CoreDataModelFile, comparison: Comparison)] = []
        var faults: [String] = []
        do throws(CoreDataModelError) {
            bundle = try CoreDataModelBundle(path: modelPath)
        } catch {
            throw .incompatibleModel(path: path, differences: [error.description])
        }
        for version in bundle.versions {
            do throws(CoreDataModelError) {
                let file = try bundle.read(version: version.name)
                candidates.append((version.name, file, compare(file.model)))
            } catch {
                faults.append(error.description)
            }
        }
        let current = bundle.currentName
        let best = candidates.min {
            ($0.comparison.different.count, $0.comparison.unknown, $0.name == current ? 0 : 1)
                < ($1.comparison.different.count, $1.comparison.unknown, $1.name == current ? 0 : 1)
        }
        guard let best else { throw .incompatibleModel(path: path, differences: faults) }
        if !best.comparison.different.isEmpty {
            let names = best.comparison.different.joined(separator: ", ")
            throw .incompatibleModel(
                path: path,
                differences: [
                    "no version of \(modelPath) has the store's version hashes; of '\(best.name)', the most similar one, "
                        + "those of \(names) differ"
                ] + faults)
        }
        if !best.comparison.isPossible {
            warnings.append("the store has no version hashes; the version '\(best.name)' of the model is taken")
        }
        return CoreDataStoreModel(
            file: best.file, origin: .file(version: best.name), hasMatchingHashes: best.comparison.matches)
    }
}
