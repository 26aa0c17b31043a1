import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// Writes the SQL that turns the column of an attribute of Core Data into what a store of Strata has.
///
/// Most values look the same in both: numbers, text, dates as seconds since 2001, UUIDs as 16 bytes. Such columns stay as
/// they are, so that the indexes of the file serve conditions on them.
struct ColumnExpression {
    /// What becomes of values that do not fit.
    enum Mode: Sendable {
        /// They are left to the reader, who reports them.
        case reading
        /// They become NULL.
        case exporting
    }

    let mode: Mode

    /// The SQL for the values of an attribute.
    /// - Parameters:
    ///   - column: The column as SQL.
    ///   - attribute: The attribute of Core Data.
    ///   - type: The type of the attribute, or the element, in Strata.
    ///   - allowsExternal: Whether the result may be the name of a file, as text.
    /// - Returns: nil if values of the attribute are none of the type.
    func sql(
        _ column: String, _ attribute: CoreDataAttribute, as type: AttributeType, allowsExternal: Bool
    ) -> String? {
        let source = attribute.type
        switch type {
        case .integer16: return source.isInteger ? integer(column, -0x8000...0x7fff) : nil
        case .integer32: return source.isInteger ? integer(column, -0x8000_0000...0x7fff_ffff) : nil
        case .integer64, .integer: return source.isInteger ? only(column, "integer") : nil
        case .boolean:
            // Anything but 0 is true for Core Data.
            guard source == .boolean else { return nil }
            return "CASE WHEN typeof(\(column)) = 'integer' THEN \(column) <> 0\(otherwise(column)) END"
        case .double, .float: return source.isNumeric ? only(column, "integer", "real") : nil
        case .decimal: return source.isNumeric ? decimal(column) : nil
        case .date: return source == .date ? only(column, "integer", "real") : nil
        case .string: return source == .string || source == .uri ? only(column, "text") : nil
        case .uri: return source == .string || source == .uri ? only(column, "text") : nil
        case .uuid:
            guard source == .uuid else { return nil }
            return mode == .reading
                ? column : "CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) = 16 THEN \(column) END"
        case .binary:
            guard source == .binary || source == .transformable else { return nil }
            return bytes(column, attribute, allowsExternal: allowsExternal)
        case .transformable: return source == .transformable ? call("coded", column, attribute) : nil
        case .json, .array: return source == .transformable ? call("json", column, attribute) : nil
        case .geoPoint, .composite: return nil
        }
    }

    /// The SQL for the key in the column of a to-one relationship.
    func key(_ column: String) -> String { only(column, "integer") }

    private func otherwise(_ column: String) -> String { mode == .reading ? " ELSE \(column)" : "" }

    private func only(_ column: String, _ types: String...) -> String {
        guard mode == .exporting else { return column }
        let list = types.map { "'\($0)'" }.joined(separator: ", ")
        return "CASE WHEN typeof(\(column)) IN (\(list)) THEN \(column) END"
    }

    private func integer(_ column: String, _ range: ClosedRange<Int64>) -> String {
        guard mode == .exporting else { return column }
        return
            "CASE WHEN typeof(\(column)) = 'integer' AND \(column) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            + " THEN \(column) END"
    }

    private func decimal(_ column: String) -> String {
        mode == .exporting
            ? "\(ValueFunctions.decimal)(\(column))"
            : "CASE typeof(\(column)) WHEN 'blob' THEN \(column) ELSE CAST(\(column) AS TEXT) END"
    }

    private func bytes(_ column: String, _ attribute: CoreDataAttribute, allowsExternal: Bool) -> String {
        guard attribute.options.contains(.externalStorage) else {
            // Some programs leave text where bytes belong.
            return mode == .reading
                ? "CASE typeof(\(column)) WHEN 'text' THEN CAST(\(column) AS BLOB) ELSE \(column) END"
                : "CASE WHEN typeof(\(column)) IN ('blob', 'text') THEN CAST(\(column) AS BLOB) END"
        }
        if mode == .exporting { return "\(ValueFunctions.foundBytes)(\(column))" }
        guard allowsExternal else { return "\(ValueFunctions.bytes)(\(column))" }
        let mark = "substr(\(column), 1, 1)"
        return """
            CASE WHEN \(column) IS NULL THEN NULL WHEN typeof(\(column)) = 'blob' AND \(mark) = x'01' \
            THEN substr(\(column), 2) WHEN typeof(\(column)) = 'blob' AND \(mark) = x'02' \
            THEN CAST(substr(\(column), 2, 36) AS TEXT) ELSE \(Identifiers.literal(SupportFolder.unmarked)) END
            """
    }

    /// A function of a transformable value: the column, whether its bytes have a mark, and the transformer.
    private func call(_ name: String, _ column: String, _ attribute: CoreDataAttribute) -> String {
        let function = ValueFunctions.prefix + name + (mode == .exporting ? "_or_null" : "")
        return "\(function)(\(Self.arguments(column, attribute)))"
    }

    /// The arguments of functions of transformable values.
    static func arguments(_ column: String, _ attribute: CoreDataAttribute) -> String {
        let isMarked = attribute.options.contains(.externalStorage)
        let transformer = Identifiers.literal((attribute.transformerName ?? "").replacing("\0", with: ""))
        return "\(column), \(isMarked ? 1 : 0), \(transformer)"
    }
}
