import Foundation

/// A model on disk with all its versions: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
///
///     let bundle = try CoreDataModelBundle(path: "Notes.xcdatamodeld")
///     let file = try bundle.read()            // the current version
///     let old = try bundle.read(version: "Notes 2")
public struct CoreDataModelBundle: Sendable, Hashable {
    /// A version of a model.
    public struct Version: Sendable, Hashable {
        /// The name of its file or folder without the ending.
        public var name: String
        /// The path of its file or folder.
        public var path: String
    }

    /// The path as it was given.
    public var path: String
    /// The versions by name, numbers in names compared as numbers.
    public var versions: [Version]
    /// The name of the current version.
    public var currentName: String
    /// What is odd about the bundle.
    public var warnings: [CoreDataModelWarning] = []

    /// The endings of the names of files and folders with Core Data models.
    public static let pathExtensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

    /// Whether a path names a Core Data model by its ending.
    public static func isModel(path: String) -> Bool {
        pathExtensions.contains(URL(fileURLWithPath: path).pathExtension.lowercased())
    }

    /// Finds the versions of a model, and which is current.
    /// - Throws: ``CoreDataModelError`` if there is no model at the path, or the folder has no version.
    public init(path: String) throws(CoreDataModelError) {
        self.path = path
        let url = URL(fileURLWithPath: path)
        let name = url.deletingPathExtension().lastPathComponent
        guard FileManager.default.fileExists(atPath: path) else {
            throw CoreDataModelError(file: path, message: "there is no such file or folder")
        }
        switch url.pathExtension.lowercased() {
        case "xcdatamodel", "mom":
            versions = [Version(name: name, path: path)]
            currentName = name
        case "xcdatamodeld":
            versions = try Self.versions(in: path, ending: "xcdatamodel")
            currentName = ""
            let list = Self.plist(path + "/.xccurrentversion")
            let named = list?["_XCCurrentVersionName"]?.string
            choose(named.map { NSString(string: $0).deletingPathExtension }, from: ".xccurrentversion")
        case "momd":
            versions = try Self.versions(in: path, ending: "mom")
            currentName = ""
            let list = Self.plist(path + "/VersionInfo.plist")
            choose(list?["NSManagedObjectModel_CurrentVersionName"]?.string, from: "VersionInfo.plist")
        default:
            throw CoreDataModelError(
                file: path,
                message: "this is not a Core Data model; their names end in .xcdatamodeld, .xcdatamodel, .momd or .mom")
        }
    }

    private mutating func choose(_ named: String?, from source: String) {
        if let named, versions.contains(where: { $0.name == named }) {
            currentName = named
            return
        }
        currentName = versions[versions.count - 1].name
        if versions.count > 1 {
            let reason =
                named.map { "\(source) names the version '\($0)', which is not there" }
                ?? "\(source) does not name the current version"
            warnings.append(
                CoreDataModelWarning(
                    file: path, line: nil,
                    message:
                        "\(reason); '\(currentName)' is taken, whose name sorts last; choose another one by its name"))
        } else if let named {
            warnings.append(
                CoreDataModelWarning(
                    file: path, line: nil,
                    message:
                        "\(source) names the version '\(named)', which is not there; '\(currentName)' is the only one"))
        }
    }

    private static func versions(in path: String, ending: String) throws(CoreDataModelError) -> [Version] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { NSString(string: $0).pathExtension.lowercased() == ending }
            .sorted { $0.compare($1, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        guard !names.isEmpty else {
            throw CoreDataModelError(file: path, message: "the folder has no version of a model (.\(ending))")
        }
        return names.map { Version(name: NSString(string: $0).deletingPathExtension, path: path + "/" + $0) }
    }

    private static func plist(_ path: String) -> [String: PropertyList]? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return (try? PropertyList(data: data))?.dictionary
    }

    /// Reads a version.
    /// - Parameter version: The name of the version; nil for the current one.
    /// - Throws: ``CoreDataModelError`` if there is no such version, or its file cannot be read.
    public func read(version: String? = nil) throws(CoreDataModelError) -> CoreDataModelFile {
        var name = version ?? currentName
        if ["xcdatamodel", "mom"].contains(NSString(string: name).pathExtension) {
            name = NSString(string: name).deletingPathExtension
        }
        guard let found = versions.first(where: { $0.name == name }) else {
            throw CoreDataModelError(
                file: path,
                message:
                    "there is no version '\(name)'; there are \(versions.map { "'\($0.name)'" }.joined(separator: ", "))"
            )
        }
        var file = try Self.read(found)
        if version == nil { file.warnings = warnings + file.warnings }
        return file
    }

    private static func read(_ version: Version) throws(CoreDataModelError) -> CoreDataModelFile {
        let isCompiled = NSString(string: version.path).pathExtension.lowercased() == "mom"
        let path = isCompiled ? version.path : version.path + "/contents"
        guard let data = FileManager.default.contents(atPath: path) else {
            if !isCompiled, FileManager.default.fileExists(atPath: version.path + "/elements") {
                throw CoreDataModelError(
                    file: version.path + "/elements",
                    message: "this model is in Xcode 3's binary format, which is not supported; "
                        + "open it in Xcode 4.1 or later and save it, which writes a file 'contents'")
            }
            throw CoreDataModelError(file: path, message: "the file cannot be read")
        }
        if isCompiled { return try CoreDataModelFile(compiled: data, name: version.name, file: path) }
        return try ModelDocumentReader.read(data, name: version.name, file: path)
    }
}

extension CoreDataModelFile {
    /// Reads the current version of a model, or the one with the given name.
    ///
    ///     let file = try CoreDataModelFile.read(path: "Notes.xcdatamodeld")
    ///     file.warnings.forEach { print($0) }
    ///
    /// - Throws: ``CoreDataModelError`` if there is no model at the path, or it cannot be read.
    public static func read(path: String, version: String? = nil) throws(CoreDataModelError) -> CoreDataModelFile {
        try CoreDataModelBundle(path: path).read(version: version)
    }

    /// Reads the XML of a `contents` file.
    /// - Throws: ``CoreDataModelError`` with the line if the data is not a Core Data model.
    public static func read(contents data: Data, name: String, file: String) throws(CoreDataModelError)
        -> CoreDataModelFile
    {
        try ModelDocumentReader.read(data, name: name, file: file)
    }
}
