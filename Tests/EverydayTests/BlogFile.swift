import Foundation
import Strata

/// A blog in a file of its own, removed with this object.
final class BlogFile: Sendable {
    let path: String
    let container: PersistentContainer
    private let folder: URL

    init(_ options: SQLiteStore.Options = .init()) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-blog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("blog.sqlite").path
        container = try PersistentContainer(BlogModel.self, at: .file(path: path), options: options)
    }

    deinit {
        container.close()
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Two authors with ten articles each and three tags.
    func fill() throws {
        let context = container.newContext()
        let tags = ["swift", "sql", "sync"].map { Tag(context: context, tagId: $0, label: $0.uppercased()) }
        for (number, name) in ["Ursula", "Octavia"].enumerated() {
            let author = Author(context: context, authorId: "a\(number)", name: name)
            for position in 0..<10 {
                let article = Article(
                    context: context, articleId: "\(number)-\(position)", title: "Title \(position)", author: author)
                article.tags = Set(tags.prefix(position % 4))
            }
        }
        try context.save()
    }
}
