import ArgumentParser
import Foundation
import StrataCoreDataModel
import StrataModel
import StrataModelFiles

/// What the commands share: messages to standard error, JSON to standard output.
enum Output {
    /// Prints a message to standard error.
    static func fail(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }

    /// Prints a value as JSON with sorted keys.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints rows in columns: the width of a column is that of its longest cell.
    static func columns(_ rows: [[String]], indent: String = "  ") {
        let widths = (rows.map(\.count).max() ?? 0).counting { column in
            rows.compactMap { column < $0.count ? $0[column].count : nil }.max() ?? 0
        }
        for row in rows {
            let cells = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell.padding(toLength: widths[index], withPad: " ", startingAt: 0)
            }
            let line = indent + cells.joined(separator: "  ")
            print(String(line.reversed().drop { $0 == " " }.reversed()))
        }
    }

    /// Reads a model file, also one of Core Data, whose warnings it prints; faults end the command.
    static func model(_ path: String, version: String? = nil) throws -> ManagedObjectModel {
        do throws(ModelError) {
            return try checkedModel(path, version: version)
        } catch {
            fail(error.description)
            throw ExitCode.failure
        }
    }

    /// Reads a model file, also one of Core Data, whose warnings it prints.
    static func checkedModel(_ path: String, version: String?) throws(ModelError) -> ManagedObjectModel {
        guard CoreDataModelBundle.isModel(path: path) else { return try ModelFile.read(path: path).model() }
        return try ModelFile.readCoreDataModel(path: path, version: version) { fail($0.description) }.model()
    }
}

extension Int {
    fileprivate func counting<T>(_ make: (Int) -> T) -> [T] { (0..<self).map(make) }
}
