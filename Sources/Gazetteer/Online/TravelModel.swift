#if Server
    import Strata

    /// What two travellers share of a country: the country and its cities, each by the key that the world knows it by.
    ///
    /// Declared in code, because it is small, and because the classes of the other model have the same names.
    enum TravelModel {
        /// - Parameter keepsPositions: Whether cities have a position, or a latitude and a longitude.
        static func make(keepsPositions: Bool = true) throws(ModelError) -> ManagedObjectModel {
            try ManagedObjectModel(name: "Travel") {
                Entity("Country") {
                    Attribute("countryId", .string)
                    Attribute("name", .string)
                    Relationship("cities", to: "City", .toMany, inverse: "country")
                }
                Entity("City") {
                    Attribute("cityId", .string)
                    Attribute("name", .string)
                    Attribute("population", .integer64)
                    if keepsPositions {
                        Attribute("position", .geoPoint)
                    } else {
                        Attribute("latitude", .double)
                        Attribute("longitude", .double)
                    }
                    Attribute("note", .string, optional: true)
                    Relationship("country", to: "Country", .optionalToOne, inverse: "cities")
                }
            }
        }
    }
#endif
