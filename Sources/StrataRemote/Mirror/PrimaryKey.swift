import Foundation
import StrataSQLite
import StrataStore

/// The primary key of an object as text, which is how back ends know it, and as the value of its attribute.
package enum PrimaryKey {
    /// Whether an attribute can be a primary key.
    static func allows(_ slot: SlotDescription) -> Bool {
        switch slot.type {
        case .string, .uri, .integer16, .integer32, .integer64, .uuid: true
        default: false
        }
    }

    /// The primary key in a row; nil if there is none.
    package static func id(of row: RowPointer, _ slot: SlotDescription) -> String? {
        guard row.isPresent(slot.index) else { return nil }
        switch slot.storage {
        case .integer: return String(Int64(bitPattern: row.word(slot.index)))
        case .uuid: return UUID.load(row, slot.index).uuidString
        default:
            let text = String.load(row, slot.index)
            return text.isEmpty ? nil : text
        }
    }

    /// The primary key as text in SQL, as ``id(of:_:)`` gives it.
    static func text(of column: String, _ slot: SlotDescription) -> String {
        switch slot.storage {
        case .integer: "CAST(\(column) AS TEXT)"
        case .uuid:
            [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(hex(\(column)), \($0), \($1))" }
                .joined(separator: " || '-' || ")
        default: column
        }
    }

    /// A primary key as ``id(of:_:)`` would give it; the text itself if it is not one.
    static func canonical(_ id: String, _ slot: SlotDescription) -> String {
        switch slot.storage {
        case .integer: Int64(id).map(String.init) ?? id
        case .uuid: UUID(uuidString: id)?.uuidString ?? id
        default: id
        }
    }

    /// The value of the attribute for a primary key; nil if it is none of the attribute's type.
    static func value(_ id: String, _ slot: SlotDescription) -> Value? {
        switch slot.storage {
        case .integer: Int64(id).map(Value.integer)
        case .uuid: UUID(uuidString: id).map(Value.uuid)
        default: slot.type == .uri ? URL(string: id).map(Value.uri) : .string(id)
        }
    }
}
