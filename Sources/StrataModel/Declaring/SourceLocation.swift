/// A place in a model file or in source code, by which a message leads you to a declaration.
///
///     do {
///         _ = try ManagedObjectModel(name: "Atlas") { Entity("city") }
///     } catch {
///         for fault in error.faults { print(fault.location?.line ?? 0, fault.message) }
///     }
///
/// Declarations in Swift note the place of the call: ``file`` is a file ID such as `Atlas/Model.swift`. Those in a
/// model file note the path as you gave it, and lines and columns of the YAML text. Declarations that code makes from
/// other data may have no place.
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
