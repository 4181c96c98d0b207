/** Installation instructions for each kind of mail server. They never contain the secret. */
import type { IngestSource } from '../wire/api.d.ts'

export type Provider = IngestSource['provider']

/** Server kinds with their names, in display order. */
export const providers: readonly (readonly [id: Provider, name: string])[] = [
  ['postfix', 'Postfix'],
  ['exim', 'Exim'],
  ['dovecot', 'Dovecot'],
  ['stalwart', 'Stalwart'],
  ['mailenable', 'MailEnable'],
  ['arf', 'ARF'],
]

export interface Snippet {
  /** Path or shell on the server. */
  readonly place: string
  readonly text: string
}

const signed = (file: string): string => `SIGNATURE=$(openssl dgst -sha256 -hmac "$SECRET" -r < ${file} | cut -d' ' -f1)`

/** Returns a shell script that installs the log shipper of the service. The shipper sends each log line once and runs every minute. */
const shipped = (address: string, log: string): Snippet => ({
  place: 'sh (root)',
  text: `set -eu
curl -fsS '${new URL('/docs/files/postern-log-shipper', address).href}' -o /usr/local/sbin/postern-log-shipper
chmod 755 /usr/local/sbin/postern-log-shipper
mkdir -p /etc/postern
(umask 077; cat > /etc/postern/log-shipper.conf) <<'END'
URL='${address}'
SECRET='…'
LOG=${log}
STATE=/var/lib/postern-log-shipper
END
/usr/local/sbin/postern-log-shipper /etc/postern/log-shipper.conf
echo '* * * * * root /usr/local/sbin/postern-log-shipper' > /etc/cron.d/postern-log-shipper`,
})

/** Returns a shell script that sends one message from standard input, for use in a mail alias. */
const piped = (place: string, address: string): Snippet => ({
  place,
  text: `#!/bin/sh
SECRET='…'
MAIL=$(mktemp)
cat > "$MAIL"
${signed('"$MAIL"')}
curl -fsS '${address}' \\
  -H "X-Service-Signature: sha256=$SIGNATURE" -H 'Content-Type: message/rfc822' \\
  --data-binary @"$MAIL"
rm "$MAIL"`,
})

const stalwart = (address: string): Snippet => ({
  place: 'Settings › Telemetry › Webhooks, config.toml',
  text: `[webhook."postern"]
url = "${address}"
signature-key = "…"
events = ["delivery.delivered", "delivery.dsn-success", "delivery.dsn-perm-fail", "delivery.dsn-temp-fail",
          "delivery.failed", "incoming-report.abuse-report", "incoming-report.fraud-report"]`,
})

const mailenable = (address: string): Snippet => ({
  place: 'PowerShell',
  text: `$secret = '…'
$notice = [IO.File]::ReadAllBytes($args[0])
$report = @{ postoffice = $args[1]; raw_ndr = [Convert]::ToBase64String($notice) }
$body = @{ version = 1; agent = @{ name = 'postern-report'; hostname = $env:COMPUTERNAME }; events = @($report) } | ConvertTo-Json -Depth 4
$bytes = [Text.Encoding]::UTF8.GetBytes($body)
$hmac = [Security.Cryptography.HMACSHA256]::new([Text.Encoding]::UTF8.GetBytes($secret))
$signature = -join ($hmac.ComputeHash($bytes) | ForEach-Object { $_.ToString('x2') })
Invoke-RestMethod -Method Post -Uri '${address}' -ContentType 'application/json' -Body $bytes \`
  -Headers @{ 'X-Service-Signature' = "sha256=$signature" }`,
})

/** `address` is the ingest URL of the source, including its id. */
export function snippetOf(provider: Provider, address: string): Snippet {
  if (provider === 'postfix') return shipped(address, '/var/log/mail.log')
  if (provider === 'exim') return shipped(address, '/var/log/exim4/mainlog')
  if (provider === 'stalwart') return stalwart(address)
  if (provider === 'mailenable') return mailenable(address)
  if (provider === 'dovecot') return piped('/etc/aliases: bounces: "|/usr/local/sbin/postern-report"', address)
  return piped('/usr/local/sbin/postern-report < report.eml', address)
}
