import Foundation
import StrataSQLite
import StrataStore

extension CoreDataWriter {
    /// Larger values of attributes that allow it get a file of their own. Core Data's own limit is not documented.
    static let externalThreshold = 128 * 1024

    /// Binds the value of a slot as Core Data keeps it.
    func bind(
        _ row: RowPointer, _ field: WritingPlan.Field, _ entity: WritingPlan.Entity, _ statement: Statement,
        _ parameter: Int32
    ) throws(StoreError) {
        let slot = field.slot.index
        func invalid(_ reason: String) -> StoreError {
            .invalidData(entity: entity.name, property: field.slot.name, key: row.key, reason: reason)
        }
        guard row.isPresent(slot) else { return statement.bindNull(at: parameter) }
        if field.isArchive {
            throw invalid(
                "archives are read, but not written; set the value with Core Data, or use its bytes (type binary)")
        }
        switch field.slot.storage {
        case .integer, .key, .boolean: statement.bind(Int64(bitPattern: row.word(slot)), at: parameter)
        case .double, .date:
            let number = Double(bitPattern: row.word(slot))
            guard !number.isNaN else { throw invalid("a value that is not a number (NaN) cannot be kept; use nil") }
            statement.bind(number, at: parameter)
        case .text: statement.bindText(unowned: row.bytes(slot), at: parameter)
        case .decimal:
            guard Self.isKept(row.bytes(slot)) else {
                throw invalid("Core Data's stores keep 15 digits of a decimal number; round the value")
            }
            statement.bindText(unowned: row.bytes(slot), at: parameter)
        case .uuid: statement.bindBlob(unowned: row.bytes(slot), at: parameter)
        case .bytes: try bindBytes(row, field, statement, parameter)
        case .geoPoint: throw invalid("Core Data has no positions")
        }
    }

    /// Whether SQLite's number for a decimal text has all of its digits.
    static func isKept(_ text: UnsafeRawBufferPointer) -> Bool {
        let string = String(decoding: text, as: UTF8.self)
        if string == "NaN" { return false }
        if Int64(string) != nil { return true }
        let mantissa = string.prefix { $0 != "e" && $0 != "E" }
        let digits = mantissa.filter(\.isNumber).drop { $0 == "0" }
        let isFraction = mantissa.contains(".")
        let significant = isFraction || digits.allSatisfy({ $0 == "0" }) ? digits : digits[...]
        var count = significant.count
        for digit in significant.reversed() {
            guard digit == "0" else { break }
            count -= 1
        }
        return count <= 15
    }

    private func bindBytes(
        _ row: RowPointer, _ field: WritingPlan.Field, _ statement: Statement, _ parameter: Int32
    ) throws(StoreError) {
        let slot = field.slot.index
        guard field.isMarked else { return statement.bindBlob(unowned: row.bytes(slot), at: parameter) }
        var bytes = Data(row.bytes(slot))
        // The file of a value belongs to one row, so that another row gets a copy.
        if row.isExternal(slot) { bytes = try plan.folder.read(String(decoding: bytes, as: UTF8.self)) }
        guard bytes.count > Self.externalThreshold else { return statement.bind(Data([1]) + bytes, at: parameter) }
        let name = try plan.folder.write(bytes)
        writtenFiles.append(name)
        statement.bind(Data([2]) + Data(name.utf8) + Data([0]), at: parameter)
    }

    /// Notes the files of values that are about to be replaced.
    func noteFiles(
        of entity: WritingPlan.Entity, _ key: Int64, _ fields: [WritingPlan.Field]
    ) throws(StoreError) {
        for field in fields where field.isMarked {
            let statement = try connection.statement(
                """
                SELECT CAST(substr(\(field.column), 2, 36) AS TEXT) FROM \(entity.table) \
                WHERE Z_PK = ? AND typeof(\(field.column)) = 'blob' AND substr(\(field.column), 1, 1) = x'02'
                """)
            statement.bind(key, at: 1)
            guard try statement.step() else { continue }
            formerFiles.append(statement.text(0))
            statement.reset()
        }
    }
}

extension SupportFolder {
    /// Writes bytes to a new file.
    /// - Returns: The name of the file.
    func write(_ bytes: Data) throws(StoreError) -> String {
        let name = UUID().uuidString
        let file = path + "/" + name
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try bytes.write(to: URL(fileURLWithPath: file), options: .withoutOverwriting)
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
            defer { try? handle.close() }
            try handle.synchronize()
        } catch {
            try? FileManager.default.removeItem(atPath: file)
            throw .io(
                path: file, code: Int(errno),
                reason: "the external value cannot be written: \(error.localizedDescription)")
        }
        return name
    }

    /// Removes files whose values are no longer in the store.
    func remove(_ names: [String]) {
        for name in names {
            // A damaged store may have any text here.
            guard let uuid = UUID(uuidString: name) else { continue }
            try? FileManager.default.removeItem(atPath: path + "/" + uuid.uuidString)
        }
    }
}
