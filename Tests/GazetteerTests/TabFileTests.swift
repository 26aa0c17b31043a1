import Foundation
import Testing

@testable import Gazetteer

@Suite("Files of tab-separated fields")
struct TabFileTests {
    private func records(_ text: String) throws(DataFileError) -> [[String]] {
        try records(Data(text.utf8))
    }

    private func records(_ bytes: Data) throws(DataFileError) -> [[String]] {
        var result: [[String]] = []
        try TabFile(name: "f.tsv", bytes: bytes, columns: ["a", "b"]).forEachRecord { result.append($0.fields) }
        return result
    }

    @Test("Fields come as they stand, empty ones and those of any script too")
    func fields() throws {
        #expect(try records("a\tb\n1\t2\n\t\nЛима\t利馬\n") == [["1", "2"], ["", ""], ["Лима", "利馬"]])
        #expect(try records("a\tb\n") == [])
    }

    @Test("A line separator of Unicode within a name does not end a record")
    func otherLineBreaks() throws {
        #expect(try records("a\tb\nx\u{2028}y\tz\u{85}\n") == [["x\u{2028}y", "z\u{85}"]])
    }

    @Test("Damaged files give an error with the line")
    func damage() {
        #expect(throws: DataFileError.truncated(file: "f.tsv", line: 3)) { try records("a\tb\n1\t2\n3\t") }
        #expect(throws: DataFileError.wrongFieldCount(file: "f.tsv", line: 2, expected: 2, found: 3)) {
            try records("a\tb\n1\t2\t3\n")
        }
        #expect(throws: DataFileError.wrongFieldCount(file: "f.tsv", line: 3, expected: 2, found: 1)) {
            try records("a\tb\n1\t2\n\n")
        }
        #expect(throws: DataFileError.wrongHeader(file: "f.tsv", expected: ["a", "b"], found: ["b", "a"])) {
            try records("b\ta\n1\t2\n")
        }
        #expect(throws: DataFileError.wrongHeader(file: "f.tsv", expected: ["a", "b"], found: [])) { try records("") }
        #expect(throws: DataFileError.notUTF8(file: "f.tsv", line: 2)) {
            try records(Data("a\tb\n".utf8) + Data([0xC3, 0x28, 0x09, 0x31, 0x0A]))
        }
    }

    @Test("A file that is not there is named with the reason")
    func unreadable() {
        let url = URL(fileURLWithPath: "/nonexistent/cities.tsv")
        #expect(throws: DataFileError.unreadable(file: url.path, reason: "there is no such file")) {
            try TabFile(at: url, columns: ["a"])
        }
    }

    @Test("Values are checked where they are read")
    func values() throws {
        let record = TabRecord(file: "f", line: 7, columns: ["a", "b", "c", "d"], fields: ["12", "-3", "x|y|z", ""])
        #expect(try record.count(0) == 12)
        #expect(throws: record.fault(1, "expected a whole number from 0")) { try record.count(1) }
        #expect(try record.degrees(1, upTo: 90) == -3)
        #expect(throws: record.fault(0, "expected degrees from -10 to 10")) { try record.degrees(0, upTo: 10) }
        #expect(throws: DataFileError.self) { try record.degrees(2, upTo: 90) }
        #expect(record.list(2) == ["x", "y", "z"])
        #expect(record.list(3) == [])
        #expect(record.optionalText(3) == nil)
        #expect(throws: record.fault(3, "it must not be empty")) { try record.requiredText(3) }
        #expect(
            "\(record.fault(1, "expected a whole number from 0"))" == "f:7: b is “-3”: expected a whole number from 0")
        let notANumber = TabRecord(file: "f", line: 1, columns: ["a"], fields: ["nan"])
        #expect(throws: DataFileError.self) { try notANumber.degrees(0, upTo: 90) }
    }
}
