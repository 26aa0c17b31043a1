/// The members of a JSON object, in order.
///
/// Names are unique. Of several members of one name, the last value counts, in the place of the first. Two objects are
/// equal if they have the same names with equal values; the order does not matter, as in RFC 8259.
///
/// Finding a member takes constant time. Removing one takes time linear in the number of members.
public struct JSONObject: Sendable {
    /// A name with its value.
    public typealias Member = (name: String, value: JSONValue)

    private var list: [Member]
    /// Where each name is in the list; nil for a short list, in which looking at each name is faster.
    private var places: [String: Int]?

    private static let longestWithoutPlaces = 24

    /// Creates an object without members.
    public init() { list = [] }

    /// Creates an object of members in their order.
    public init(_ members: some Sequence<Member>) {
        list = []
        for (name, value) in members { self[name] = value }
    }

    /// Creates an object of a dictionary. A dictionary has no order: the members are sorted by name, so that equal
    /// dictionaries give equal texts.
    public init(_ members: [String: JSONValue]) {
        self.init(members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
    }

    /// The value with the given name. Assigning a value keeps the place of a name that is there and appends one that is
    /// not; assigning nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { list[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): list[place].value = value
            case (let place?, nil): remove(at: place)
            case (nil, let value?): append(name, value)
            case (nil, nil): break
            }
        }
    }

    /// The names in order.
    public var names: [String] { list.map(\.name) }

    /// Removes a member.
    /// - Returns: Its value; nil if there is none of this name.
    @discardableResult
    public mutating func removeValue(forName name: String) -> JSONValue? {
        guard let place = place(of: name) else { return nil }
        let value = list[place].value
        remove(at: place)
        return value
    }

    /// The object with other values under the same names.
    public func mapValues(_ change: (JSONValue) -> JSONValue) -> JSONObject {
        var copy = self
        for place in copy.list.indices { copy.list[place].value = change(copy.list[place].value) }
        return copy
    }

    /// Adds the members of another object. Its value counts where both have a name.
    public mutating func merge(_ other: JSONObject) {
        for (name, value) in other { self[name] = value }
    }

    /// The members of both objects. The value of the other one counts where both have a name.
    public func merging(_ other: JSONObject) -> JSONObject {
        var copy = self
        copy.merge(other)
        return copy
    }

    private func place(of name: String) -> Int? {
        if let places { places[name] } else { list.firstIndex { $0.name == name } }
    }

    private mutating func append(_ name: String, _ value: JSONValue) {
        list.append((name, value))
        if places != nil {
            places?[name] = list.count - 1
        } else if list.count > Self.longestWithoutPlaces {
            index()
        }
    }

    private mutating func index() {
        var places = [String: Int](minimumCapacity: list.count * 2)
        for place in list.indices { places[list[place].name] = place }
        self.places = places
    }

    private mutating func remove(at place: Int) {
        list.remove(at: place)
        if places != nil { index() }
    }
}

extension JSONObject: RandomAccessCollection {
    /// The place of the first member: 0.
    public var startIndex: Int { 0 }
    /// The number of members.
    public var endIndex: Int { list.count }

    /// The member at a place.
    public subscript(place: Int) -> Member { list[place] }
}

extension JSONObject: Hashable {
    /// Whether two objects have the same names with equal values, in whatever order.
    public static func == (a: JSONObject, b: JSONObject) -> Bool {
        a.list.count == b.list.count && a.list.allSatisfy { b[$0.name] == $0.value }
    }

    /// Feeds names and values into a hash that does not depend on their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in list {
            var own = Hasher()
            own.combine(name)
            own.combine(value)
            sum ^= own.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object with the members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }
}
