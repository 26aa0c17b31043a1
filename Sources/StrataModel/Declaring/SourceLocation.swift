/// A place in a model file or in source code.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// The path or the file ID.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int

    /// Names a place.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The place as `file:line:column`, which editors and build logs make clickable.
    public var description: String { "\(file):\(line):\(column)" }
}
