/// Why a Core Data model cannot be read, converted or written.
public struct CoreDataModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file or folder.
    public var file: String
    /// The line, from 1 on.
    public var line: Int?
    /// What is wrong, and what to do.
    public var message: String

    /// Makes an error.
    public init(file: String, line: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// The error as compilers print theirs.
    public var description: String { "\(file):\(line.map { "\($0):1:" } ?? "") error: \(message)" }
}

/// Something in a Core Data model that is odd, or that Strata has no counterpart for.
public struct CoreDataModelWarning: Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public var file: String
    /// The line, from 1 on; nil in compiled models.
    public var line: Int?
    /// What it is, with the name of the entity and property.
    public var message: String

    /// Makes a warning.
    public init(file: String, line: Int?, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// The warning as compilers print theirs.
    public var description: String { "\(file):\(line.map { "\($0):1:" } ?? "") warning: \(message)" }
}
