import Foundation

/// The names that the package's manifest gives, to compare with parts of manifests that a page shows.
public struct PackageManifest: Sendable {
    /// Names of products, plug-ins among them.
    public let products: Set<String>
    /// Names of traits.
    public let traits: Set<String>

    /// Reads `Package.swift`.
    public init() throws {
        let text = try String(contentsOf: GuidePage.root.appending(path: "Package.swift"), encoding: .utf8)
        let parts = text.components(separatedBy: "\n    targets: [")[0].components(separatedBy: "\n    traits: [")
        products = Self.names(after: ["library", "executable", "plugin"], in: parts[0])
        traits = Self.names(after: ["trait"], in: parts.dropFirst().first ?? "")
    }

    /// The names in a part of another package's manifest that this package does not have.
    public func unknownNames(in fragment: String) -> [String] {
        let used = Self.names(after: ["product", "plugin"], in: fragment)
        let wanted = fragment.matches(of: /traits: \[([^\]]*)\]/).flatMap { match in
            match.1.split(separator: ",").map { $0.trimmingCharacters(in: ["\"", " "]) }
        }
        return used.subtracting(products).sorted() + Set(wanted).subtracting(traits).sorted()
    }

    private static func names(after kinds: [String], in text: String) -> Set<String> {
        Set(
            text.matches(of: /\.(\w+)\(\s*name: "([^"]+)"/).filter { kinds.contains(String($0.1)) }
                .map { String($0.2) })
    }
}
