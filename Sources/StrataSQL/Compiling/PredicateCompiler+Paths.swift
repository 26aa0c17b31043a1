import Foundation
import StrataStore

extension PredicateCompiler {
    /// What a path leads to; see ``PredicateEvaluator`` for how keys are mapped over collections.
    package func walk(_ start: SQLOperand, _ names: ArraySlice<String>) throws(StoreError) -> SQLOperand {
        var current = start
        var rest = names
        while let name = rest.first {
            if current.isNull { return .null }
            rest = rest.dropFirst()
            if name.utf8.first == UInt8(ascii: "@") { return try apply(name, to: current, rest) }
            switch current {
            case .object(let object): current = try property(name, of: object)
            case .composite(let object, let attribute): current = try element(name, of: attribute, in: object)
            case .collection(let collection): current = .collection(try map(name, over: collection))
            case .json(let member): current = try self.member(name, of: member)
            case .choice, .constant, .term, .list: throw unsupported("the key \(name) of a \(current.kindName)")
            }
        }
        return current
    }

    // MARK: Single objects

    private func property(_ name: String, of object: SQLObject) throws(StoreError) -> SQLOperand {
        let entity = object.entity
        if let slot = entity.slot(named: name) {
            guard let index = slot.relationshipIndex else { return try attribute(slot, of: object) }
            return .object(try target(entity.relationships[index], slot, of: object))
        }
        if let attribute = entity.attribute(named: name) { return .composite(object, attribute) }
        if let relationship = entity.relationship(named: name) {
            return .collection(try members(relationship, of: object))
        }
        throw unsupported("\(name), for \(entity.name) has no such property")
    }

    private func element(
        _ name: String, of attribute: AttributeDescription, in object: SQLObject
    ) throws(StoreError) -> SQLOperand {
        guard let slot = object.entity.slot(named: "\(attribute.name).\(name)") else {
            throw unsupported("\(name), for \(object.entity.name).\(attribute.name) has no such element")
        }
        return try self.attribute(slot, of: object)
    }

    private func attribute(_ slot: SlotDescription, of object: SQLObject) throws(StoreError) -> SQLOperand {
        let column = try column(slot, of: object)
        return column.kind == .json ? .json(SQLMember(text: column.sql)) : .term(column)
    }

    private func column(_ slot: SlotDescription, of object: SQLObject) throws(StoreError) -> SQLTerm {
        let expressions = SlotExpression(layout: layout)
        var sql = try expressions.sql(object.entity, slot, alias: alias(of: object))
        // After a to-one that is nil there is no object whose members could be counted.
        if !slot.isStored, object.isOptional { sql = "CASE WHEN \(object.key) IS NOT NULL THEN \(sql) END" }
        let kind = expressions.kind(object.entity, slot)
        return SQLTerm(
            sql: sql, kind: kind, isDecimalText: true,
            origin: slot.isStored ? SQLTerm.Origin(object: object, slot: slot, layout: layout) : nil)
    }

    /// The name of the table with an object's columns.
    package func alias(of object: SQLObject) -> String {
        if let alias = object.alias { return alias }
        let alias = newAlias()
        object.scope.joins +=
            " LEFT JOIN \(layout.table(object.entity.index).quoted) AS \(alias) ON \(alias)._id = \(object.key)"
        object.alias = alias
        entities[alias] = object.entity.name
        return alias
    }

    private func target(
        _ relationship: RelationshipDescription, _ slot: SlotDescription, of object: SQLObject
    ) throws(StoreError) -> SQLObject {
        if let known = object.targets[relationship.name] { return known }
        let key = try SlotExpression(layout: layout).sql(object.entity, slot, alias: alias(of: object))
        let target = SQLObject(
            scope: object.scope, entity: layout.model.destination(of: relationship), key: key, isOptional: true)
        object.targets[relationship.name] = target
        return target
    }

    // MARK: Members

    /// How the members of a to-many relationship come into a scope.
    private struct Hop {
        let table: String
        let condition: String
        /// What is NULL where there is no member.
        let key: String
        let member: SQLObject
        let order: [String]
    }

    private func hop(
        _ relationship: RelationshipDescription, from object: SQLObject, into scope: SQLScope, keepsNil: Bool
    ) throws(StoreError) -> Hop {
        let alias = newAlias()
        let destination = layout.model.destination(of: relationship)
        if let side = layout.pairs(object.entity.index, relationship.index) {
            let key = "\(alias).\(side.far)"
            let order = side.order.map { ["\(alias).\($0) IS NULL", "\(alias).\($0)"] } ?? []
            return Hop(
                table: "\(side.table.quoted) AS \(alias)", condition: "\(alias).\(side.near) = \(object.key)", key: key,
                member: SQLObject(scope: scope, entity: destination, key: key, isOptional: keepsNil),
                order: order + [key])
        }
        guard case .inverseSlot(let slot) = relationship.storage,
            let column = layout.column(destination.index, slot)?.quoted
        else { throw unsupported("\(object.entity.name).\(relationship.name), which the store does not keep") }
        var condition = "\(alias).\(column) = \(object.key)"
        if let entities = layout.entityCondition(destination.index, subentities: true, alias: alias) {
            condition += " AND \(entities)"
        }
        entities[alias] = destination.name
        let key = "\(alias)._id"
        let order =
            layout.orderColumn(object.entity.index, relationship.index).map {
                ["\(alias).\($0) IS NULL", "\(alias).\($0)"]
            } ?? []
        return Hop(
            table: "\(layout.table(destination.index).quoted) AS \(alias)", condition: condition, key: key,
            member: SQLObject(scope: scope, entity: destination, key: key, alias: alias, isOptional: keepsNil),
            order: order + [key])
    }

    private func members(
        _ relationship: RelationshipDescription, of object: SQLObject
    ) throws(StoreError) -> SQLCollection {
        let scope = SQLScope()
        let hop = try hop(relationship, from: object, into: scope, keepsNil: false)
        scope.from = hop.table
        scope.conditions = [hop.condition]
        return SQLCollection(
            scope: scope, element: .object(hop.member), isSet: !relationship.isOrdered, isDistinct: true,
            order: relationship.isOrdered ? hop.order : nil, guards: object.isOptional ? [object.key] : [])
    }

    /// A key mapped over a collection: over an array it keeps nil, over a set it drops nil and what already exists;
    /// collections of collections are joined to one.
    private func map(_ name: String, over collection: SQLCollection) throws(StoreError) -> SQLCollection {
        var result = collection
        let element = collection.operand
        if case .object(let object) = element, let relationship = object.entity.relationship(named: name),
            relationship.isToMany
        {
            let scope = collection.scope
            let hop = try hop(relationship, from: object, into: scope, keepsNil: !collection.isSet)
            if collection.isSet {
                scope.joins += " JOIN \(hop.table) ON \(hop.condition)"
            } else {
                // Nil stays nil, and an empty collection gives nothing.
                scope.joins += " LEFT JOIN \(hop.table) ON \(hop.condition)"
                if object.isOptional {
                    scope.conditions.append("(\(object.key) IS NULL OR \(hop.key) IS NOT NULL)")
                } else {
                    scope.conditions.append("\(hop.key) IS NOT NULL")
                }
            }
            result.element = .object(hop.member)
            result.order = relationship.isOrdered ? collection.order.map { $0 + hop.order } : nil
            result.isDistinct = false
            return result
        }
        switch try walk(element, [name]) {
        case .term(let term): result.element = .value(term)
        case .json(let member): result.element = .json(member)
        case .object(let object): result.element = .object(object)
        case .composite(let object, let attribute):
            result.element = .composite(object, attribute)
            return result
        default: throw unsupported("the key \(name) of a \(element.kindName)")
        }
        result.isDistinct = false
        if collection.isSet { try dropNil(&result) }
        return result
    }

    private func dropNil(_ collection: inout SQLCollection) throws(StoreError) {
        collection.scope.conditions.append("\(try term(collection.operand).sql) IS NOT NULL")
    }

    /// The elements of a set, each once.
    package func distinct(_ collection: SQLCollection) throws(StoreError) -> SQLCollection {
        guard collection.isSet, !collection.isDistinct else { return collection }
        var result = collection
        if case .composite = collection.element { throw unsupported("a set of composites") }
        try makeDistinct(&result)
        return result
    }

    private func makeDistinct(_ collection: inout SQLCollection) throws(StoreError) {
        let value = try term(collection.operand)
        try checkInline(value)
        try checkCanonical(value)
        replace(
            &collection, by: "SELECT DISTINCT \(dialect.canonical(value)) AS v\(collection.scope.tail)", like: value)
    }

    /// Makes a collection the rows of a subselect with one column `v`.
    package func replace(_ collection: inout SQLCollection, by select: String, like value: SQLTerm) {
        let alias = newAlias()
        let scope = SQLScope(from: "(\(select)) AS \(alias)")
        if case .object(let object) = collection.element {
            collection.element = .object(
                SQLObject(scope: scope, entity: object.entity, key: "\(alias).v", isOptional: !collection.isSet))
        } else {
            collection.element = .value(
                SQLTerm(sql: "\(alias).v", kind: value.kind, isDecimalText: value.isDecimalText))
        }
        collection = SQLCollection(
            scope: scope, element: collection.element, isSet: collection.isSet, isDistinct: true, order: nil,
            guards: collection.guards)
    }

    // MARK: Collection operators

    private func apply(
        _ name: String, to operand: SQLOperand, _ rest: ArraySlice<String>
    ) throws(StoreError) -> SQLOperand {
        guard let op = CollectionOperator(rawValue: name) else { throw .invalidPredicate(.unknownOperator(name: name)) }
        guard case .collection(var collection) = operand else {
            switch operand {
            case .json(let member):
                guard op == .count, rest.isEmpty else { throw unsupported("\(name) of an array in JSON") }
                return .term(
                    try evaluated(.function(.count), [term(of: member)], kind: .integer) { .path($0[0], [name]) })
            case .choice: throw unsupported("\(name) of one of two values")
            case .constant, .list: throw unsupported("\(name) of a fixed list")
            default: throw .invalidPredicate(.noCollection(found: operand.kindName, context: name))
            }
        }
        switch op {
        case .count:
            guard rest.isEmpty else { throw unsupported("a key after \(name)") }
            return .term(try count(collection))
        case .sum, .average, .minimum, .maximum:
            let bag = try bag(collection, rest)
            let function: FetchFunction =
                switch op {
                case .sum: .sum
                case .average: .average
                case .minimum: .minimum
                default: .maximum
                }
            return .term(try aggregate(function, bag, name))
        case .union, .distinctUnion:
            let keys = rest.prefix { $0.utf8.first != UInt8(ascii: "@") }
            collection = try bag(collection, keys)
            if op == .distinctUnion { try makeDistinct(&collection) }
            return try walk(.collection(collection), rest.dropFirst(keys.count))
        }
    }

    /// How many elements there are.
    package func count(_ collection: SQLCollection) throws(StoreError) -> SQLTerm {
        let collection = try distinct(collection)
        return SQLTerm(sql: collection.guarded("(SELECT count(*)\(collection.scope.tail))"), kind: .integer)
    }

    /// The values at the end of a path over all elements, without nil, as an array.
    private func bag(_ collection: SQLCollection, _ path: ArraySlice<String>) throws(StoreError) -> SQLCollection {
        var result = try distinct(collection)
        var rest = path
        var mayRepeat = false
        while let name = rest.first, name.utf8.first != UInt8(ascii: "@") {
            if mayRepeat {
                throw unsupported("a key mapped over a set of each element, \(path.joined(separator: "."))")
            }
            rest = rest.dropFirst()
            if case .object(let object) = result.operand, let relationship = object.entity.relationship(named: name),
                relationship.isToMany
            {
                // A set in each element: what is mapped over it would have to be made a set again for each.
                mayRepeat = !relationship.isOrdered
            }
            result.isSet = false
            result = try map(name, over: result)
        }
        if !rest.isEmpty {
            guard case .term(let term) = try walk(result.operand, rest) else {
                throw unsupported("\(path.joined(separator: ".")) of each element")
            }
            result.element = .value(term)
        }
        result.isSet = false
        try dropNil(&result)
        return result
    }
}
