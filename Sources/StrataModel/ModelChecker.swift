/// Checks declarations as a whole and finds all faults at once.
struct ModelChecker {
    let naming: NamingConvention
    let entities: [Entity]

    func faults() -> [ModelFault] {
        []
    }
}
