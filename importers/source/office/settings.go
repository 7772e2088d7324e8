package office

import (
	"fmt"
	"strings"
)

// settings is the profile of LibreOffice: nothing that a document could make it do, and nothing that changes a value.
func settings() string {
	const (
		office = "/org.openoffice.Office."
		inet   = "/org.openoffice.Inet/Settings"
	)
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` + "\n")
	for _, s := range []struct{ path, name, value string }{
		{office + "Common/Security/Scripting", "DisableMacrosExecution", "true"},
		{office + "Common/Security/Scripting", "MacroSecurityLevel", "3"},
		{office + "Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"},
		{office + "Calc/Content/Update", "Link", "2"},          // links to other documents: never follow
		{office + "Calc/Formula/Load", "OOXMLRecalcMode", "1"}, // .xls and .xlsb too: never, keep the stored results
		{office + "Calc/Formula/Load", "ODFRecalcMode", "1"},
		{office + "Java/VirtualMachine", "Enable", "false"},
		{office + "Common/Misc", "FirstRun", "false"},
		{office + "Common/Misc", "CrashReport", "false"}, // a report would hold memory, and so values
		{office + "Recovery/RecoveryInfo", "Enabled", "false"},
		{office + "Recovery/AutoSave", "Enabled", "false"},
		{"/org.openoffice.Setup/L10N", "ooSetupSystemLocale", "en-US"},
		{"/org.openoffice.Setup/L10N", "ooLocale", "en-US"},
		// Should a connection be tried all the same, it ends at the discard port of this machine.
		{inet, "ooInetProxyType", "2"},
		{inet, "ooInetHTTPProxyName", "127.0.0.1"}, {inet, "ooInetHTTPProxyPort", "9"},
		{inet, "ooInetHTTPSProxyName", "127.0.0.1"}, {inet, "ooInetHTTPSProxyPort", "9"},
		{inet, "ooInetFTPProxyName", "127.0.0.1"}, {inet, "ooInetFTPProxyPort", "9"},
		{inet, "ooInetNoProxy", ""},
	} {
		fmt.Fprintf(&b, `<item oor:path="%s"><prop oor:name="%s" oor:op="fuse"><value>%s</value></prop></item>`+"\n", s.path, s.name, s.value)
	}
	b.WriteString("</oor:items>\n")
	return b.String()
}
