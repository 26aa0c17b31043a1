import Foundation

/// Finds the folder with the GeoNames files.
///
/// It looks next to the running program, where a build puts the files, and in the `share` folder of an installation;
/// never at a path that was fixed when the program was built, so that the program may be moved together with its files.
enum DataFolder {
    /// The folder.
    /// - Parameters:
    ///   - path: What the user asked for; nothing else is tried then.
    ///   - executable: The running program.
    /// - Throws: ``DataFileError/missing(searched:)``.
    static func find(asked path: String?, executable: URL? = Bundle.main.executableURL) throws(DataFileError) -> URL {
        let candidates = path.map { [URL(fileURLWithPath: $0)] } ?? places(beside: executable)
        for folder in candidates {
            let manifest = folder.appendingPathComponent(GeoNamesManifest.file)
            if FileManager.default.fileExists(atPath: manifest.path) { return folder }
        }
        throw .missing(searched: candidates.map(\.path))
    }

    private static func places(beside executable: URL?) -> [URL] {
        guard let folder = executable?.resolvingSymlinksInPath().deletingLastPathComponent() else { return [] }
        return [
            "Strata_Gazetteer.resources/GeoNames",
            "Strata_Gazetteer.bundle/GeoNames",
            "Strata_Gazetteer.bundle/Contents/Resources/GeoNames",
            "../share/gazetteer/GeoNames",
        ].map { folder.appendingPathComponent($0).standardizedFileURL }
    }
}
