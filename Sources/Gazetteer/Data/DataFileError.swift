/// What is wrong with the GeoNames files, and where.
enum DataFileError: Error, Sendable, Hashable {
    /// The folder of the data was found in none of these places.
    case missing(searched: [String])
    /// A file is not there or cannot be read.
    case unreadable(file: String, reason: String)
    /// The first line does not name the columns that this program reads.
    case wrongHeader(file: String, expected: [String], found: [String])
    /// The last line has no end: the file was cut off.
    case truncated(file: String, line: Int)
    /// A line is not UTF-8.
    case notUTF8(file: String, line: Int)
    /// A line has too few or too many fields.
    case wrongFieldCount(file: String, line: Int, expected: Int, found: Int)
    /// A field does not hold what its column should.
    case badField(file: String, line: Int, column: String, value: String, reason: String)
    /// A key is in two lines.
    case duplicate(file: String, line: Int, column: String, value: String)
    /// A field names a record that is nowhere.
    case unknownReference(file: String, line: Int, column: String, value: String)
    /// The manifest lacks a figure.
    case missingFigure(file: String, key: String)
    /// The files hold more or less than the manifest says.
    case wrongFigure(file: String, key: String, expected: Int64, found: Int64)
}

extension DataFileError: CustomStringConvertible {
    /// One line: the place, what is wrong there, and what to do.
    var description: String {
        switch self {
        case .missing(let searched):
            "the GeoNames data is missing (looked in \(searched.joined(separator: ", "))); name its folder with --data"
        case .unreadable(let file, let reason): "cannot read \(file): \(reason)"
        case .wrongHeader(let file, let expected, let found):
            "\(file):1: expected the columns \(expected.joined(separator: " ")), found \(found.joined(separator: " "))"
        case .truncated(let file, let line): "\(file):\(line): the file ends within this line; get a whole copy"
        case .notUTF8(let file, let line): "\(file):\(line): the line is not UTF-8"
        case .wrongFieldCount(let file, let line, let expected, let found):
            "\(file):\(line): expected \(expected) fields separated by tabs, found \(found)"
        case .badField(let file, let line, let column, let value, let reason):
            "\(file):\(line): \(column) is “\(value)”: \(reason)"
        case .duplicate(let file, let line, let column, let value):
            "\(file):\(line): a second record with the \(column) “\(value)”"
        case .unknownReference(let file, let line, let column, let value):
            "\(file):\(line): \(column) names “\(value)”, which is nowhere in the data"
        case .missingFigure(let file, let key): "\(file): no line for \(key)"
        case .wrongFigure(let file, let key, let expected, let found):
            "\(file): \(key) should be \(expected), but the data has \(found); get a whole copy"
        }
    }
}
