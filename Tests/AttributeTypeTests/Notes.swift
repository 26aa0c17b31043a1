import Strata

/// An enumeration of the application, which the model file names only.
enum Section: String, EnumValue {
    case news, culture
    case sports = "sport"
}

/// A type of the application, of whose members the model knows nothing.
struct Notes: Codable, Hashable {
    struct Author: Codable, Hashable { var name: String }

    var text: String
    var rating: Double?
    var isUrgent = false
    var section: Section?
    var authors: [Author] = []
    var keywords: [String] = []
}

extension Notes: PredicateMembers {
    static var propertyKeyPaths: PropertyKeyPaths { PropertyKeyPaths("text rating", [\Notes.text, \Notes.rating]) }
}
