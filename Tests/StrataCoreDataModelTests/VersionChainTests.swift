import Foundation
import Strata
import StrataCoreDataModel
import Testing

/// The versions of real models, one after the other: a store of any of them migrates to any later one, straight or by way of all
/// versions in between, with the same result.
@Suite struct VersionChainTests {
    /// The models with many versions: the one next to the tests, and those of the shared collection.
    static var bundles: [String] {
        let shared = Set(Samples.shared.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path })
        let own = Samples.path("OwnTracks.xcdatamodeld")
        return [own] + shared.filter { ((try? CoreDataModelBundle(path: $0))?.versions.count ?? 0) >= 6 }.sorted()
    }

    @Test("A store of any version migrates to any later one, straight and step by step", arguments: bundles)
    func chain(_ path: String) throws {
        let models = try Self.models(path)
        try #require(models.count >= 6)
        // All of them for the model next to the tests, and for the others where somebody has the time.
        let isWhole = path.hasPrefix(Samples.folder.path) || ProcessInfo.processInfo.environment["STRATA_CHAINS"] != nil
        for start in isWhole ? Array(0..<(models.count - 1)) : [0, models.count - 2] {
            let file = try File()
            let count = try file.fill(models[start])
            #expect(count > 0, "\(path): nothing in \(start)")
            let stepwise = try file.copy()
            for end in (start + 1)..<models.count {
                let answers = try Self.answers(stepwise.path, models[end], versions: [])
                try stepwise.migrate(to: models[end], answers: answers)
                file.answers.merge(answers) { first, _ in first }
                // Every fourth version, and the last one.
                guard isWhole || (end - start) % 4 == 1 || end == models.count - 1 else { continue }
                let direct = try file.copy()
                let known = Array(models[...end])
                var all = try Self.answers(direct.path, models[end], versions: known)
                all.merge(file.answers) { first, _ in first }
                try direct.migrate(to: models[end], answers: all, versions: known)
                let (expected, found) = (try stepwise.lines(models[end]), try direct.lines(models[end]))
                guard expected == found else {
                    let missing = Set(expected).subtracting(found).sorted().prefix(5)
                    let surplus = Set(found).subtracting(expected).sorted().prefix(5)
                    Issue.record("\(path) from \(start) to \(end): missing \(missing), surplus \(surplus)")
                    return
                }
                #expect(try SQLiteStore.integrityReport(at: direct.path).isSound)
            }
        }
    }

    /// The versions in their order: numbers in names count as numbers.
    private static func models(_ path: String) throws -> [ManagedObjectModel] {
        let bundle = try CoreDataModelBundle(path: path)
        let versions = bundle.versions.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
        return try versions.compactMap { version in
            do {
                return try CoreDataModelFile.read(path: path, version: version.name).converted().model()
            } catch let error as CoreDataModelError where "\(error)".contains("Xcode 3") {
                return nil
            }
        }
    }

    /// Answers that allow everything that a plan asks for.
    private static func answers(
        _ path: String, _ model: ManagedObjectModel, versions: [ManagedObjectModel]
    ) throws -> [String: MigrationAnswer] {
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        let plan = try SQLiteStore.migrationPlan(for: path, to: model, options: options)
        var result: [String: MigrationAnswer] = [:]
        for step in plan.steps {
            switch (step.kind, step.risk) {
            case (_, .safe): continue
            case (.addUniqueness, _): result[step.id] = .keepFirst
            case (.addAttribute, .checked), (.changeOptionality, .checked):
                guard let entity = model.entity(named: step.entity),
                    let type = step.property.flatMap({ entity.slot(named: $0)?.type })
                else { continue }
                result[step.id] = .fill(value(type, 1))
            case (.changeType, .checked): result[step.id] = .clear
            default: result[step.id] = .accept
            }
        }
        return result
    }

    static func value(_ type: AttributeType, _ number: Int) -> Value {
        switch type {
        case .string: .string("text \(number)")
        case .boolean: .boolean(number % 2 == 0)
        case .double, .float: .double(Double(number) / 2)
        case .decimal: .decimal(Decimal(number))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .binary, .transformable: .binary(Data([UInt8(number % 256)]))
        case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256))))
        case .uri: .uri(URL(fileURLWithPath: "/\(number)"))
        default: .integer(Int64(number))
        }
    }
}

/// A store file that is removed with its owner.
private final class File {
    let folder: URL
    let path: String
    /// The answers that steps from this file needed.
    var answers: [String: MigrationAnswer] = [:]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-chain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "a.sqlite").path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func copy() throws -> File {
        let result = try File()
        try FileManager.default.copyItem(atPath: path, toPath: result.path)
        return result
    }

    func migrate(
        to model: ManagedObjectModel, answers: [String: MigrationAnswer], versions: [ManagedObjectModel] = []
    ) throws {
        var options = SQLiteStore.Options()
        options.migration.answers = answers
        options.migration.versions = versions
        try SQLiteStore.migrate(path, to: model, options: options)
    }

    /// Makes objects of all entities, with values for all attributes and with links.
    /// - Returns: How many.
    func fill(_ model: ManagedObjectModel) throws -> Int {
        let container = try PersistentContainer(model: model, at: .file(path: path))
        defer { container.close() }
        let context = container.newContext()
        var objects: [String: [ManagedObject]] = [:]
        var number = 0
        for entity in model.entities where !entity.isAbstract {
            for _ in 0..<4 {
                let object = try context.insert(entityNamed: entity.name)
                for attribute in entity.attributes where attribute.derivation == nil && !attribute.isTransient {
                    number += 1
                    if attribute.isOptional, number % 5 == 0 { continue }
                    object[attribute.name] = Self.any(VersionChainTests.value(attribute.type, number % 30), attribute)
                }
                objects[entity.name, default: []].append(object)
            }
        }
        for entity in model.entities where !entity.isAbstract {
            for (index, object) in (objects[entity.name] ?? []).enumerated() {
                for relationship in entity.relationships {
                    let targets = model.destination(of: relationship).descendantIndexes
                        .flatMap { objects[model.entities[$0].name] ?? [] }
                    guard !targets.isEmpty else { continue }
                    let target = targets[(index * 3 + relationship.index) % targets.count]
                    if !relationship.isToMany {
                        object[relationship.name] = target
                    } else if relationship.isOrdered {
                        object[relationship.name] = [target, targets[index % targets.count]].uniqued()
                    } else {
                        object[relationship.name] = Set([target, targets[index % targets.count]])
                    }
                }
            }
        }
        // Links that were made later may have taken away those that an object needs.
        for _ in 0..<20 {
            let count = context.insertedObjects.count
            var failures: [ValidationFailure] = []
            do throws(PersistenceError) {
                try context.save()
            } catch {
                guard case .validation(let found) = error else { throw error }
                failures = found.failures
            }
            if failures.isEmpty { return count }
            for failure in failures {
                if let object = context.registeredObject(for: failure.objectID) { context.delete(object) }
            }
        }
        return 0
    }

    private static func any(_ value: Value, _ attribute: AttributeDescription) -> Any? {
        switch value {
        case .string(let text): text
        case .boolean(let flag): flag
        case .double(let number): attribute.type == .float ? Float(number) : number
        case .decimal(let number): number
        case .date(let date): date
        case .binary(let data): data
        case .uuid(let uuid): uuid
        case .uri(let uri): uri
        case .integer(let number):
            switch attribute.type {
            case .integer16: Int16(number)
            case .integer32: Int32(number)
            default: number
            }
        default: nil
        }
    }

    /// All objects as text.
    func lines(_ model: ManagedObjectModel) throws -> [String] {
        let container = try PersistentContainer(model: model, at: .file(path: path))
        defer { container.close() }
        var lines: [String] = []
        let context = container.newContext()
        for entity in model.entities where entity.parentIndex == nil {
            for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
                let own = object.objectID.entity
                for name in own.attributes.map(\.name) {
                    lines.append(
                        "\(own.name)/\(object.objectID.key).\(name) = \(object[name].map { "\($0)" } ?? "nil")")
                }
                for relationship in own.relationships {
                    var keys: [Int64] = []
                    switch object[relationship.name] {
                    case let one as ManagedObject: keys = [one.objectID.key]
                    case let list as [ManagedObject]: keys = list.map(\.objectID.key)
                    case let set as Set<ManagedObject>: keys = set.map(\.objectID.key).sorted()
                    default: break
                    }
                    lines.append("\(own.name)/\(object.objectID.key).\(relationship.name) -> \(keys)")
                }
            }
        }
        return lines.sorted()
    }
}

extension Array where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
