import Foundation
import Strata

/// A class whose properties come from the model: its code generation is "Category/Extension".
final class Attachment: AttachmentBase {
    override func awakeFromInsert() { name = "unnamed" }
}

/// A value that Core Data would keep by a value transformer.
struct NoteStyle: TransformableValue {
    static let zeroValue = NoteStyle(color: "")
    var color: String
}
