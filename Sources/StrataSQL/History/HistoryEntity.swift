import Foundation
import StrataStore

/// What the changes of an entity mean, as `_history_entities` has it: recorded once for each version of the entity, so that a
/// change needs no more than bits.
package struct HistoryEntity: Codable, Hashable {
    /// The name of the entity.
    package var name: String
    /// The name of the topmost entity of its hierarchy.
    package var root: String
    /// By bit the property: the path of a slot, or the name of a relationship. nil where the bit belongs to other entities of
    /// the table.
    package var properties: [String?]
    /// The bits of the attributes whose old values are kept.
    package var kept: [Int]

    /// The name of the property that a slot is a part of: an element of a composite changes the composite.
    package static func property(_ slot: String) -> String {
        slot.firstIndex(of: ".").map { String(slot[..<$0]) } ?? slot
    }

    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    package init(name: String, root: String, properties: [String?], kept: [Int]) {
        self.name = name
        self.root = root
        self.properties = properties
        self.kept = kept
    }

    /// Reads what ``text`` gives.
    package init?(text: String) {
        guard let entity = try? JSONDecoder().decode(HistoryEntity.self, from: Data(text.utf8)) else { return nil }
        self = entity
    }

    /// The entity under the names that a new model has for it and its properties; nil if the model has it no longer.
    package func renamed(by mapping: ModelMapping) -> HistoryEntity? {
        guard let successor = mapping.successor(of: name), let properties = mapping.entities[successor]?.properties
        else { return nil }
        var result = self
        let names = Dictionary(properties.map { ($0.value, $0.key) }, uniquingKeysWith: min)
        result.name = successor
        result.root = mapping.successor(of: root) ?? root
        result.properties = self.properties.map { slot in
            slot.map { slot in
                let property = Self.property(slot)
                return (names[property] ?? property) + slot.dropFirst(property.count)
            }
        }
        return result
    }
}
