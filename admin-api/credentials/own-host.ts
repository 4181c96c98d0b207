/** Checks that a request names this service, and not a foreign name that resolves to this machine (DNS rebinding). */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** Accepts the own names, IP addresses, and names without a dot, which cannot be registered by others. */
export function isOwnHost({ host = '' }: IncomingHttpHeaders, names: readonly string[]): boolean {
  const asked = URL.parse(`http://${host}`)
  if (!asked || asked.username !== '') return false
  const name = asked.hostname.replace(/\.$/, '')
  return names.includes(name) || !name.includes('.') || isIP(name) !== 0
}
