import Strata

func example(path: String) async throws {
    let container = try PersistentContainer(GazetteerModel.self, at: .file(path: path))
    let context = container.newContext()
    let peru = Country(context: context, countryId: "PE", name: "Peru")
    City(context: context, name: "Lima", population: 10_092_000, country: peru)
    City(context: context, name: "Cusco", population: 428_450, country: peru)
    try await context.save()
    let large = City.where { $0.population > 1_000_000 && $0.country.name.hasPrefix("P") }
    for city in try await context.fetch(large) { print(city.name, "in", city.country.name) }  // Lima in Peru
    context.delete(peru)  // its cities go with it: the model says so
    try await context.save()
}
