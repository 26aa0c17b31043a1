// Access by name: for models without generated classes, and for code that does not know the class.
import Foundation
import StrataStore

extension ManagedObject {
    /// A property by name.
    ///
    ///     let continent = try context.insert(entityNamed: "Continent")
    ///     continent["name"] = "South America"
    ///     print(continent["name"] as? String ?? "-")
    ///
    /// Use it for models without generated classes; a generated property is faster, and the compiler checks it. A to-one
    /// relationship gives and takes a ``ManagedObject``; a to-many gives a `Set` or array of them, and takes one or the other;
    /// a fetched property gives an array; attributes give and take their Swift type, nil for no value. Composites are
    /// dictionaries of type `[String: Any]`.
    ///
    /// A name that the entity lacks or a value of another type is a programmer error. Use ``value(forKey:)`` and
    /// ``setValue(_:forKey:)`` for names and values that come from outside.
    public final subscript(name: String) -> Any? {
        get {
            do { return try value(forKey: name) } catch { fatalError("\(error); check the name") }
        }
        set {
            do { try setValue(newValue, forKey: name) } catch { fatalError("\(error); check the name and the value") }
        }
    }

    /// A property by a name that may be wrong; see ``subscript(_:)`` for the types.
    ///
    ///     let name = try city.value(forKey: "name") as? String
    ///
    /// - Returns: The value; nil if there is none.
    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)``.
    public final func value(forKey name: String) throws(PersistenceError) -> Any? {
        let entity = binding.entity
        if let slot = entity.slot(named: name) {
            if flags.contains(.observed) { recordAccess(slot.index) }
            if slot.relationshipIndex != nil {
                if lacks(slot.index) { fireFault() }
                return target(slot.index)
            }
            return Unboxed.any(checkedValue(slot), slot.type)
        }
        if let attribute = entity.attribute(named: name) {
            var values: [String: Any] = [:]
            for index in attribute.slots {
                let slot = entity.slots[index]
                if flags.contains(.observed) { recordAccess(index) }
                values[String(slot.name.dropFirst(name.count + 1))] = Unboxed.any(checkedValue(slot), slot.type)
            }
            return values.isEmpty ? nil : values
        }
        if entity.fetchedPropertyIndex(named: name) != nil { return _fetched(name) as [ManagedObject] }
        guard let relationship = entity.relationship(named: name), let index = relationship.toManyIndex else {
            throw .unknownProperty(name, of: entity)
        }
        if flags.contains(.observed) { recordAccess(observerIndex(toMany: index)) }
        let objects = members(toMany: index).objects
        return relationship.isOrdered ? objects : Set(objects)
    }

    /// The value of a slot; reports it if it is damaged.
    private func checkedValue(_ slot: SlotDescription) -> Value {
        let value = currentValue(slot)
        // Also where the value is nil: text that is not JSON reads as nil, for instance.
        reportDamage(slot.index)
        return value
    }

    /// Sets a property by a name that may be wrong; see ``subscript(_:)`` for the types. Numbers of other types are accepted if
    /// nothing is lost.
    ///
    ///     for (name, value) in ["name": "Lima", "population": 10_092_000] as [String: Any] {
    ///         try city.setValue(value, forKey: name)
    ///     }
    ///
    /// Rules of the model such as ranges and lengths are checked by the save.
    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)``,
    ///   ``PersistenceError/wrongType(entity:property:expected:value:)``,
    ///   ``PersistenceError/readOnlyProperty(entity:property:)``; the object is unchanged then.
    public final func setValue(_ value: Any?, forKey name: String) throws(PersistenceError) {
        let entity = binding.entity
        if let slot = entity.slot(named: name) {
            guard slot.derivation == nil else { throw .readOnlyProperty(entity: entity.name, property: name) }
            if let index = slot.relationshipIndex { return try setTarget(value, slot, entity.relationships[index]) }
            guard let boxed = Unboxed.value(value, slot.type), Unboxed.fits(boxed, slot), write(boxed, slot) else {
                throw wrongType(name, slot.type?.name ?? "object", value)
            }
            return
        }
        if let attribute = entity.attribute(named: name) { return try setComposite(value, attribute) }
        if entity.fetchedPropertyIndex(named: name) != nil {
            throw .readOnlyProperty(entity: entity.name, property: name)
        }
        guard let relationship = entity.relationship(named: name), let index = relationship.toManyIndex else {
            throw .unknownProperty(name, of: entity)
        }
        let expected = "a \(relationship.isOrdered ? "list" : "set") of \(relationship.destination)"
        let objects: [ManagedObject]
        switch value {
        case nil: objects = []
        case let list as [ManagedObject]: objects = list
        case let set as Set<ManagedObject>: objects = Array(set)
        default: throw wrongType(name, expected, value)
        }
        let destination = binding.model.destination(of: relationship)
        guard objects.allSatisfy({ $0.binding.entity.descends(from: destination.index, in: binding.model) }) else {
            throw wrongType(name, expected, value)
        }
        assignMembers(objects, index)
    }

    /// A property of a known type by name.
    ///
    ///     let population = try city.value(forKey: "population", as: Int64.self)
    ///
    /// It also gives cases of enumerations and `Codable` values, which ``value(forKey:)`` gives in the form that is stored.
    /// - Returns: nil if there is no value, or if it is of another type.
    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)``.
    public final func value<T>(forKey name: String, as type: T.Type) throws(PersistenceError) -> T? {
        let value = try value(forKey: name)
        return value as? T ?? converted(value, name, to: type)
    }

    private func setTarget(
        _ value: Any?, _ slot: SlotDescription, _ relationship: RelationshipDescription
    ) throws(PersistenceError) {
        guard let value else { return setTarget(nil, slot.index) }
        guard let object = value as? ManagedObject,
            object.binding.entity.descends(from: relationship.destinationIndex, in: binding.model)
        else { throw wrongType(relationship.name, relationship.destination, value) }
        setTarget(object, slot.index)
    }

    private func setComposite(_ value: Any?, _ attribute: AttributeDescription) throws(PersistenceError) {
        let entity = binding.entity
        var rest: [String: Any] = [:]
        if let value {
            guard let values = value as? [String: Any] else { throw wrongType(attribute.name, "a composite", value) }
            rest = values
        }
        var boxed: [(SlotDescription, Value)] = []
        for index in attribute.slots {
            let slot = entity.slots[index]
            let element = String(slot.name.dropFirst(attribute.name.count + 1))
            let given = rest.removeValue(forKey: element)
            guard let value = Unboxed.value(given, slot.type), Unboxed.fits(value, slot) else {
                throw wrongType(slot.name, slot.type?.name ?? "", given)
            }
            boxed.append((slot, value))
        }
        if let unknown = rest.keys.sorted().first {
            throw .unknownProperty("\(attribute.name).\(unknown)", of: entity)
        }
        for (slot, value) in boxed { write(value, slot) }
    }

    private func wrongType(_ name: String, _ expected: String, _ value: Any?) -> PersistenceError {
        .wrongType(
            entity: binding.entity.name, property: name, expected: expected, value: value.map { "\($0)" } ?? "nil")
    }
}

/// Between Swift values of unknown type and boxed ones.
enum Unboxed {
    /// The Swift value of a boxed one, in the attribute's own type.
    static func any(_ value: Value, _ type: AttributeType?) -> Any? {
        switch (value, type) {
        case (.null, _): nil
        case (.integer(let number), .integer16?): Int16(clamping: number)
        case (.integer(let number), .integer32?): Int32(clamping: number)
        case (.integer(let number), .integer?): Int(number)
        case (.integer(let number), _): number
        case (.double(let number), .float?): Float(number)
        case (.double(let number), _): number
        case (.decimal(let number), _): number
        case (.string(let text), _): text
        case (.boolean(let flag), _): flag
        case (.date(let date), _): date
        case (.binary(let data), _): data
        case (.uuid(let uuid), _): uuid
        case (.uri(let uri), _): uri
        case (.geoPoint(let point), _): point
        case (.object(let key), _): key
        case (.composite(let values), _): values
        case (.list(let values), .array(let element)?): array(values, element)
        case (.list(let values), _): values
        case (.set(let values), _): values.members
        }
    }

    /// The elements of an array attribute in their own type.
    private static func array(_ values: [Value], _ element: AttributeType) -> Any {
        switch element {
        case .string: values.compactMap(String.init)
        case .boolean: values.compactMap(Bool.init)
        case .integer16: values.compactMap(Int16.init)
        case .integer32: values.compactMap(Int32.init)
        case .integer64: values.compactMap(Int64.init)
        case .integer: values.compactMap(Int.init)
        case .double: values.compactMap(Double.init)
        case .float: values.compactMap(Float.init)
        default: values
        }
    }

    /// The boxed form of a Swift value; nil if no attribute can have it.
    static func value(_ value: Any?, _ type: AttributeType?) -> Value? {
        guard let value else { return .null }
        if case .transformable? = type, let transformable = value as? any TransformableValue {
            return (try? TransformableCoding.encode(transformable)).map(Value.binary)
        }
        if type?.isJSON == true, !(value is Value), let encodable = value as? any Encodable {
            return (try? JSONCoding.encoded(encodable)).flatMap { JSONText.value(of: $0) }
        }
        switch value {
        case let value as Value: return value
        case let value as any AttributeValue: return value.attributeValue
        case let value as Int: return .integer(Int64(value))
        case let value as any BinaryInteger: return Int64(exactly: value).map(Value.integer)
        case let value as [UInt8]: return .binary(.init(value))
        default: return nil
        }
    }

    /// Whether a boxed value fits a slot.
    static func fits(_ value: Value, _ slot: SlotDescription) -> Bool {
        if value.isNull { return true }
        guard let type = slot.type else { return false }
        return switch type {
        case .integer16: Int16(value) != nil
        case .integer32: Int32(value) != nil
        case .integer64, .integer: Int64(value) != nil
        case .json: JSONText.text(of: value) != nil
        case .array(let element):
            if case .list(let elements) = value { element.firstMisfit(in: elements) == nil } else { false }
        case .decimal: Decimal(value) != nil
        case .double, .float: Double(value) != nil
        case .string: String(value) != nil
        case .boolean: Bool(value) != nil
        case .date: Date(value) != nil
        case .binary, .transformable: Data(value) != nil
        case .uuid: UUID(value) != nil
        case .uri: URL(value) != nil
        case .geoPoint: GeoPoint(value) != nil
        case .composite: false
        }
    }
}
