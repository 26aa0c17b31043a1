import Foundation
package import SeededRandom
package import Strata

/// A model that changes at random, with identities that the changes do not touch: what continues what is known without
/// asking the inference.
package struct RandomVersions {
    package struct Attribute_ {
        let id: Int
        var name: String
        var type: AttributeType
        var isOptional: Bool
        var initial: Value?
        var former: [String] = []
    }

    /// One end of a relationship.
    package struct End {
        var entity: Int
        var name: String
        var isMany: Bool
        var isOrdered: Bool
        var former: [String] = []
    }

    package struct Link {
        let id: Int
        var a: End
        var b: End
    }

    package struct Entity_ {
        let id: Int
        var name: String
        var parent: Int?
        var isAbstract: Bool
        var attributes: [Attribute_]
        var former: [String] = []
    }

    package var entities: [Entity_] = []
    package var links: [Link] = []
    private var next = 0
    private var nextName = 0

    package init(_ random: inout SplitMix64) {
        for _ in 0..<(2 + random.below(3)) { addEntity(&random) }
        for _ in 0..<(1 + random.below(4)) { addLink(&random) }
    }

    private mutating func number() -> Int {
        next += 1
        return next
    }

    private mutating func name(_ stem: String) -> String {
        nextName += 1
        return "\(stem)\(nextName)"
    }

    package func entity(_ id: Int) -> Entity_? { entities.first { $0.id == id } }

    /// The entity and those that it inherits from.
    package func lineage(_ id: Int) -> [Entity_] {
        var result: [Entity_] = []
        var next: Int? = id
        while let id = next, let entity = entity(id) {
            result.append(entity)
            next = entity.parent
        }
        return result
    }

    package func isKind(_ id: Int, of other: Int) -> Bool { lineage(id).contains { $0.id == other } }
    package var concrete: [Entity_] { entities.filter { !$0.isAbstract } }
    package func attributes(_ id: Int) -> [Attribute_] { lineage(id).flatMap(\.attributes) }

    // MARK: Building

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .double, .string, .boolean, .date, .uuid, .decimal,
    ]

    package static func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        switch type {
        case .integer16: .integer(Int64(random.below(60000)) - 30000)
        case .integer32: .integer(Int64(random.below(4_000_000_000)) - 2_000_000_000)
        case .integer64: .integer(Int64(bitPattern: random.next()) >> Int64(random.below(60)))
        case .double: .double(Double(Int64(bitPattern: random.next()) >> 20) / 1024)
        case .string:
            .string(random.oneIn(3) ? "\(random.below(99))" : ["", "é", "a'b\"c", "Zoë", "nul"][random.below(5)])
        case .boolean: .boolean(random.oneIn(2))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(random.below(1_000_000)) / 8))
        case .uuid:
            .uuid(
                UUID(
                    uuid: (
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(random.below(256)),
                        UInt8(random.below(256))
                    )))
        default: .decimal(Decimal(random.below(100_000)) / 100)
        }
    }

    private mutating func newAttribute(_ random: inout SplitMix64, name given: String? = nil) -> Attribute_ {
        let type = Self.types[random.below(Self.types.count)]
        let isOptional = random.oneIn(2)
        // A plain nil would be the value nil.
        let initial: Value? = !isOptional || random.oneIn(3) ? .some(Self.value(type, &random)) : .none
        return Attribute_(
            id: number(), name: given ?? name("value"), type: type, isOptional: isOptional, initial: initial)
    }

    private mutating func addEntity(_ random: inout SplitMix64) {
        let parent = random.oneIn(2) ? random.pick(entities.map(\.id)) : nil
        var entity = Entity_(id: number(), name: name("Entity"), parent: parent, isAbstract: false, attributes: [])
        for _ in 0..<(1 + random.below(4)) { entity.attributes.append(newAttribute(&random)) }
        entities.append(entity)
    }

    private mutating func addLink(_ random: inout SplitMix64) {
        guard let a = random.pick(entities.map(\.id)), let b = random.pick(entities.map(\.id)) else { return }
        let manyA = random.oneIn(2)
        let manyB = random.oneIn(2)
        links.append(
            Link(
                id: number(),
                a: End(entity: a, name: name("to"), isMany: manyA, isOrdered: manyA && random.oneIn(2)),
                b: End(entity: b, name: name("from"), isMany: manyB, isOrdered: manyB && random.oneIn(3))))
    }

    package func model() throws -> ManagedObjectModel {
        let declared = entities.map { entity in
            var result = Entity(name: entity.name, location: nil)
            result.parent = entity.parent.flatMap { self.entity($0)?.name }
            result.isAbstract = entity.isAbstract
            result.formerNames = entity.former
            result.attributes = entity.attributes.map { attribute in
                var result = Attribute(
                    attribute.name, attribute.type, optional: attribute.isOptional,
                    default: attribute.initial.map(AttributeDefault.value))
                result.formerNames = attribute.former
                return result
            }
            for link in links {
                for (end, other) in [(link.a, link.b), (link.b, link.a)] where end.entity == entity.id {
                    var relationship = Relationship(
                        end.name, to: self.entity(other.entity)?.name ?? "",
                        end.isMany ? (end.isOrdered ? .orderedToMany : .toMany) : .optionalToOne, inverse: other.name)
                    relationship.formerNames = end.former
                    result.relationships.append(relationship)
                }
            }
            return result
        }
        return try ManagedObjectModel(name: "Random", entities: declared)
    }

    // MARK: Changing

    /// Changes the model up to a number of times, and says in words what the changes did. A change that gives no sound model is not
    /// made.
    package mutating func changeSeveralTimes(
        upTo most: Int, _ random: inout SplitMix64, data: inout RandomData
    ) -> [String] {
        var log: [String] = []
        for _ in 0..<(1 + random.below(most)) {
            let before = (self, data)
            let text = change(&random, data: &data)
            if (try? model()) == nil {
                (self, data) = before
            } else if !text.isEmpty {
                log.append(text)
            }
        }
        return log
    }

    /// Changes the model, and says in words what it did.
    private mutating func change(_ random: inout SplitMix64, data: inout RandomData) -> String {
        switch random.below(15) {
        case 0, 1: return renameAttribute(&random)
        case 2: return swapAttributes(&random)
        case 3: return replaceAttribute(&random, &data)
        case 4: return addAttribute(&random, &data)
        case 5: return removeAttribute(&random, &data)
        case 6: return convert(&random)
        case 7: return require(&random)
        case 8: return renameEntity(&random)
        case 9: return renameLink(&random)
        case 10: return changeLink(&random)
        case 11: return removeOrAddLink(&random, &data)
        case 12: return moveToParent(&random, &data)
        case 13: return insertParent(&random)
        default: return addOrRemoveEntity(&random)
        }
    }

    private func place(_ random: inout SplitMix64) -> (Int, Int)? {
        let places = entities.indices.flatMap { entity in entities[entity].attributes.indices.map { (entity, $0) } }
        return random.pick(places)
    }

    private mutating func renameAttribute(_ random: inout SplitMix64) -> String {
        guard let (entity, index) = place(&random) else { return "" }
        let old = entities[entity].attributes[index].name
        guard !wasLeft(old) else { return "" }
        let new = name("value")
        entities[entity].attributes[index].name = new
        entities[entity].attributes[index].former.insert(old, at: 0)
        return "renames \(old) to \(new)"
    }

    /// Whether an attribute had the name before: of two that were renamed from one name only the versions in between say which is
    /// which.
    private func wasLeft(_ name: String) -> Bool {
        entities.flatMap(\.attributes).contains { $0.former.contains(name) }
    }

    private mutating func swapAttributes(_ random: inout SplitMix64) -> String {
        guard let (entity, first) = place(&random),
            let second = random.pick(Array(entities[entity].attributes.indices)),
            first != second, entities[entity].attributes[first].former.isEmpty,
            entities[entity].attributes[second].former.isEmpty
        else { return "" }
        let a = entities[entity].attributes[first].name
        let b = entities[entity].attributes[second].name
        guard !wasLeft(a), !wasLeft(b) else { return "" }
        entities[entity].attributes[first].name = b
        entities[entity].attributes[second].name = a
        entities[entity].attributes[first].former = [a]
        entities[entity].attributes[second].former = [b]
        return "swaps \(a) and \(b)"
    }

    /// The name of an attribute goes to a new one.
    private mutating func replaceAttribute(_ random: inout SplitMix64, _ data: inout RandomData) -> String {
        guard let (entity, index) = place(&random), entities[entity].attributes[index].former.isEmpty else { return "" }
        let old = entities[entity].attributes[index].name
        guard !wasLeft(old) else { return "" }
        entities[entity].attributes[index].name = name("value")
        entities[entity].attributes[index].former.insert(old, at: 0)
        let new = newAttribute(&random, name: old)
        entities[entity].attributes.append(new)
        data.add(new, to: entities[entity].id, in: self)
        return "gives the name \(old) to a new attribute"
    }

    private mutating func addAttribute(_ random: inout SplitMix64, _ data: inout RandomData) -> String {
        guard let index = random.pick(Array(entities.indices)) else { return "" }
        let new = newAttribute(&random)
        entities[index].attributes.append(new)
        data.add(new, to: entities[index].id, in: self)
        return "adds \(entities[index].name).\(new.name)"
    }

    private mutating func removeAttribute(_ random: inout SplitMix64, _ data: inout RandomData) -> String {
        guard let (entity, index) = place(&random) else { return "" }
        // Somebody else has its former name, and would be taken for it if nobody claimed that any more.
        let names = Set(entities.flatMap(\.attributes).map(\.name))
        guard names.isDisjoint(with: entities[entity].attributes[index].former) else { return "" }
        let gone = entities[entity].attributes.remove(at: index)
        data.forget(gone.id)
        return "removes \(entities[entity].name).\(gone.name)"
    }

    private mutating func convert(_ random: inout SplitMix64) -> String {
        guard let (entity, index) = place(&random) else { return "" }
        let old = entities[entity].attributes[index]
        let target: AttributeType =
            switch old.type {
            case .integer16: [.integer32, .double, .string][random.below(3)]
            case .integer32: [.integer64, .double, .decimal][random.below(3)]
            case .integer64: .string
            case .boolean: .integer64
            case .double, .uuid, .decimal: .string
            default: old.type
            }
        guard target != old.type else { return "" }
        let conversion = ValueConversion(from: old.type, to: target)
        entities[entity].attributes[index].type = target
        entities[entity].attributes[index].initial = old.initial.flatMap(conversion.convert)
        return "makes \(old.name) a \(target.name)"
    }

    private mutating func require(_ random: inout SplitMix64) -> String {
        guard let (entity, index) = place(&random) else { return "" }
        let attribute = entities[entity].attributes[index]
        entities[entity].attributes[index].isOptional.toggle()
        guard attribute.isOptional else { return "makes \(attribute.name) optional" }
        entities[entity].attributes[index].initial = attribute.initial ?? Self.value(attribute.type, &random)
        return "makes \(attribute.name) required"
    }

    private mutating func renameEntity(_ random: inout SplitMix64) -> String {
        guard let index = random.pick(Array(entities.indices)) else { return "" }
        let old = entities[index].name
        entities[index].name = name("Entity")
        entities[index].former.insert(old, at: 0)
        return "renames \(old) to \(entities[index].name)"
    }

    private mutating func renameLink(_ random: inout SplitMix64) -> String {
        guard let index = random.pick(Array(links.indices)) else { return "" }
        let end = random.oneIn(2) ? \Link.a : \Link.b
        let old = links[index][keyPath: end].name
        links[index][keyPath: end].name = name("to")
        links[index][keyPath: end].former.insert(old, at: 0)
        return "renames \(old) to \(links[index][keyPath: end].name)"
    }

    private mutating func changeLink(_ random: inout SplitMix64) -> String {
        guard let index = random.pick(Array(links.indices)) else { return "" }
        let before = links[index]
        var link = before
        let end = random.oneIn(2) ? \Link.a : \Link.b
        if link[keyPath: end].isMany, random.oneIn(2) {
            link[keyPath: end].isOrdered.toggle()
        } else {
            link[keyPath: end].isMany.toggle()
            link[keyPath: end].isOrdered = link[keyPath: end].isMany && random.oneIn(2)
        }
        // Both ends become one only by a custom stage.
        if !link.a.isMany, !link.b.isMany, before.a.isMany || before.b.isMany { return "" }
        links[index] = link
        return "makes \(link.a.name) \(link.a.isMany ? "many" : "one")\(link.a.isOrdered ? " ordered" : ""), "
            + "\(link.b.name) \(link.b.isMany ? "many" : "one")\(link.b.isOrdered ? " ordered" : "")"
    }

    private mutating func removeOrAddLink(_ random: inout SplitMix64, _ data: inout RandomData) -> String {
        if random.oneIn(2) || links.isEmpty {
            addLink(&random)
            return "adds a relationship"
        }
        let gone = links.remove(at: random.below(links.count))
        data.links[gone.id] = nil
        return "removes \(gone.a.name)"
    }

    private mutating func moveToParent(_ random: inout SplitMix64, _ data: inout RandomData) -> String {
        guard let (child, index) = place(&random),
            let parent = entities.firstIndex(where: { $0.id == entities[child].parent })
        else { return "" }
        let attribute = entities[child].attributes.remove(at: index)
        entities[parent].attributes.append(attribute)
        data.add(attribute, to: entities[parent].id, in: self)
        return "moves \(attribute.name) to \(entities[parent].name)"
    }

    private mutating func insertParent(_ random: inout SplitMix64) -> String {
        guard let index = random.pick(Array(entities.indices)) else { return "" }
        let parent = Entity_(
            id: number(), name: name("Entity"), parent: entities[index].parent, isAbstract: random.oneIn(2),
            attributes: [])
        entities[index].parent = parent.id
        entities.append(parent)
        return "inserts \(parent.name) above \(entities[index].name)"
    }

    private mutating func addOrRemoveEntity(_ random: inout SplitMix64) -> String {
        let leaves = entities.indices.filter { index in
            !entities.contains { $0.parent == entities[index].id }
                && !links.contains { $0.a.entity == entities[index].id || $0.b.entity == entities[index].id }
        }
        guard random.oneIn(2), entities.count > 2, let index = random.pick(leaves) else {
            addEntity(&random)
            return "adds \(entities.last?.name ?? "")"
        }
        let gone = entities.remove(at: index)
        return "removes \(gone.name)"
    }
}
