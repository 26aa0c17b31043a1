/// One line of a ``TabFile``, whose fields are read by position.
struct TabRecord {
    /// The name of the file, for messages.
    let file: String
    /// The number of the line, from 1.
    let line: Int
    /// The names of the columns.
    let columns: [String]
    /// The fields.
    let fields: [String]

    /// A text, which may be empty.
    func text(_ column: Int) -> String { fields[column] }

    /// A text that must be there.
    func requiredText(_ column: Int) throws(DataFileError) -> String {
        if fields[column].isEmpty { throw fault(column, "it must not be empty") }
        return fields[column]
    }

    /// A text, or nil where the field is empty.
    func optionalText(_ column: Int) -> String? { fields[column].isEmpty ? nil : fields[column] }

    /// The parts of a field that are separated by `|`; none where the field is empty.
    func list(_ column: Int) -> [String] {
        fields[column].utf8.split(separator: UInt8(ascii: "|")).map { String(Substring($0)) }
    }

    /// A whole number that is not negative.
    func count(_ column: Int) throws(DataFileError) -> Int64 {
        guard let number = Int64(fields[column]), number >= 0 else {
            throw fault(column, "expected a whole number from 0")
        }
        return number
    }

    /// A number of degrees within limits.
    func degrees(_ column: Int, upTo limit: Double) throws(DataFileError) -> Double {
        guard let number = Double(fields[column]), number.magnitude <= limit else {
            throw fault(column, "expected degrees from -\(Int(limit)) to \(Int(limit))")
        }
        return number
    }

    /// The error for a field that does not hold what it should.
    func fault(_ column: Int, _ reason: String) -> DataFileError {
        .badField(file: file, line: line, column: columns[column], value: fields[column], reason: reason)
    }

    /// The error for a field that names a record that is nowhere.
    func unknown(_ column: Int, _ value: String) -> DataFileError {
        .unknownReference(file: file, line: line, column: columns[column], value: value)
    }
}
