import Foundation

extension MaxLeapValue {
    /// The names that dictionaries may not use, since the protocol does.
    private static let reserved: Set<String> = ["__type", "__op"]
    private static let types: Set<String> = [
        "Date", "Bytes", "Pointer", "Object", "Relation", "GeoPoint", "File",
    ]

    /// The value as it is sent.
    /// - Throws: ``RemoteError``: code 104 for an object that the server has not named yet, 151 for a file that is not
    ///   uploaded, 121 for a dictionary with `__op` or a `__type` of the protocol in it, 111 for numbers that are not
    ///   finite, dates and positions out of range.
    public func json() throws(RemoteError) -> JSONValue { try json(depth: 0) }

    private func json(depth: Int) throws(RemoteError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else {
            throw MaxLeapError.invalidJSON.error("a value is nested more than \(JSONValue.maximumDepth) levels deep")
        }
        switch self {
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .double(let number) where number.isFinite: return .double(number)
        case .decimal(let number) where !number.isNaN: return .decimal(number)
        case .string(let text): return .string(text)
        case .date(let date):
            guard let text = MaxLeapDate.text(date) else { break }
            return ["__type": "Date", "iso": .string(text)]
        case .bytes(let data): return ["__type": "Bytes", "base64": .string(data.base64EncodedString())]
        case .pointer(let pointer) where !pointer.objectId.isEmpty: return pointer.json
        case .pointer(let pointer): throw Self.unsaved(pointer.className)
        case .object(let object):
            guard let pointer = object.pointer else { throw Self.unsaved(object.className) }
            return pointer.json
        case .relation(let className): return ["__type": "Relation", "className": .string(className)]
        case .geoPoint(let point) where point.isValid:
            return ["__type": "GeoPoint", "latitude": .double(point.latitude), "longitude": .double(point.longitude)]
        case .file(let file):
            guard let url = file.url else {
                throw MaxLeapError.unsavedFile.error("the file \(file.name) is not uploaded yet; upload it first")
            }
            return ["__type": "File", "name": .string(file.name), "url": .string(url)]
        case .array(let elements):
            var list: [JSONValue] = []
            for element in elements { list.append(try element.json(depth: depth + 1)) }
            return .array(list)
        case .dictionary(let members):
            var object: JSONObject = [:]
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                // A type that this version does not know goes back as it came.
                let isForeign = name == "__type" && value.string.map { !Self.types.contains($0) } ?? false
                guard isForeign || !Self.reserved.contains(name) else {
                    throw MaxLeapError.invalidNestedKey.error("a dictionary may not have a member \(name)")
                }
                object[name] = try value.json(depth: depth + 1)
            }
            return .object(object)
        default: break
        }
        throw MaxLeapError.incorrectType.error("the server has no form for \(self.kind) of this size: \(self)")
    }

    private static func unsaved(_ className: String) -> RemoteError {
        MaxLeapError.missingObjectId.error(
            "Tried to save an object with a pointer to a new, unsaved object. Save the \(className) first.")
    }

    /// Reads a value of an answer. Objects with a `__type` that is not known stay dictionaries.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidAnswer`` if a part of a known type is missing.
    public init(_ json: JSONValue) throws(RemoteError) {
        switch json {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        case .string(let text): self = .string(text)
        case .array(let elements):
            var list: [MaxLeapValue] = []
            list.reserveCapacity(elements.count)
            for element in elements { list.append(try MaxLeapValue(element)) }
            self = .array(list)
        case .object(let members):
            if let type = members["__type"]?.string, Self.types.contains(type) {
                self = try Self.typed(type, members)
            } else {
                self = .dictionary(try MaxLeapObject.values(members))
            }
        }
    }

    private static func typed(_ type: String, _ members: JSONObject) throws(RemoteError) -> MaxLeapValue {
        let className = members["className"]?.string
        switch type {
        case "Date": if let date = members["iso"]?.string.flatMap(MaxLeapDate.date) { return .date(date) }
        case "Bytes":
            if let data = members["base64"]?.string.flatMap({ Data(base64Encoded: $0) }) { return .bytes(data) }
        case "GeoPoint":
            if let latitude = members["latitude"]?.double, let longitude = members["longitude"]?.double {
                return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
            }
        case "Relation": if let className { return .relation(className) }
        case "File": if let file = MaxLeapFile(members) { return .file(file) }
        default:
            guard let className, let id = members["objectId"]?.string else { break }
            // MaxLeap names included objects pointers, too.
            if type == "Pointer", members["createdAt"] == nil { return .pointer(MaxLeapPointer(className, id)) }
            return .object(try MaxLeapObject(className, members))
        }
        throw MaxLeapError.incorrectType.error(
            "\(JSONValue.object(members).description.prefix(120)) in the answer is not a valid \(type)",
            kind: .invalidAnswer)
    }
}
