import Foundation
import StrataModel
import Testing

/// Models larger than rows can describe.
@Suite struct ModelSizeTests {
    @Test func anEntityWithTooManyValuesIsAFault() {
        var entity = Entity(name: "Wide", location: nil)
        entity.attributes = (0..<40_000).map { Attribute("a\($0)", .integer64) }
        let faults = ManagedObjectModel.faults(in: [entity])
        #expect(faults.count == 1 && faults[0].message.contains("32,767"))
    }

    @Test func tooManyEntitiesAreAFault() {
        let entities = (0..<66_000).map { Entity(name: "E\($0)", location: nil) }
        let faults = ManagedObjectModel.faults(in: entities)
        #expect(faults.count == 1 && faults[0].message.contains("65,535"))
    }
}
