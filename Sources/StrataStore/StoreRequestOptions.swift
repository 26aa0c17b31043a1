/// What one fetch or save asks of a kind of store beyond what every store can do. Stores that do not know the type
/// ignore it.
public protocol StoreRequestOptions: Sendable {}
