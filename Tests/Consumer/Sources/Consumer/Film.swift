import Strata

/// What the application adds to the generated class.
open class Film: FilmBase {
    open override func awakeFromInsert() { notes = "new" }

    /// The length as people say it.
    public var length: String { "\(minutes / 60) h \(minutes % 60) min" }
}

extension Book {
    /// The heading of the first chapter: code of the application in an extension.
    var opening: String { chapters.first?.heading ?? "nothing" }
}
