import Foundation
import StrataModel
import Testing

@testable import StrataCoreDataModel

struct ConfigurationConversionTests {
    private func read(_ configurations: String) throws -> CoreDataModelFile {
        let path = Samples.temporary(".xcdatamodel")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Place" isAbstract="YES"/>
                <entity name="City" parentEntity="Place"/>
                <entity name="Visit"/>
                \(configurations)
            </model>
            """
        try xml.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
        return try CoreDataModelFile.read(path: path)
    }

    @Test("Configurations become configurations, and back again")
    func converted() throws {
        let file = try read(
            #"<configuration name="Places"><memberEntity name="Place"/><memberEntity name="City"/></configuration>"#)
        let conversion = file.converted()
        #expect(conversion.warnings.isEmpty)
        let model = try conversion.model()
        #expect(model.configurations.map(\.name) == ["Places"])
        #expect(model.configurations[0].entities == ["Place", "City"])
        let back = CoreDataModelFile(describing: model)
        #expect(back.model.configurations == [CoreDataConfiguration(name: "Places", entities: ["Place", "City"])])
    }

    @Test("A part of a hierarchy becomes all of it, names become legal, and what is empty is left out")
    func repaired() throws {
        let conversion = try read(
            """
            <configuration name="my places"><memberEntity name="City"/><memberEntity name="Gone"/></configuration>
            <configuration name="Default"><memberEntity name="Visit"/></configuration>
            <configuration name="Empty"/>
            """
        ).converted()
        let model = try conversion.model()
        #expect(model.configurations.map(\.name) == ["My_places"])
        #expect(model.configurations[0].entities == ["Place", "City"])
        let messages = conversion.warnings.map(\.message).joined(separator: "\n")
        #expect(messages.contains("the configuration my places: Strata's name is My_places"))
        #expect(messages.contains("the configuration my places: added Place"))
        #expect(messages.contains("the configuration Default is left out: Strata's name, Default, is already taken"))
    }
}
