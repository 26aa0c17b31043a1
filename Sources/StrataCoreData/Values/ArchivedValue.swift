import Foundation
import StrataCoreDataModel
import StrataSQLite

/// Why the bytes of a transformable attribute cannot become a value.
enum ArchivedValueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes are neither a keyed archive nor a property list.
    case unreadable(String)
    /// The archive has an object of a class that only the application knows.
    case unknownClass(String)
    /// The archive contains itself, or is nested too deeply or too large.
    case tooLarge
    /// Something that JSON has no form for.
    case unsupported(String)

    var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .unknownClass(let name): "the archive has an object of the class \(name), which is not known"
        case .tooLarge: "the archive contains itself, is nested too deeply or has too many values"
        case .unsupported(let what): "\(what) cannot be kept as JSON"
        }
    }
}

/// The values of transformable attributes: what `NSKeyedArchiver` makes of the types of property lists, of URLs, UUIDs and
/// numbers, and property lists themselves.
///
/// Dates become text of ISO 8601, bytes text in Base64, URLs and UUIDs their text, so that the value can be kept as JSON.
struct ArchivedValue {
    private static let maximumDepth = 60
    private static let maximumCount = 1_000_000

    private let archive: KeyedArchive?
    private var count = 0

    /// Reads the bytes of a value.
    static func value(of data: Data) throws(ArchivedValueError) -> Value {
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(data: data)
        } catch {
            throw .unreadable("the bytes are not a keyed archive: \(error.description)")
        }
        guard list.dictionary?["$objects"] != nil else {
            var reader = ArchivedValue(archive: nil)
            return try reader.value(list, depth: 0)
        }
        let archive: KeyedArchive
        do throws(PropertyListError) {
            archive = try KeyedArchive(list)
        } catch {
            throw .unreadable(error.description)
        }
        guard let root = archive.root else { return .null }
        var reader = ArchivedValue(archive: archive)
        return try reader.value(root, depth: 0)
    }

    private init(archive: KeyedArchive?) { self.archive = archive }

    private mutating func value(_ list: PropertyList, depth: Int) throws(ArchivedValueError) -> Value {
        count += 1
        guard depth < Self.maximumDepth, count < Self.maximumCount else { throw .tooLarge }
        switch list {
        case .string(let text): return .string(text)
        case .integer(let number): return .integer(number)
        case .real(let number):
            guard number.isFinite else { throw .unsupported("the number \(number)") }
            return .double(number)
        case .boolean(let flag): return .boolean(flag)
        case .date(let seconds): return try date(seconds)
        case .data(let bytes): return .string(bytes.base64EncodedString())
        case .null: return .null
        case .array(let elements): return .list(try values(elements, depth: depth))
        case .uid:
            guard let archive, let uid = list.uid, archive.objects.indices.contains(uid) else {
                throw .unreadable("the archive refers to an object that it does not have")
            }
            return try archive.resolve(list).map { (object) throws(ArchivedValueError) in
                try value(object, depth: depth + 1)
            } ?? .null
        case .dictionary(let members):
            if let archive, let name = archive.className(of: list) {
                return try object(list, members, className: name, archive, depth: depth)
            }
            var result: [String: Value] = [:]
            for (key, member) in members { result[key] = try value(member, depth: depth + 1) }
            return .composite(result)
        }
    }

    private mutating func values(_ list: [PropertyList], depth: Int) throws(ArchivedValueError) -> [Value] {
        var result: [Value] = []
        for element in list { result.append(try value(element, depth: depth + 1)) }
        return result
    }

    private func date(_ seconds: Double) throws(ArchivedValueError) -> Value {
        // From the year -4700 to 9999, in which the text has its usual form.
        guard seconds.isFinite, abs(seconds) < 2.5e11 else { throw .unsupported("the date \(seconds)") }
        return .string(
            Date(timeIntervalSinceReferenceDate: seconds)
                .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// An object of a class whose archived form is known.
    private mutating func object(
        _ list: PropertyList, _ members: [String: PropertyList], className: String, _ archive: KeyedArchive, depth: Int
    ) throws(ArchivedValueError) -> Value {
        switch className {
        case "NSNull": return .null
        case "NSString", "NSMutableString":
            guard let text = archive.string(members["NS.string"]) else { throw .unreadable("a string has no text") }
            return .string(text)
        case "NSData", "NSMutableData":
            guard let bytes = archive.member("NS.data", of: list)?.data ?? archive.member("NS.bytes", of: list)?.data
            else { throw .unreadable("an object of the class NSData has no bytes") }
            return .string(bytes.base64EncodedString())
        case "NSDate":
            switch archive.member("NS.time", of: list) {
            case .real(let seconds)?: return try date(seconds)
            case .integer(let seconds)?: return try date(Double(seconds))
            default: throw .unreadable("a date has no time")
            }
        case "NSURL":
            guard let text = archive.string(members["NS.relative"]) else { throw .unreadable("a URL has no text") }
            let base = archive.string(archive.member("NS.relative", of: archive.member("NS.base", of: list)))
            guard let base = base.flatMap({ URL(string: $0) }) else { return .string(text) }
            return .string(URL(string: text, relativeTo: base)?.absoluteString ?? text)
        case "NSUUID":
            guard let bytes = archive.member("NS.uuidbytes", of: list)?.data, bytes.count == 16 else {
                throw .unreadable("a UUID has no 16 bytes")
            }
            return .string(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString)
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
            guard let number = archive.decimal(list) else { throw .unreadable("a decimal number has no digits") }
            return .decimal(number)
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
            return .list(try values(archive.elements(list) ?? [], depth: depth))
        case "NSDictionary", "NSMutableDictionary": return try dictionary(members, archive, depth: depth)
        default: throw .unknownClass(className)
        }
    }

    private mutating func dictionary(
        _ members: [String: PropertyList], _ archive: KeyedArchive, depth: Int
    ) throws(ArchivedValueError) -> Value {
        guard let keys = archive.resolve(members["NS.keys"])?.array,
            let objects = archive.resolve(members["NS.objects"])?.array
        else { return .composite([:]) }
        guard keys.count == objects.count else { throw .unreadable("a dictionary has keys without values") }
        var result: [String: Value] = [:]
        for (key, object) in zip(keys, objects) {
            guard let name = archive.string(key) else { throw .unsupported("a dictionary with keys that are not text") }
            result[name] = try value(object, depth: depth + 1)
        }
        return .composite(result)
    }
}
