import Foundation
import Strata

/// All objects of a store as lines of text, which can be compared.
struct StoreContents {
    /// A line for each property of each object, sorted.
    let lines: [String]

    /// - Parameter ignored: Properties to leave out, as `Person.token`, named by the entity of the object.
    init(_ container: PersistentContainer, ignoring ignored: Set<String>) throws {
        var lines: [String] = []
        let context = container.newContext()
        for entity in container.model.entities where entity.parentIndex == nil {
            for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
                let own = object.objectID.entity
                let names = own.attributes.map(\.name) + own.relationships.map(\.name)
                lines.append("\(own.name) \(object.objectID.key)")
                for name in names where !ignored.contains("\(own.name).\(name)") {
                    lines.append("\(own.name) \(object.objectID.key) \(name): \(Self.text(object[name]))")
                }
            }
        }
        self.lines = lines.sorted()
    }

    /// The lines that only one of two has.
    func differences(from other: StoreContents) -> [String] {
        let difference = other.lines.difference(from: lines)
        return difference.map { change in
            switch change {
            case .remove(_, let line, _): "- \(line)"
            case .insert(_, let line, _): "+ \(line)"
            }
        }
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let object as ManagedObject: "\(object.objectID.entity.name) \(object.objectID.key)"
        case let objects as [ManagedObject]: objects.map { text($0) }.joined(separator: ", ")
        case let objects as Set<ManagedObject>: objects.map { text($0) }.sorted().joined(separator: ", ")
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let value?: "\(value)"
        }
    }
}

/// The files of a store: the database, its log and the external values.
struct StoreFiles: Equatable {
    private let contents: [String: Data]

    init(_ path: String) throws {
        var contents: [String: Data] = [:]
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            contents[suffix] = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
        }
        let folder = path + "-blobs"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            var isFolder: ObjCBool = false
            let file = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            contents["-blobs/\(name)"] = try Data(contentsOf: URL(fileURLWithPath: file))
        }
        guard contents[""] != nil else { throw StoreError.notFound(path: path) }
        self.contents = contents
    }

    func copy(to path: String) throws {
        if contents.keys.contains(where: { $0.hasPrefix("-blobs/") }) {
            try FileManager.default.createDirectory(atPath: path + "-blobs", withIntermediateDirectories: true)
        }
        for (suffix, data) in contents { try data.write(to: URL(fileURLWithPath: path + suffix)) }
    }
}
