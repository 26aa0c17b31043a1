import Foundation

/// An archive of `NSKeyedArchiver`: objects that refer to each other by number. Objects stay unresolved until they are
/// asked for, since archives of models refer to themselves in cycles.
package struct KeyedArchive: Sendable {
    /// The objects by UID.
    package let objects: [PropertyList]
    /// The entry points; `root` in most archives.
    package let top: [String: PropertyList]

    /// Reads an archive from a binary or XML property list.
    package init(data: Data) throws(PropertyListError) { try self.init(PropertyList(data: data)) }

    /// Takes a property list as an archive.
    package init(_ list: PropertyList) throws(PropertyListError) {
        guard let members = list.dictionary, let objects = members["$objects"]?.array,
            let top = members["$top"]?.dictionary
        else { throw .archive("it has no $objects and $top") }
        self.objects = objects
        self.top = top
    }

    /// The root object.
    package var root: PropertyList? { resolve(top["root"]) ?? top.values.first.flatMap { resolve($0) } }

    /// The object that a value stands for: itself, or what its UID refers to; nil for `$null` and for broken references.
    package func resolve(_ value: PropertyList?) -> PropertyList? {
        guard let value else { return nil }
        guard case .uid(let uid) = value else { return value }
        guard objects.indices.contains(uid) else { return nil }
        let object = objects[uid]
        if case .string("$null") = object { return nil }
        if case .uid = object { return nil }
        return object
    }

    /// The name of an object's class.
    package func className(of object: PropertyList?) -> String? {
        resolve(resolve(object)?.dictionary?["$class"])?.dictionary?["$classname"]?.string
    }

    /// A member of an object, resolved.
    package func member(_ key: String, of object: PropertyList?) -> PropertyList? {
        resolve(resolve(object)?.dictionary?[key])
    }

    /// The text of a string object, including an `NSString` or `NSMutableString`.
    package func string(_ value: PropertyList?) -> String? {
        guard let object = resolve(value) else { return nil }
        return object.string ?? resolve(object.dictionary?["NS.string"])?.string
    }

    /// The elements of an array, set or ordered set, unresolved.
    package func elements(_ value: PropertyList?) -> [PropertyList]? {
        guard let object = resolve(value) else { return nil }
        if let array = object.array { return array }
        guard let members = object.dictionary else { return nil }
        if let array = resolve(members["NS.objects"])?.array { return array }
        // Ordered sets, and the sets of old archives, number their elements.
        var numbered: [PropertyList] = []
        while let next = members["NS.object.\(numbered.count)"] { numbered.append(next) }
        return numbered.isEmpty ? nil : numbered
    }

    /// The pairs of a dictionary with string keys, the values unresolved: `NSDictionary`, or Core Data's
    /// `NSKnownKeysDictionary1` with its keys in a mapping of their own. Without an order that means anything.
    package func pairs(_ value: PropertyList?) -> [(key: String, value: PropertyList)]? {
        guard let members = resolve(value)?.dictionary else { return nil }
        let keys: [PropertyList]
        let values: [PropertyList]
        if let named = resolve(members["NS.keys"])?.array, let objects = resolve(members["NS.objects"])?.array {
            (keys, values) = (named, objects)
        } else if let mapping = resolve(members["NS.searchMapping"] ?? members["searchMapping"]),
            let named = elements(mapping.dictionary?["NS.keys"] ?? mapping.dictionary?["keys"]),
            let objects = elements(members["NS.values"] ?? members["values"])
        {
            (keys, values) = (named, objects)
        } else {
            return nil
        }
        return zip(keys, values).compactMap { key, value in string(key).map { (key: $0, value: value) } }
    }
}

extension KeyedArchive {
    /// The number of an `NSDecimalNumber`, which archives its mantissa as 16-bit units, the least significant first.
    package func decimal(_ value: PropertyList?) -> Decimal? {
        guard let mantissa = member("NS.mantissa", of: value)?.data, mantissa.count == 16,
            let exponent = member("NS.exponent", of: value)?.integer, (-128...127).contains(exponent)
        else { return nil }
        let isBigEndian = member("NS.mantissa.bo", of: value)?.integer == 2
        let bytes = [UInt8](mantissa)
        var number = Decimal(0)
        for unit in (0..<8).reversed() {
            let (low, high) =
                isBigEndian ? (bytes[2 * unit + 1], bytes[2 * unit]) : (bytes[2 * unit], bytes[2 * unit + 1])
            number = number * 65536 + Decimal(Int(low) | Int(high) << 8)
        }
        var scaled = Decimal(sign: .plus, exponent: Int(exponent), significand: number)
        if member("NS.negative", of: value)?.boolean ?? false { scaled.negate() }
        return scaled
    }
}
