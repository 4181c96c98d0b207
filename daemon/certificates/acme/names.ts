/** Determines the host names of an ordered certificate. */
import { isIP } from 'node:net'
import { ConfigInvalid, type Config } from '#config/settings/load.ts'

type Named = Pick<Config, 'acme' | 'smtpHost' | 'baseUrl' | 'authUrl' | 'formsUrl' | 'mcpUrl'>

/** Names that no public authority certifies (RFC 6761, RFC 6762, RFC 8375). */
const local = /(?:^|\.)(?:localhost|local|internal|lan|test|invalid|example|home\.arpa)$/

/** Returns the configured names, or else all public host names of the service. Throws `ConfigInvalid` without any. */
export function acmeNames({ acme, smtpHost, baseUrl, authUrl, formsUrl, mcpUrl }: Named): readonly string[] {
  if (acme.names.length > 0) return [...new Set(acme.names)]
  const hosts = [baseUrl, authUrl, formsUrl, mcpUrl].flatMap((url) => (url === null ? [] : [new URL(url).hostname]))
  const names = [...new Set([smtpHost, ...hosts])].filter((name) => name.includes('.') && isIP(name) === 0 && !local.test(name))
  if (names.length > 0) return names
  throw new ConfigInvalid([
    `POSTERN_ACME_CHALLENGE: there is no public host name to order a certificate for; set POSTERN_ACME_NAMES, or POSTERN_SMTP_HOST and POSTERN_BASE_URL.`,
  ])
}
