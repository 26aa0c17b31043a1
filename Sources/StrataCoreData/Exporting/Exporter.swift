import Foundation
import StrataCSQLite
import StrataSQL
import StrataSQLite

/// Copies the rows of a Core Data store into a store of Strata, in one transaction that sees the source at one moment.
struct Exporter {
    /// The name under which the connection knows the source.
    static let schema = "coredata"

    let file: CoreDataFile
    let model: ManagedObjectModel
    let layout: ViewLayout
    let views: StoreViews
    let target: SQLiteStore
    let options: CoreDataStore.ExportOptions
    var report = CoreDataExportReport()
    private var completed = 0
    private var total = 0

    init(
        file: CoreDataFile, model: ManagedObjectModel, target: SQLiteStore, options: CoreDataStore.ExportOptions
    ) throws(StoreError) {
        self.file = file
        self.model = model
        self.target = target
        self.options = options
        layout = try ViewLayout(model: model, store: "Core Data")
        views = try file.views(for: model, layout: layout, mode: .exporting, schema: Self.schema)
        report.warnings =
            file.warnings + views.properties.warnings + views.warnings + file.conversion.warnings.map(\.message)
    }

    /// Copies everything.
    mutating func run() throws(StoreError) -> CoreDataExportReport {
        let target = target
        let functions = ValueFunctions(folder: file.folder, transformers: options.store.transformers) {
            (bytes) throws(StoreError) in try target.keepExternally(bytes)
        }
        return try target.maintaining { (connection) throws(StoreError) in
            try connection.read(options.cancellation) { (connection) throws(StoreError) in
                functions.register(on: connection)
                try connection.execute("PRAGMA temp_store = MEMORY")
                try connection.execute(
                    "ATTACH \(Identifiers.literal(file.database.attachable)) AS \(Self.schema)")
                // References are checked at the end; until then they may lead to rows that are not copied yet.
                try connection.execute("PRAGMA foreign_keys = OFF")
                for (number, view) in views.all.enumerated() {
                    try connection.execute(view.statement(named: Self.name(number)))
                }
                try connection.begin()
                defer { connection.rollback() }
                try copy(on: connection)
                try connection.commit()
                report.integrityProblems = try connection.texts("PRAGMA main.quick_check(20)").filter { $0 != "ok" }
                return report
            }
        }
    }

    /// The name of a view of the source.
    private static func name(_ number: Int) -> String { "temp.coredata_\(number)" }

    private mutating func copy(on connection: Connection) throws(StoreError) {
        for number in views.all.indices {
            total += Int(try connection.integer("SELECT count(*) FROM \(Self.name(number))") ?? 0)
        }
        for (number, table) in layout.tables.enumerated() { try copy(table, number, on: connection) }
        for number in views.pairs.indices { try copyPairs(number, on: connection) }
        try ValueChecker(views: views, limit: options.maximumProblems).run(on: connection, &report)
        try ReferenceRepair(model: model, layout: layout, limit: options.maximumProblems).run(on: connection, &report)
        for (number, table) in layout.tables.enumerated() { try count(table, number, on: connection) }
        try show("done")
    }

    /// Tells how far the export is, and stops it where it is cancelled.
    private func show(_ text: String) throws(StoreError) {
        if options.cancellation?.isCancelled == true { throw .cancelled }
        options.onProgress?(MigrationProgress(text: text, completed: min(completed, total), total: total))
    }

    // MARK: Rows

    private mutating func copy(_ table: ViewLayout.Table, _ number: Int, on connection: Connection) throws(StoreError) {
        let view = views.tables[number]
        let names = view.columns.map(\.name).joined(separator: ", ")
        let insert = "INSERT INTO main.\(table.quoted)(\(names)) SELECT \(names) FROM \(Self.name(number)) WHERE _id"
        let root = model.entities[table.root].name
        let end = try connection.prepare(
            "SELECT max(_id) FROM (SELECT _id FROM \(Self.name(number)) WHERE _id > ? ORDER BY _id LIMIT ?)",
            persistent: false)
        let batch = try connection.prepare("\(insert) > ?1 AND _id <= ?2", persistent: false)
        // Keys of Strata begin with 1.
        var last: Int64 = 0
        while true {
            try show(root)
            end.bind(last, at: 1)
            end.bind(Int64(options.batchSize), at: 2)
            guard try end.step(), !end.isNull(0) else { break }
            let next = end.integer(0)
            end.reset()
            batch.bind(last, at: 1)
            batch.bind(next, at: 2)
            try connection.execute("SAVEPOINT batch")
            do throws(StoreError) {
                try batch.run()
                completed += connection.changes
                try connection.execute("RELEASE batch")
            } catch {
                guard case .constraint = error else { throw error }
                try connection.execute("ROLLBACK TO batch")
                try connection.execute("RELEASE batch")
                try copySingly(last, next, number, root, insert, on: connection)
            }
            last = next
        }
        end.reset()
        let below = Int(try connection.integer("SELECT count(*) FROM \(Self.name(number)) WHERE _id < 1") ?? 0)
        if below > 0 {
            note(.object, root, "", nil, "\(below) objects have keys below 1, which Strata does not have", count: below)
        }
    }

    /// Copies the rows of a range one by one, and leaves out those that break a constraint.
    private mutating func copySingly(
        _ last: Int64, _ next: Int64, _ number: Int, _ root: String, _ insert: String, on connection: Connection
    ) throws(StoreError) {
        let list = try connection.prepare(
            "SELECT _id FROM \(Self.name(number)) WHERE _id > ?1 AND _id <= ?2", persistent: false)
        list.bind(last, at: 1)
        list.bind(next, at: 2)
        var keys: [Int64] = []
        while try list.step() { keys.append(list.integer(0)) }
        let one = try connection.prepare("\(insert) = ?1", persistent: false)
        for key in keys {
            one.bind(key, at: 1)
            do throws(StoreError) {
                try one.run()
                completed += 1
            } catch {
                guard case .constraint(_, let reason) = error else { throw error }
                note(.object, root, "", key, "it is left out, because \(reason)")
            }
        }
    }

    private mutating func note(
        _ kind: CoreDataExportReport.Problem.Kind, _ entity: String, _ property: String, _ key: Int64?,
        _ reason: String,
        count: Int = 1
    ) {
        report.note(
            .init(kind: kind, entity: entity, property: property, key: key, reason: reason), count: count,
            limit: options.maximumProblems)
    }

    // MARK: Pairs

    private mutating func copyPairs(_ number: Int, on connection: Connection) throws(StoreError) {
        let view = views.pairs[number]
        guard let pairs = layout.pairs.first(where: { $0.quoted == view.table }),
            let owners = layout.tables.first(where: { $0.root == pairs.ownerRoot }),
            let members = layout.tables.first(where: { $0.root == pairs.memberRoot })
        else { return }
        let entity = model.entities[pairs.entity]
        let name = entity.relationships[pairs.relationship].name
        try show("\(entity.name).\(name)")
        let names = view.columns.map(\.name).joined(separator: ", ")
        let source = Self.name(views.tables.count + number)
        let insert = try connection.prepare(
            """
            INSERT OR IGNORE INTO main.\(pairs.quoted)(\(names)) SELECT \(names) FROM \(source) AS p \
            WHERE EXISTS (SELECT 1 FROM main.\(owners.quoted) AS o WHERE o._id = p.\(pairs.ownerColumn)) \
            AND EXISTS (SELECT 1 FROM main.\(members.quoted) AS m WHERE m._id = p.\(pairs.memberColumn))
            """, persistent: false)
        try insert.run()
        let read = Int(try connection.integer("SELECT count(*) FROM \(source)") ?? 0)
        let written = Int(try connection.integer("SELECT count(*) FROM main.\(pairs.quoted)") ?? 0)
        completed += read
        report.pairs.append(.init(relationship: "\(entity.name).\(name)", read: read, written: written))
        if read != written {
            let reason =
                "\(read - written) pairs lead to objects that do not exist, or occur twice; they are left out"
            note(.reference, entity.name, name, nil, reason, count: read - written)
        }
    }

    // MARK: Counts

    private mutating func count(_ table: ViewLayout.Table, _ number: Int, on connection: Connection) throws(StoreError)
    {
        func counts(_ from: String) throws(StoreError) -> [String: Int] {
            let entity = table.hasEntityColumn ? "_entity" : "''"
            let statement = try connection.prepare(
                "SELECT \(entity), count(*) FROM \(from) GROUP BY 1", persistent: false)
            var result: [String: Int] = [:]
            while try statement.step() { result[statement.text(0)] = Int(statement.integer(1)) }
            return result
        }
        let read = try counts(Self.name(number))
        let written = try counts("main.\(table.quoted)")
        for index in model.entities[table.root].descendantIndexes where !model.entities[index].isAbstract {
            let name = model.entities[index].name
            let key = table.hasEntityColumn ? name : ""
            report.entities.append(.init(entity: name, read: read[key] ?? 0, written: written[key] ?? 0))
        }
    }
}

extension CoreDataExportReport {
    /// Takes note of a problem that stands for some number of them.
    mutating func note(_ problem: Problem, count: Int, limit: Int) {
        problemCounts[problem.kind, default: 0] += count
        if problems.count < limit { problems.append(problem) }
    }
}
