/** The names that a certificate is ordered for. */
import { isIP } from 'node:net'
import { ConfigInvalid, type Config } from '#config/settings/load.ts'

type Named = Pick<Config, 'acme' | 'smtpHost' | 'baseUrl' | 'authUrl' | 'formsUrl' | 'mcpUrl'>

/** Names that no public authority vouches for (RFC 6761, RFC 6762, RFC 8375). */
const local = /(?:^|\.)(?:localhost|local|internal|lan|test|invalid|example|home\.arpa)$/

/** As they are set, or all public names under which the service is reached. Throws `ConfigInvalid` when there is none. */
export function acmeNames({ acme, smtpHost, baseUrl, authUrl, formsUrl, mcpUrl }: Named): readonly string[] {
  if (acme.names.length > 0) return [...new Set(acme.names)]
  const hosts = [baseUrl, authUrl, formsUrl, mcpUrl].flatMap((url) => (url === null ? [] : [new URL(url).hostname]))
  const names = [...new Set([smtpHost, ...hosts])].filter((name) => name.includes('.') && isIP(name) === 0 && !local.test(name))
  if (names.length > 0) return names
  throw new ConfigInvalid([
    `POSTERN_ACME_CHALLENGE: there is no public host name to order a certificate for; set POSTERN_ACME_NAMES, or POSTERN_SMTP_HOST and POSTERN_BASE_URL.`,
  ])
}
