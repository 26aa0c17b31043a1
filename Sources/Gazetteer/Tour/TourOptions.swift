/// What a tour shows.
struct TourOptions: Sendable {
    /// The name or the ISO code of the country whose cities are listed.
    var country = "Peru"
    /// The text that is searched for in names of cities.
    var search = "san"
    /// How many of the largest cities are listed.
    var top = 10
    /// How many cities a page of the search has.
    var pageSize = 5
    /// How many pages of the search are shown at most.
    var pages = 3
    /// Whether statements are shown in full length, and all of them.
    var fullSQL = false
}
