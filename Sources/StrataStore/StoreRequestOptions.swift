/// Store-specific options of one fetch or save. Stores that do not know the type ignore it.
public protocol StoreRequestOptions: Sendable {}
