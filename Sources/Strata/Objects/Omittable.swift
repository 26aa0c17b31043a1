import StrataStore

/// The type of an argument that can be omitted, in the initializers that are generated for an entity.
///
/// You write the value, or nil for an optional property, as if the type was `Value`:
///
///     Country(
///         context: context, countryId: "PE", name: "Peru", capital: nil, areaSquareKilometres: 1_285_220, languages: ["es"],
///         continent: southAmerica)
///
/// An argument that you write is assigned, even where it equals the default of the model. One that you omit is not: the
/// property has the model's default, and an upsert leaves the value of the existing object; see ``MergePolicy``. For a
/// property that is not optional, an optional value that is nil counts as omitted.
public typealias Omittable<Value> = Value??

extension Optional where Wrapped: ExpressibleByNilLiteral {
    /// The default of an ``Omittable`` argument: nothing is assigned.
    @inlinable public static var omitted: Self { .some(nil) }
}

// What generated initializers call.
extension ManagedObject {
    /// Assigns a required attribute of a new object unless it is omitted.
    @inlinable
    public final func _initialize<T: RowValue>(_ value: Omittable<T>, _ slot: Int) {
        if case .some(.some(let value)) = value { _setValue(value, slot) }
    }

    /// Assigns an optional attribute of a new object unless it is omitted.
    @inlinable
    public final func _initializeOptional<T: RowValue>(_ value: Omittable<T?>, _ slot: Int) {
        switch value {
        case .none: setNil(slot)
        case .some(.none): break
        case .some(.some(let value)): _setOptionalValue(value, slot)
        }
    }

    /// Assigns a required attribute that has an accessor of its own, unless it is omitted.
    public final func _initialize<T>(_ value: Omittable<T>, _ assign: (T) -> Void) {
        if case .some(.some(let value)) = value { assign(value) }
    }

    /// Assigns an optional attribute that has an accessor of its own, unless it is omitted.
    public final func _initializeOptional<T>(_ value: Omittable<T?>, _ assign: (T?) -> Void) {
        switch value {
        case .none: assign(nil)
        case .some(.none): break
        case .some(.some(let value)): assign(value)
        }
    }

    /// Sets an optional to-one relationship of a new object unless it is omitted.
    @inlinable
    public final func _initializeToOne<D: ManagedObject>(_ object: Omittable<D?>, _ slot: Int) {
        switch object {
        case .none: setTarget(nil, slot)
        case .some(.none): break
        case .some(.some(let object)): setTarget(object, slot)
        }
    }
}
