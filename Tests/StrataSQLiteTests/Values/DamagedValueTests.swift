import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Values that somebody else left in a file and that are not of their attribute's type.
@Suite struct DamagedValueTests {
    let folder: TemporaryFolder
    let path: String
    let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
        store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path))
        try store.insert(("Thing", 7, ["title": "t"]), ("Thing", 8, ["title": "sound", "small": 1]))
    }

    /// Column, property, what a shell writes there, and how the report says it.
    private static let cases: [(column: String, property: String, sql: String, content: Value)] = [
        ("small", "small", "70000", 70000), ("medium", "medium", "-3000000000", -3_000_000_000),
        ("exact", "exact", "'NaN'", "NaN"), ("exact", "exact", "'1e999'", "1e999"),
        ("single", "single", "1e300", 1e300),
        ("flag", "flag", "2", 2), ("flag", "flag", "-1", -1), ("link", "link", "'http://['", "http://["),
        ("address_number", "address.number", "5000000000", 5_000_000_000),
    ]

    @Test func aDamagedValueIsReportedWithWhatTheStoreHolds() throws {
        let entity = try store.entity("Thing")
        for (column, property, sql, content) in Self.cases {
            try Shell(path: path).run("UPDATE thing SET \(column) = \(sql) WHERE _id = 7")
            let rows = try store.fetch(FetchPlan(entityIndex: 0)).rows
            #expect(rows.count == 2)
            let damaged = rows.flatMap { row in entity.slots.compactMap { row.damagedValue($0, of: entity) } }
            #expect(damaged.count == 1, "\(property)")
            let found = try #require(damaged.first)
            #expect(found.entity == "Thing" && found.property == property && found.key == 7)
            #expect(found.content == content, "\(found.content)")
            #expect(found.description.contains("Thing.\(property)"))
            try Shell(path: path).run("UPDATE thing SET \(column) = NULL")
        }
    }

    @Test func aDamagedValueIsNeverWrittenBackAsAnotherOne() throws {
        let entity = try store.entity("Thing")
        for (column, property, sql, _) in Self.cases where sql != "'NaN'" {
            let shell = Shell(path: path)
            try shell.run("UPDATE thing SET \(column) = \(sql) WHERE _id = 7")
            let before = try shell.run("SELECT \(column), typeof(\(column)) FROM thing WHERE _id = 7")
            let row = try #require(try store.rows(entityIndex: 0, keys: [7]).rows.first)
            // The whole row, as a policy writes it that lets the object win, and as it is after a delete.
            var overwrite = ChangeSet()
            overwrite.updates = [
                .init(row: row, slots: SlotSet(entity.slots.filter(\.isStored).map(\.index)), baseVersion: row.version)
            ]
            guard case .committed = try store.commit(overwrite) else {
                Issue.record("\(property)")
                continue
            }
            #expect(try shell.run("SELECT \(column), typeof(\(column)) FROM thing WHERE _id = 7") == before)
            var gone = ChangeSet()
            gone.deletes = [.init(entityIndex: 0, key: 7, baseVersion: nil)]
            _ = try store.commit(gone)
            var back = ChangeSet()
            back.inserts = [.init(row: row)]
            _ = try store.commit(back)
            #expect(try shell.run("SELECT \(column), typeof(\(column)) FROM thing WHERE _id = 7") == before)
            try shell.run("UPDATE thing SET \(column) = NULL")
        }
    }

    @Test func aNumberThatIsNoneIsNotWrittenAgain() throws {
        try Shell(path: path).run("UPDATE thing SET exact = 'NaN' WHERE _id = 7")
        let row = try #require(try store.rows(entityIndex: 0, keys: [7]).rows.first)
        let slot = try #require(try store.entity("Thing").slot(named: "exact"))
        #expect(row.value(slot) == .null)
        var changes = ChangeSet()
        changes.updates = [.init(row: row, slots: SlotSet([slot.index]), baseVersion: row.version)]
        let overwrite = changes
        #expect(throws: StoreError.self) { try store.commit(overwrite) }
    }

    @Test(arguments: ["1.2.3", "1e", "--5", "1-2", "e5", ".", "", " 1", "1 ", "0x10", "١"])
    func textThatIsNotADecimalIsRefusedAndNotReadUpToTheFault(_ text: String) throws {
        try Shell(path: path).run("UPDATE thing SET exact = '\(text)' WHERE _id = 7")
        let error = #expect(throws: StoreError.self) { try store.fetch(FetchPlan(entityIndex: 0)) }
        guard case .invalidData(entity: "Thing", property: "exact", key: 7, reason: _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["1", "-1.5", "+.5", "5.", "1e3", "1.25E-2", "0.1"])
    func textThatIsADecimalIsRead(_ text: String) throws {
        try Shell(path: path).run("UPDATE thing SET exact = '\(text)' WHERE _id = 7")
        let expected = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
        #expect(try store.values("Thing", 7)?["exact"] == .decimal(expected))
    }

    @Test func valuesAndConditionsSeeWhatTheStoreHolds() throws {
        try Shell(path: path).run("UPDATE thing SET small = 70000, flag = 2, link = 'http://[' WHERE _id = 7")
        for format in ["small == 70000", "link == 'http://['", "flag == 2", "flag != YES", "flag != NO"] {
            let predicate = try FetchPredicate(format: format)
            #expect(try store.keys("Thing", predicate).contains(7), "\(format)")
            let values = try #require(try store.values("Thing", 7))
            #expect(try predicate.evaluate(on: Value.composite(values)), "\(format)")
        }
        let plan = ValuePlan(
            FetchPlan(entityIndex: 0),
            columns: try ["small", "flag", "link"].map { FetchColumn($0, try FetchExpression(format: $0)) })
        #expect(try store.values(plan)[0] == [70000, 2, "http://["])
    }
}
