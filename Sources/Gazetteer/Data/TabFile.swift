import Foundation

/// A file of lines whose fields are separated by tabs, with the names of the columns in the first line.
///
/// Lines end in a line feed, the last one too, so that a file that was cut off is told from a whole one.
struct TabFile {
    /// The name for messages.
    let name: String
    /// The names of the columns.
    let columns: [String]
    private let bytes: Data

    /// Reads a file.
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - columns: The columns that the first line must name, in this order.
    /// - Throws: ``DataFileError/unreadable(file:reason:)``.
    init(at url: URL, columns: [String]) throws(DataFileError) {
        do {
            self.init(
                name: url.lastPathComponent, bytes: try Data(contentsOf: url, options: .alwaysMapped), columns: columns)
        } catch {
            throw .unreadable(file: url.path, reason: Self.reason(of: error))
        }
    }

    /// Takes bytes that are in memory already.
    init(name: String, bytes: Data, columns: [String]) {
        self.name = name
        self.columns = columns
        self.bytes = bytes
    }

    /// Calls `body` for each record in turn.
    ///
    /// The scan works on bytes: a tab or a line feed is never part of another UTF-8 character, and looking for them
    /// byte by byte is many times faster than walking over the characters of a `String`.
    func forEachRecord(_ body: (TabRecord) throws(DataFileError) -> Void) throws(DataFileError) {
        let result: Result<Void, DataFileError> = bytes.withUnsafeBytes { buffer in
            do throws(DataFileError) {
                try scan(buffer, body)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func scan(
        _ buffer: UnsafeRawBufferPointer, _ body: (TabRecord) throws(DataFileError) -> Void
    ) throws(DataFileError) {
        var start = 0
        var line = 1
        while start < buffer.count {
            guard let end = Self.position(of: UInt8(ascii: "\n"), in: buffer, from: start, to: buffer.count) else {
                throw .truncated(file: name, line: line)
            }
            guard let fields = Self.fields(buffer, start, end) else { throw .notUTF8(file: name, line: line) }
            if line == 1 {
                guard fields == columns else { throw .wrongHeader(file: name, expected: columns, found: fields) }
            } else {
                guard fields.count == columns.count else {
                    throw .wrongFieldCount(file: name, line: line, expected: columns.count, found: fields.count)
                }
                try body(TabRecord(file: name, line: line, columns: columns, fields: fields))
            }
            start = end + 1
            line += 1
        }
        if line == 1 { throw .wrongHeader(file: name, expected: columns, found: []) }
    }

    /// The fields between two positions; nil if they are not UTF-8.
    private static func fields(_ buffer: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> [String]? {
        var result: [String] = []
        var first = start
        while true {
            let last = position(of: UInt8(ascii: "\t"), in: buffer, from: first, to: end) ?? end
            guard let field = String(validating: UnsafeRawBufferPointer(rebasing: buffer[first..<last]), as: UTF8.self)
            else { return nil }
            result.append(field)
            if last == end { return result }
            first = last + 1
        }
    }

    private static func position(
        of byte: UInt8, in buffer: UnsafeRawBufferPointer, from start: Int, to end: Int
    ) -> Int? {
        guard start < end, let base = buffer.baseAddress, let hit = memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return UnsafeRawPointer(hit) - base
    }

    private static func reason(of error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "no permission to read it"
        default: (error as NSError).localizedDescription
        }
    }
}
