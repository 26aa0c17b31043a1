private let token = "token"
private let model: ManagedObjectModel = absent()
private let client: AzureClient = absent()
private let address = "notes://easyauth.callback"
private func open(_ url: String) {}
@MainActor private var note: JSONObject = absent()
@MainActor private var query: AzureQuery = absent()
private let dialect: AzureDialect = absent()
private let response: WireResponse = absent()
private let deviceToken: Data = absent()
private let sync: AzureSyncContext = absent()
private let transport: any HTTPTransport = absent()
