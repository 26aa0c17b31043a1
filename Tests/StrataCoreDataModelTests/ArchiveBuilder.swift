import Foundation

@testable import StrataCoreDataModel

/// Builds keyed archives object by object, even archives that no archiver writes.
struct ArchiveBuilder {
    private var objects: [PropertyList] = [.string("$null")]
    private var classes: [String: PropertyList] = [:]

    /// A place for an object that others refer to before it exists.
    mutating func reserve() -> PropertyList {
        objects.append(.null)
        return .uid(objects.count - 1)
    }

    /// An object of a class, at a place that was reserved or at a new one.
    mutating func object(
        _ name: String, _ members: [String: PropertyList] = [:], at reserved: PropertyList? = nil
    ) -> PropertyList {
        let kind =
            classes[name] ?? value(.dictionary(["$classname": .string(name), "$classes": .array([.string(name)])]))
        classes[name] = kind
        let place = reserved ?? reserve()
        objects[place.uid ?? 0] = .dictionary(members.merging(["$class": kind]) { first, _ in first })
        return place
    }

    /// A string, number or other plain value.
    mutating func value(_ value: PropertyList) -> PropertyList {
        let place = reserve()
        objects[place.uid ?? 0] = value
        return place
    }

    mutating func text(_ text: String) -> PropertyList { value(.string(text)) }

    mutating func array(_ elements: [PropertyList], _ name: String = "NSArray") -> PropertyList {
        object(name, ["NS.objects": .array(elements)])
    }

    mutating func dictionary(_ pairs: [(String, PropertyList)]) -> PropertyList {
        var keys: [PropertyList] = []
        for (key, _) in pairs { keys.append(text(key)) }
        return object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(pairs.map(\.1))])
    }

    func data(root: PropertyList) -> Data {
        PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": root]), "$objects": .array(objects),
        ]).binary()
    }
}

extension ArchiveBuilder {
    mutating func attribute(_ name: String, _ type: Int64, _ members: [String: PropertyList] = [:]) -> PropertyList {
        let own = ["NSPropertyName": text(name), "NSAttributeType": .integer(type), "NSIsOptional": .boolean(true)]
        return object("NSAttributeDescription", own.merging(members) { _, given in given })
    }

    mutating func entity(_ name: String, _ properties: [(String, PropertyList)]) -> PropertyList {
        let all = dictionary(properties)
        return object("NSEntityDescription", ["NSEntityName": text(name), "NSProperties": all])
    }

    /// The archive of a model.
    mutating func model(_ entities: [(String, PropertyList)], _ members: [String: PropertyList] = [:]) -> Data {
        let all = dictionary(entities)
        let root = object("NSManagedObjectModel", members.merging(["NSEntities": all]) { given, _ in given })
        return data(root: root)
    }

    /// A key path as it is archived: a call of `valueForKeyPath:`.
    mutating func keyPath(_ path: String, of operand: PropertyList? = nil) -> PropertyList {
        let specifier = object("NSKeyPathSpecifierExpression", ["NSKeyPath": text(path)])
        let receiver = operand ?? object("NSSelfExpression")
        return object(
            "NSKeyPathExpression",
            [
                "NSSelectorName": text("valueForKeyPath:"), "NSArguments": array([specifier], "NSMutableArray"),
                "NSOperand": receiver, "NSExpressionType": .integer(3),
            ])
    }

    mutating func constant(_ value: PropertyList) -> PropertyList {
        object("NSConstantValueExpression", ["NSConstantValue": value, "NSExpressionType": .integer(0)])
    }

    mutating func variable(_ name: String) -> PropertyList {
        object("NSVariableExpression", ["NSVariable": text(name), "NSExpressionType": .integer(2)])
    }

    mutating func comparison(
        _ left: PropertyList, _ type: Int64, _ right: PropertyList, options: Int64 = 0, modifier: Int64 = 0
    ) -> PropertyList {
        let kind = object(
            "NSPredicateOperator",
            ["NSOperatorType": .integer(type), "NSOptions": .integer(options), "NSModifier": .integer(modifier)])
        return object(
            "NSComparisonPredicate",
            ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": kind])
    }

    mutating func compound(_ type: Int64, _ parts: [PropertyList]) -> PropertyList {
        object(
            "NSCompoundPredicate", ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": array(parts)])
    }
}
