/// A named fetch request that a model declares: objects of an entity that match a predicate, in an order.
///
///     let model = try ManagedObjectModel(
///         name: "Atlas",
///         fetches: [FetchTemplate("largeCities", of: "City", where: "population >= $minimum", sortedBy: "-population")]
///     ) {
///         Entity("City") { Attribute("population", .integer64) }
///     }
///
/// The texts are in the format language; `$variables` in them are filled in when the request is made. They cannot be
/// changed, since they are parsed once, when the template is created; the model reports their errors.
public struct FetchTemplate: Sendable, Hashable {
    /// The name, in lowerCamelCase: `largeCities`.
    public let name: String
    /// The entity of the requested objects.
    public let entity: String
    /// The condition in the format language; nil for all objects.
    public let predicate: String?
    /// The order: paths, or expressions of the format language, with `-` before those that descend.
    public let sorts: [String]
    /// The maximum number of objects; nil for all.
    public let limit: Int?
    /// A description, which becomes the comment of the generated code.
    public var documentation: String?
    /// Where it is declared.
    public var location: SourceLocation?
    /// What the texts say.
    package let content: any FetchContent

    /// Puts a template together from texts and what they say.
    package init(
        name: String, entity: String, predicate: String?, sorts: [String], limit: Int?, location: SourceLocation?,
        content: any FetchContent
    ) {
        self.name = name
        self.entity = entity
        self.predicate = predicate
        self.sorts = sorts
        self.limit = limit
        self.location = location
        self.content = content
    }

    /// The `$variables` that need a value, in alphabetical order.
    public var variables: [String] { content.variables.sorted() }

    /// What it is for.
    public func documented(_ text: String) -> FetchTemplate {
        var copy = self
        copy.documentation = text
        return copy
    }

    /// Templates are equal if their texts are equal.
    public static func == (a: FetchTemplate, b: FetchTemplate) -> Bool {
        a.name == b.name && a.entity == b.entity && a.predicate == b.predicate && a.sorts == b.sorts
            && a.limit == b.limit && a.documentation == b.documentation && a.location == b.location
    }

    /// Hashes name and entity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(entity)
    }
}

/// What the texts of a ``FetchTemplate`` say. The module above reads them, since conditions are about models.
package protocol FetchContent: Sendable {
    /// The `$variables` that need a value.
    var variables: Set<String> { get }
    /// What is wrong with condition and order, by a model that has no other faults.
    /// - Parameters:
    ///   - entity: The entity whose objects are asked for.
    ///   - property: The fetched property whose request it is, and the entity that has it; nil for a request by itself.
    func faults(
        of entity: EntityDescription, for property: (owner: EntityDescription, property: FetchedProperty)?,
        in model: ManagedObjectModel
    ) -> [String]
}

/// Declares a fetched property of an ``Entity``: objects of another entity that a condition finds, in an array that can
/// only be read.
///
///     Entity("Country") {
///         FetchedProperty("largeCities", of: "City", where: "country == $FETCH_SOURCE AND population > 100000")
///     }
///
/// `$FETCH_SOURCE` is the object whose property it is, and begins paths, too: `$FETCH_SOURCE.name`.
/// `$FETCHED_PROPERTY.name` and `$FETCHED_PROPERTY.userInfo.key` are texts of the declaration. It is not stored, and is
/// not part of the version hash.
public struct FetchedProperty: Sendable, Hashable {
    /// The request, under the name of the property.
    public var request: FetchTemplate
    /// Custom information for your app. Not part of the version hash.
    public var userInfo: [String: String] = [:]

    /// Makes a property of a request; its name is the property's.
    public init(_ request: FetchTemplate) { self.request = request }

    /// The name, in camelCase.
    public var name: String { request.name }
    /// The name of the entity of the objects.
    public var destination: String { request.entity }

    /// Custom information for your app.
    public func userInfo(_ info: [String: String]) -> FetchedProperty {
        var copy = self
        copy.userInfo = info
        return copy
    }

    /// Describes the property.
    public func documented(_ text: String) -> FetchedProperty {
        var copy = self
        copy.request.documentation = text
        return copy
    }

    /// The variable that stands for the object whose property it is.
    public static let sourceVariable = "FETCH_SOURCE"
    /// The variable that stands for the declaration.
    public static let propertyVariable = "FETCHED_PROPERTY"
}
