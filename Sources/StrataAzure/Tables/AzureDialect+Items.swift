import Foundation

extension AzureDialect {
    /// An item without the columns that the server keeps by itself: those of the outermost object. In
    /// ``AzureVersion/mobileServices`` only items whose id is text have such columns.
    public func withoutSystemColumns(_ item: JSONObject) -> JSONObject {
        if version == .mobileServices, item["id"]?.string == nil { return item }
        return JSONObject(item.filter { !AzureSystemProperty.isColumn($0.name, in: version) })
    }

    /// The version of an item, if it is text and the id is, too.
    func version(of item: JSONObject) -> String? {
        guard item["id"]?.string != nil else { return nil }
        return item[AzureSystemProperty.version.column(in: version)]?.string
    }

    /// An item as the body of a request.
    /// - Parameters:
    ///   - allowsID: Whether the item may have an id that the server gave.
    ///   - removesSystemColumns: Whether the server's own columns are left out.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedItem``, ``AzureError/invalidItem``,
    ///   ``AzureError/invalidItemID`` or ``AzureError/existingItemID``.
    public func serialize(
        _ item: JSONValue?, allowsID: Bool, removesSystemColumns: Bool
    ) throws(RemoteError) -> Data {
        guard let item, !item.isNull else { throw error(.expectedItem) }
        guard let members = item.members else { throw error(.invalidItem) }
        if !allowsID { try checkNew(members) }
        return try body(.object(removesSystemColumns ? withoutSystemColumns(members) : members))
    }

    /// The item in the body of an answer, with the version of the header `ETag` if there is one.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedBodyInResponse`` or ``AzureError/expectedItemInResponse``, or of
    ///   the domain ``AzureError/jsonDomain``.
    public func item(_ response: WireResponse) throws(RemoteError) -> JSONObject {
        guard var members = try json(response).members else {
            throw invalidAnswer(.expectedItemInResponse, response)
        }
        if let tag = Self.version(ofTag: response[header: "ETag"]) {
            members[AzureSystemProperty.version.column(in: version)] = .string(tag)
        }
        return members
    }

    /// Of an answer to a write in ``AzureVersion/mobileServices``: the item without columns of the server's own that were
    /// not asked for. The version stays if the answer told it.
    func withoutUnasked(_ item: JSONObject, _ response: WireResponse) -> JSONObject {
        guard version == .mobileServices, item["id"]?.string != nil else { return item }
        let tagged =
            response[header: "ETag"] == nil ? nil : AzureSystemProperty.version.column(in: version)
        return JSONObject(
            item.filter { !$0.name.hasPrefix("__") || systemColumns.contains($0.name) || $0.name == tagged })
    }

    /// The items in the body of an answer to a query.
    /// - Returns: The items, how many there are in all if the answer tells, and what asks for the next ones.
    /// - Throws: ``RemoteError`` of code ``AzureError/expectedBodyInResponse``, ``AzureError/expectedItemsInResponse`` or
    ///   ``AzureError/expectedTotalCountInResponse``, or of the domain ``AzureError/jsonDomain``.
    public func list(_ response: WireResponse) throws(RemoteError) -> AzureList {
        let json = try json(response)
        var list = AzureList(nextLink: Self.nextLink(response[header: "Link"]))
        if let elements = json.elements {
            list.items = elements
            return list
        }
        guard json.members != nil else { throw invalidAnswer(.expectedItemsInResponse, response) }
        // The newer services have their own word for it, and tell no number unless asked.
        let isNewer = version == .datasync || json["items"]?.elements != nil
        switch json["count"] {
        case let count? where count.double != nil: list.totalCount = count.integer.flatMap { Int(exactly: $0) }
        case nil where isNewer, .null where isNewer: break
        default: throw invalidAnswer(.expectedTotalCountInResponse, response)
        }
        guard let elements = (isNewer ? json["items"] ?? json["results"] : json["results"])?.elements else {
            throw invalidAnswer(.expectedItemsInResponse, response)
        }
        list.items = elements
        if let next = json["nextLink"]?.string, !next.isEmpty { list.nextLink = next }
        return list
    }

    /// The address of the next page in the header `Link`: what comes before the first semicolon, if `rel=next` follows.
    static func nextLink(_ header: String?) -> String? {
        guard let header, let mark = header.firstIndex(of: ";") else { return nil }
        let relation = header[header.index(after: mark)...].filter { $0 != " " && $0 != "\"" }
        var address = header[..<mark].trimmingCharacters(in: .whitespaces)
        if address.hasPrefix("<"), address.hasSuffix(">") { address = String(address.dropFirst().dropLast()) }
        return relation == "rel=next" && !address.isEmpty ? address : nil
    }

    func json(_ response: WireResponse) throws(RemoteError) -> JSONValue {
        guard !response.body.isEmpty else { throw invalidAnswer(.expectedBodyInResponse, response) }
        do throws(JSONError) {
            return try JSONValue(parsing: response.body)
        } catch {
            throw RemoteError(
                .invalidAnswer, domain: AzureError.jsonDomain, code: response.status, message: "the answer is \(error)",
                status: response.status, body: response.body)
        }
    }

    func invalidAnswer(_ code: AzureError, _ response: WireResponse, _ message: String? = nil) -> RemoteError {
        code.error(message, version: version, status: response.status, body: response.body)
    }
}

/// The items of an answer, as the dialect reads them.
///
///     let list = try dialect.list(response)
///     for item in list.items { print(item["id"]?.string ?? "-") }
///     print(list.totalCount ?? list.items.count, list.nextLink ?? "no further page")
///
/// ``AzureDialect/list(_:)`` returns it for answers of all versions, whether these are arrays or objects with `items`. It is
/// the level of the wire format: ``AzureTable/read(_:options:)`` of a client gives ``AzureRows``, and sends the request.
public struct AzureList: Sendable, Hashable {
    /// The items.
    public var items: [JSONValue] = []
    /// How many rows meet the filter in all; nil if the server did not tell.
    public var totalCount: Int?
    /// What asks for the next items: an address, or a query of the same table. nil if the server told none.
    public var nextLink: String?

    /// Describes items.
    public init(items: [JSONValue] = [], totalCount: Int? = nil, nextLink: String? = nil) {
        self.items = items
        self.totalCount = totalCount
        self.nextLink = nextLink
    }
}
