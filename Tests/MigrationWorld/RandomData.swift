import Foundation
package import SeededRandom
package import Strata

/// Objects in plain arrays and dictionaries, changed as a migration should change them.
package struct RandomData {
    package struct Object {
        let entity: Int
        /// The topmost entity that it was created under, which with the key names it.
        let key: Int64
        let number: Int
        var values: [Int: Value]
    }

    /// A link between two objects, with its places in the orders of both.
    package struct Pair {
        var a: Int
        var b: Int
        var placeA: Int?
        var placeB: Int?
    }

    package var objects: [Int: Object] = [:]
    /// The attributes that objects had when a store was last opened.
    private var known: [Int: Set<Int>] = [:]
    /// The types that attributes had then.
    private var types: [Int: AttributeType] = [:]
    /// The shapes that relationships had then.
    private var shapes: [Int: RandomVersions.Link] = [:]
    package var links: [Int: [Pair]] = [:]

    package init() {}

    // MARK: Changing

    /// An attribute that objects get.
    package mutating func add(_ attribute: RandomVersions.Attribute_, to entity: Int, in model: RandomVersions) {
        for (number, object) in objects where model.isKind(object.entity, of: entity) {
            guard object.values[attribute.id] == nil else { continue }
            objects[number]?.values[attribute.id] = attribute.initial ?? .null
        }
    }

    /// What a store does when it is opened with a version: it knows nothing of versions that it was not opened with. An
    /// attribute that was required only in one of those fills nothing, and a whole number that was to be a double there
    /// and is a text now never was a double.
    package mutating func open(_ model: RandomVersions) {
        for link in model.links {
            if let before = shapes[link.id] { reshape(link, before) }
            shapes[link.id] = link
        }
        for entity in Set(objects.values.map(\.entity)) where model.entity(entity) == nil { delete(entity: entity) }
        for (number, object) in objects {
            let attributes = model.attributes(object.entity)
            for attribute in attributes {
                if let type = types[attribute.id], let value = objects[number]?.values[attribute.id] {
                    let conversion = ValueConversion(from: type, to: attribute.type)
                    objects[number]?.values[attribute.id] = conversion.convert(value) ?? .null
                }
                let isNew = known[number].map { !$0.contains(attribute.id) } ?? false
                let isMissing = !attribute.isOptional && (objects[number]?.values[attribute.id] ?? .null).isNull
                guard isNew || isMissing else { continue }
                objects[number]?.values[attribute.id] = attribute.initial ?? .null
            }
            known[number] = Set(attributes.map(\.id))
        }
        for attribute in model.entities.flatMap(\.attributes) { types[attribute.id] = attribute.type }
    }

    package mutating func forget(_ attribute: Int) {
        for number in objects.keys { objects[number]?.values[attribute] = nil }
    }

    private mutating func delete(entity: Int) {
        let gone = Set(objects.filter { $0.value.entity == entity }.keys)
        for number in gone { objects[number] = nil }
        for id in links.keys { links[id]?.removeAll { gone.contains($0.a) || gone.contains($0.b) } }
    }

    /// Gives a relationship another cardinality or order.
    private mutating func reshape(_ link: RandomVersions.Link, _ before: RandomVersions.Link) {
        var pairs = links[link.id] ?? []
        if before.a.isMany, !link.a.isMany { pairs = first(pairs, \.a, \.b, \.placeA) }
        if before.b.isMany, !link.b.isMany { pairs = first(pairs, \.b, \.a, \.placeB) }
        for index in pairs.indices {
            if !link.a.isOrdered || !before.a.isOrdered { pairs[index].placeA = nil }
            if !link.b.isOrdered || !before.b.isOrdered { pairs[index].placeB = nil }
        }
        links[link.id] = pairs
    }

    /// Of the members of each owner the first one.
    private func first(
        _ pairs: [Pair], _ owner: KeyPath<Pair, Int>, _ member: KeyPath<Pair, Int>, _ place: KeyPath<Pair, Int?>
    ) -> [Pair] {
        Dictionary(grouping: pairs) { $0[keyPath: owner] }.values.compactMap { group in
            sorted(group, member, place).first
        }
    }

    /// Members in their order; those without a place come last, by key.
    package func sorted(_ pairs: [Pair], _ member: KeyPath<Pair, Int>, _ place: KeyPath<Pair, Int?>) -> [Pair] {
        pairs.sorted { x, y in
            let left = (x[keyPath: place] ?? .max, objects[x[keyPath: member]]?.key ?? 0)
            let right = (y[keyPath: place] ?? .max, objects[y[keyPath: member]]?.key ?? 0)
            return left < right
        }
    }

    // MARK: Writing and reading

    /// Makes objects at random and saves them.
    package mutating func fill(_ context: ManagedObjectContext, _ model: RandomVersions, _ random: inout SplitMix64)
        throws
    {
        var made: [Int: ManagedObject] = [:]
        for number in 0..<(3 + random.below(15)) {
            guard let entity = random.pick(model.concrete) else { continue }
            let object = try context.insert(entityNamed: entity.name)
            var values: [Int: Value] = [:]
            for attribute in model.attributes(entity.id) {
                let value =
                    attribute.isOptional && random.oneIn(3) ? Value.null : RandomVersions.value(attribute.type, &random)
                values[attribute.id] = value
                object[attribute.name] = Self.any(value)
            }
            made[number] = object
            objects[number] = Object(entity: entity.id, key: object.objectID.key, number: number, values: values)
        }
        for link in model.links { fill(link, made, model, &random) }
        try context.save()
    }

    private mutating func fill(
        _ link: RandomVersions.Link, _ made: [Int: ManagedObject], _ model: RandomVersions, _ random: inout SplitMix64
    ) {
        let owners = made.keys.filter { model.isKind(objects[$0]?.entity ?? 0, of: link.a.entity) }.sorted()
        let members = made.keys.filter { model.isKind(objects[$0]?.entity ?? 0, of: link.b.entity) }.sorted()
        var pairs: [Pair] = []
        for owner in owners {
            for member in members.shuffled(using: &random).prefix(link.a.isMany ? random.below(4) : random.below(2)) {
                if !link.b.isMany, pairs.contains(where: { $0.b == member }) { continue }
                pairs.append(Pair(a: owner, b: member, placeA: nil, placeB: nil))
            }
        }
        if link.a.isOrdered { for index in pairs.indices { pairs[index].placeA = index } }
        if link.b.isOrdered {
            for (place, index) in pairs.indices.shuffled(using: &random).enumerated() { pairs[index].placeB = place }
        }
        set(link.a, pairs, \.a, \.b, \.placeA, made)
        if link.b.isOrdered { set(link.b, pairs, \.b, \.a, \.placeB, made) }
        links[link.id] = pairs
    }

    private func set(
        _ end: RandomVersions.End, _ pairs: [Pair], _ owner: KeyPath<Pair, Int>, _ member: KeyPath<Pair, Int>,
        _ place: KeyPath<Pair, Int?>, _ made: [Int: ManagedObject]
    ) {
        for (number, group) in Dictionary(grouping: pairs, by: { $0[keyPath: owner] }) {
            let members = sorted(group, member, place).compactMap { made[$0[keyPath: member]] }
            if end.isMany {
                if end.isOrdered { made[number]?[end.name] = members } else { made[number]?[end.name] = Set(members) }
            } else {
                made[number]?[end.name] = members.first
            }
        }
    }

    /// All that there should be, one line for each value, by entity and key.
    package func lines(_ model: RandomVersions) -> [String] {
        var result: [String] = []
        for object in objects.values {
            guard let entity = model.entity(object.entity) else { continue }
            let subject = "\(entity.name)/\(object.key)"
            for attribute in model.attributes(entity.id) {
                result.append("\(subject).\(attribute.name) = \(object.values[attribute.id] ?? .null)")
            }
            for link in model.links {
                if model.isKind(entity.id, of: link.a.entity) {
                    result.append(
                        "\(subject).\(link.a.name) -> \(members(object.number, link.id, link.a, \.a, \.b, \.placeA))")
                }
                if model.isKind(entity.id, of: link.b.entity) {
                    result.append(
                        "\(subject).\(link.b.name) -> \(members(object.number, link.id, link.b, \.b, \.a, \.placeB))")
                }
            }
        }
        return result.sorted()
    }

    private func members(
        _ number: Int, _ link: Int, _ end: RandomVersions.End, _ owner: KeyPath<Pair, Int>,
        _ member: KeyPath<Pair, Int>, _ place: KeyPath<Pair, Int?>
    ) -> [Int64] {
        let own = (links[link] ?? []).filter { $0[keyPath: owner] == number }
        let keys = sorted(own, member, place).compactMap { objects[$0[keyPath: member]]?.key }
        return end.isOrdered ? keys : keys.sorted()
    }

    /// The same of what a store has.
    package static func lines(_ context: ManagedObjectContext, _ model: ManagedObjectModel) throws -> [String] {
        var result: [String] = []
        for entity in model.entities where entity.parentIndex == nil {
            for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
                let own = object.objectID.entity
                let subject = "\(own.name)/\(object.objectID.key)"
                for attribute in own.attributes {
                    let value = object[attribute.name]
                    result.append("\(subject).\(attribute.name) = \(boxed(value, attribute.type))")
                }
                for relationship in own.relationships {
                    let value = object[relationship.name]
                    var keys: [Int64] = []
                    if let one = value as? ManagedObject { keys = [one.objectID.key] }
                    if let list = value as? [ManagedObject] { keys = list.map(\.objectID.key) }
                    if let set = value as? Set<ManagedObject> { keys = set.map(\.objectID.key).sorted() }
                    result.append("\(subject).\(relationship.name) -> \(keys)")
                }
            }
        }
        return result.sorted()
    }

    package static func any(_ value: Value) -> Any? {
        switch value {
        case .integer(let number): number
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        case .boolean(let flag): flag
        case .date(let date): date
        case .uuid(let uuid): uuid
        default: nil
        }
    }

    private static func boxed(_ value: Any?, _ type: AttributeType) -> Value {
        switch value {
        case let number as Int16: .integer(Int64(number))
        case let number as Int32: .integer(Int64(number))
        case let number as Int64: .integer(number)
        case let number as Decimal: .decimal(number)
        case let flag as Bool: .boolean(flag)
        case let number as Double: .double(number)
        case let text as String: .string(text)
        case let date as Date: .date(date)
        case let uuid as UUID: .uuid(uuid)
        default: .null
        }
    }
}
