import Strata

extension Tour {
    /// Changes a city, saves, and reads it in another context.
    func saveAnEdit() throws {
        try printer.step("Save an edit") {
            let city = try largestCity(in: context)
            let note = "Seen on the tour; \(Figures.counted(city.alternateNames.count, "other name"))."
            city.note = note
            printer.say("\(city.name).note = “\(note)”")
            try context.save()
            let other = container.newContext()
            let copy = try other.existingObject(City.self, with: city.objectID)
            try expect(copy.note == note && !context.hasChanges, "the saved note is not in the store")
            printer.confirm("Another context reads the same note; the row is at version \(copy.version).")
        }
    }

    /// Changes, deletes and inserts, and takes everything back.
    func rollBack() throws {
        try printer.step("Roll back") {
            let city = try largestCity(in: context)
            let country = city.country
            let (name, count) = (city.name, country.cities.count)
            city.name = "Atlantis"
            city.population = 0
            let new = City(
                context: context, cityId: "new", name: "Brand-New Town", position: GeoPoint(latitude: 0, longitude: 0),
                timeZone: city.timeZone, alternateNames: [], country: country)
            let grown = Figures.counted(country.cities.count, "city", "cities")
            printer.say("\(name) is now \(city.name), and \(country.name) has \(grown) with \(new.name).")
            context.rollback()
            try expect(
                city.name == name && country.cities.count == count && !context.hasChanges,
                "the rollback left something behind")
            let shrunk = Figures.counted(count, "city", "cities")
            printer.confirm("After the rollback it is \(city.name) again, and there are \(shrunk).")
        }
    }

    /// Deletes the continent. Its countries would be deleted with it, but they have cities, and that rule denies it.
    func denyACascade() throws {
        try printer.step("Let a deny rule stop a cascade") {
            let continent = try chosenCountry(in: context).continent
            let name = continent.name
            context.delete(continent)
            let others = Figures.counted(context.deletedObjects.count - 1, "country", "countries")
            printer.say("\(name) is deleted, and \(others) with it.")
            try expectDenial(of: name)
            context.rollback()
            let count = try context.count(FetchRequest<Country>())
            try expect(
                count == data.countries.count && !continent.isDeleted, "the rollback did not bring all countries back")
            let all = Figures.counted(count, "country", "countries")
            printer.confirm("Nothing was written: \(name) and all \(all) are there.")
        }
    }

    /// Edits in a child context and throws it away.
    func discardAChild() throws {
        try printer.step("Edit in a child context, and discard it") {
            let city = try largestCity(in: context)
            let (name, population) = (city.name, city.population)
            let child = context.makeChild()
            let draft = try child.existingObject(City.self, with: city.objectID)
            draft.name = "New \(name)"
            draft.population += 1
            printer.say("In the child it is \(draft.name) with \(Figures.grouped(draft.population)) people.")
            child.rollback()
            try expect(
                city.name == name && city.population == population && !context.hasChanges,
                "the child's edit reached its parent")
            printer.confirm("In the parent it has always been \(city.name) with \(Figures.grouped(city.population)).")
        }
    }

    /// The largest city of the chosen country.
    func largestCity(in context: ManagedObjectContext) throws -> City {
        let request = FetchRequest<City>(
            where: City.keys.country.countryId == country.iso,
            sortedBy: [City.keys.population.descending, City.keys.name.ascending], limit: 1)
        guard let city = try context.fetchFirst(request) else { throw GazetteerError.noCities(country: country.name) }
        return city
    }

    /// Saves, and expects that the save is refused because of delete rules.
    private func expectDenial(of name: String) throws {
        guard let refusal = try refusalOfSave() else {
            throw GazetteerError.unexpected("\(name) could be deleted although its countries have cities")
        }
        if let other = refusal.failures.first(where: { $0.rule != .deny }) {
            throw GazetteerError.unexpected("the save was refused for another reason, too: \(other)")
        }
        let countries = refusal.failures.compactMap { failure in
            (context.registeredObject(for: failure.objectID) as? Country).map { ($0.name, failure.message) }
        }
        printer.say("The save is refused for \(Figures.counted(countries.count, "country", "countries")), among them:")
        for (country, message) in countries.sorted(by: { $0.0 < $1.0 }).prefix(3) {
            printer.say("  \(country): \(message)")
        }
    }

    /// What a save is refused for; nil if it went through.
    private func refusalOfSave() throws(PersistenceError) -> ValidationError? {
        do throws(PersistenceError) {
            try context.save()
            return nil
        } catch {
            guard case .validation(let refusal) = error else { throw error }
            return refusal
        }
    }

    /// Stops the tour if a step did not do what it shows.
    func expect(_ condition: Bool, _ complaint: String) throws(GazetteerError) {
        if !condition { throw .unexpected(complaint) }
    }
}
