# Sends new lines of the SMTP activity log of MailEnable to Postern, with a signature. Run it by the task scheduler.
# Set the first five values. See "Ship the logs of mail servers" in the documentation of Postern.
$Url = 'https://mail.example.com/v1/ingest/activity-logs?source=mailenable&source_id=src_'
$Secret = ''
$TimeZone = 'Europe/Zurich' # of the clock of this server, as an IANA name
$Folder = 'C:\Program Files (x86)\Mail Enable\Logging\SMTP'
$State = 'C:\ProgramData\Postern\log-shipper.json'

$ErrorActionPreference = 'Stop'
$MaxLines = 2000
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
if ($Secret -eq '') { [Console]::Error.WriteLine('postern-log-shipper: set Url and Secret at the top of this file'); exit 78 }

function Send-Lines($Lines, $End) {
  $report = @{
    version   = 1
    agent     = @{ name = 'postern-log-shipper'; version = '1'; hostname = $env:COMPUTERNAME }
    time_zone = $TimeZone
    cursor    = @{ end = $End }
    lines     = $Lines.ToArray()
  }
  $body = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json $report -Depth 4 -Compress))
  $hmac = New-Object Security.Cryptography.HMACSHA256 (, [Text.Encoding]::UTF8.GetBytes($Secret))
  $signature = -join ($hmac.ComputeHash($body) | ForEach-Object { $_.ToString('x2') })
  Invoke-RestMethod -Method Post -Uri $Url -ContentType 'application/json' -Body $body -TimeoutSec 120 `
    -Headers @{ 'X-Service-Signature' = "sha256=$signature" } | Out-Null
}

function Save-Place($File, $Offset) {
  New-Item -ItemType Directory -Force (Split-Path $State) | Out-Null
  ConvertTo-Json @{ file = $File; offset = $Offset } -Compress | Set-Content "$State.new" -Encoding UTF8
  Move-Item -Force "$State.new" $State
}

$place = if (Test-Path $State) { Get-Content $State -Raw | ConvertFrom-Json } else { $null }
# names contain the date, so sorting them gives the order of time
$logs = @(Get-ChildItem $Folder -Filter 'SMTP-Activity-*.log' | Sort-Object Name)
if ($logs.Count -eq 0) { [Console]::Error.WriteLine("postern-log-shipper: there is no SMTP-Activity log in $Folder"); exit 66 }
if (-not $place) { $place = [pscustomobject]@{ file = $logs[-1].Name; offset = 0 } }

try {
  foreach ($log in $logs) {
    if ([string]::CompareOrdinal($log.Name, $place.file) -lt 0) { continue }
    $offset = if ($log.Name -eq $place.file) { [long]$place.offset } else { 0 }
    # MailEnable has the file open for writing
    $stream = [IO.File]::Open($log.FullName, 'Open', 'Read', 'ReadWrite')
    try {
      $bytes = New-Object byte[] 65536
      $held = New-Object IO.MemoryStream
      [void]$stream.Seek($offset, 'Begin')
      $lines = New-Object Collections.Generic.List[object]
      $lineStart = $offset
      while (($read = $stream.Read($bytes, 0, $bytes.Length)) -gt 0) {
        $from = 0
        while (($at = [Array]::IndexOf($bytes, [byte]10, $from, $read - $from)) -ge 0) {
          $held.Write($bytes, $from, $at - $from)
          $text = [Text.Encoding]::GetEncoding(28591).GetString($held.ToArray()).TrimEnd("`r")
          if ($text -ne '') { $lines.Add(@{ offset = $lineStart; line = $text }) }
          $lineStart += $held.Length + 1
          $held.SetLength(0)
          $from = $at + 1
          if ($lines.Count -ge $MaxLines) { Send-Lines $lines $lineStart; Save-Place $log.Name $lineStart; $lines.Clear() }
        }
        $held.Write($bytes, $from, $read - $from)
      }
      if ($lines.Count -gt 0) { Send-Lines $lines $lineStart }
      Save-Place $log.Name $lineStart
    } finally { $stream.Dispose() }
  }
} catch {
  [Console]::Error.WriteLine("postern-log-shipper: $($_.Exception.Message); the same lines are sent by the next run")
  exit 75
}
