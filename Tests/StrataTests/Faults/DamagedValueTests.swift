import Foundation
import Strata
import StrataCSQLite
import Testing

/// Values in the file that another program has changed.
@Suite struct DamagedPropertyTests {
    /// Runs SQL on a file, as a shell would.
    private func shell(_ sql: String, _ path: String) throws {
        var connection: OpaquePointer?
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        var message: UnsafeMutablePointer<CChar>?
        let status = sqlite3_exec(connection, sql, nil, nil, &message)
        try #require(status == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "")")
    }

    @Test("A damaged value is reported once, reads as nil or zero, and is not written back")
    func reportedOnce() throws {
        let file = try FaultyFile(Zoo.self)
        let seed = file.container.newContext()
        let sample = Sample(seed, "a")
        sample.small = 7
        try seed.save()
        try shell("UPDATE sample SET small = 70000", file.path)

        for policy in [MergePolicy.error, .overwrite] {
            let context = file.container.newContext()
            context.mergePolicy = policy
            var heard: [PersistenceError] = []
            context.onFaultError = { error, _ in heard.append(error) }
            let read = try #require(try context.fetchFirst(FetchRequest<Sample>()))
            for _ in 0..<3 { _ = read.small }
            guard heard.count == 1, case .damagedValue(let damage) = heard[0] else {
                Issue.record("\(heard)")
                return
            }
            #expect(damage.entity == "Sample" && damage.property == "small" && damage.content == .integer(70_000))
            read.label += "b"
            try context.save()
            #expect(try integers("SELECT small FROM sample", file.path) == [70_000])
        }
        // Under `overwrite`, another context's change in between makes the whole row be written.
        let (first, second) = (file.container.newContext(), file.container.newContext())
        first.mergePolicy = .overwrite
        let mine = try #require(try first.fetchFirst(FetchRequest<Sample>()))
        let theirs = try #require(try second.fetchFirst(FetchRequest<Sample>()))
        theirs.text = "x"
        try second.save()
        mine.label = "c"
        try first.save()
        #expect(try integers("SELECT small FROM sample", file.path) == [70_000])
        mine.small = 3
        try first.save()
        #expect(try integers("SELECT small FROM sample", file.path) == [3])
    }

    @Test("Values of another kind than their attribute's make the fetch fail, with the object and the property named")
    func otherKind() throws {
        let file = try FaultyFile(Zoo.self)
        let seed = file.container.newContext()
        let sample = Sample(seed, "a")
        sample.decimal = 12.5
        try seed.save()
        try shell("UPDATE sample SET \"decimal\" = 'twelve'", file.path)
        let error = persistenceError { try file.container.newContext().fetch(FetchRequest<Sample>()) }
        guard case .store(.invalidData("Sample", "decimal", sample.objectID.key, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A version at the end of its range is an error that names the row, and stops no other fetch")
    func versions() throws {
        let file = try FaultyFile(Zoo.self)
        let seed = file.container.newContext()
        for number in 0..<4 { _ = Sample(seed, "\(number)") }
        try seed.save()
        try shell("UPDATE sample SET _version = 9223372036854775807 WHERE label = '0'", file.path)
        let container = try PersistentContainer(Zoo.self, at: .file(path: file.path))
        defer { container.close() }
        let context = container.newContext()
        guard case .store(.invalidData)? = persistenceError({ try context.fetch(FetchRequest<Sample>()) }) else {
            Issue.record("the version was read")
            return
        }
        let others = try context.fetch(FetchRequest<Sample>(where: try FetchPredicate(format: "label != '0'")))
        for sample in others { sample.text = "changed" }
        try context.save()
        #expect(
            try container.newContext().fetch(
                FetchRequest<Sample>(where: try FetchPredicate(format: "text == 'changed'"))
            ).count == 3)
    }

    @Test("Keys that no store hands out are an error that names the row")
    func negativeKeys() throws {
        let file = try FaultyFile(Zoo.self)
        let seed = file.container.newContext()
        _ = Sample(seed, "a")
        try seed.save()
        for key in [-1, -1024, Int64.min] {
            try shell("UPDATE sample SET _id = \(key)", file.path)
            let container = try PersistentContainer(Zoo.self, at: .file(path: file.path))
            let context = container.newContext()
            guard case .store(.invalidData)? = persistenceError({ try context.fetch(FetchRequest<Sample>()) }) else {
                Issue.record("key \(key) was read")
                continue
            }
            _ = Sample(context, "new")
            try context.save()
            container.close()
            try shell("DELETE FROM sample WHERE label = 'new'", file.path)
        }
    }

    private func integers(_ sql: String, _ path: String) throws -> [Int64] {
        var connection: OpaquePointer?
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        var result: [Int64] = []
        while sqlite3_step(statement) == SQLITE_ROW { result.append(sqlite3_column_int64(statement, 0)) }
        return result
    }
}
