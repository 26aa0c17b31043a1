// Objects and IDs as arguments of formats: `FetchPredicate(format: "country == %@", peru)`. Keys are final from birth, so
// that an object need not be saved for it.

extension ObjectID: PredicateArgument {
    /// The key: what references to the object compare as.
    public var predicateArgument: Value { .object(key) }
}

extension ManagedObject: PredicateArgument {
    /// The key: what references to the object compare as.
    public final var predicateArgument: Value { .object(key) }
}
