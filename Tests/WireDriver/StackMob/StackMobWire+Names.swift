import Foundation
import StrataStackMob

extension StackMobWire {
    static func nameMapping(_ input: WireCase) throws -> JSONValue {
        let properties = input.texts("properties") ?? []
        if let field = input.text("field") {
            let property = StackMobNames.property(ofField: field, among: properties)
            return ["property": property.map(JSONValue.string) ?? .null]
        }
        if let property = input.text("property") {
            return ["field": .string(try StackMobNames.field(ofProperty: property))]
        }
        guard let entity = input.text("entity") else {
            throw WireFault("the case has none of \"property\", \"field\" and \"entity\"")
        }
        let schema = StackMobNames.schema(ofEntity: entity)
        guard input.has("properties") else { return ["schema": .string(schema)] }
        let dialect = try input.dialect()
        let isUser = dialect.isUserSchema(schema) || input.flag("isUser", "user", "userEntity") == true
        let key = try StackMobNames.primaryKey(
            ofEntity: entity, among: properties, user: isUser ? dialect.userPrimaryKeyField : nil)
        return [
            "schema": .string(schema), "primaryKey": .string(key),
            "field": .string(try StackMobNames.field(ofProperty: key)),
        ]
    }

    static func encoding(_ input: WireCase) throws -> JSONValue {
        if input.has("objectId") {
            let request = try input.dialect().readRequest(
                schema: input.argument("schema"), id: input.argument("objectId"))
            return WireActual.json(request)
        }
        if let params = input["params"]?.members {
            let query = QueryParameters.sortedStackMobText(params.map { ($0.name, WireValues.text($0.value)) })
            return ["query": .string(query), "encoded": .string(query)]
        }
        guard let pairs = input.elements("params", "pairs") else {
            throw WireFault("the case has neither \"params\" nor \"objectId\"")
        }
        let query = QueryParameters.sortedStackMobText(try pairs.map(pair))
        return ["query": .string(query), "encoded": .string(query)]
    }

    /// `["a", 3]`, `"a=3"`.
    static func pair(_ json: JSONValue) throws -> (name: String, value: String) {
        if let parts = json.elements, parts.count == 2 {
            return (WireValues.text(parts[0]), WireValues.text(parts[1]))
        }
        if let parts = json.string?.split(separator: "=", maxSplits: 1).map(String.init), parts.count == 2 {
            return (parts[0], parts[1])
        }
        if let members = json.members, members.count == 1, let (name, value) = members.first {
            return (name, WireValues.text(value))
        }
        throw WireFault("\(json.description.prefix(80)) is not a parameter")
    }
}
