; Inno Setup: per user, no administrator needed. Compile with packaging/build.py, which gives Version and Source.
[Setup]
AppId={{7D0C6B0E-6D2B-4B0A-9B3C-2B1C5B7E4F21}
AppName=agent-hub
AppVersion={#Version}
DefaultDirName={localappdata}\Programs\agent-hub
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
OutputBaseFilename=agent-hub-setup-{#Version}
Compression=lzma2
SolidCompression=yes
CloseApplications=yes
UninstallDisplayIcon={app}\agent-hub.exe

[Files]
Source: "{#Source}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{userprograms}\agent-hub"; Filename: "{app}\agent-hub.exe"; Parameters: "run"; AppUserModelID: "agent-hub"

[Run]
Filename: "{app}\agent-hub.exe"; Parameters: "run"; Description: "Start agent-hub"; Flags: postinstall nowait
