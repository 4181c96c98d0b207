/** Whether a request came for this service or for a name that somebody else points at this machine (DNS rebinding). */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** Besides its own names: addresses and names without a dot, which others cannot point here. */
export function isOwnHost({ host = '' }: IncomingHttpHeaders, names: readonly string[]): boolean {
  const asked = URL.parse(`http://${host}`)
  if (!asked || asked.username !== '') return false
  const name = asked.hostname.replace(/\.$/, '')
  return names.includes(name) || !name.includes('.') || isIP(name) !== 0
}
