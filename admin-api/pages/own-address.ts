/** Pages under the address of the service alone: a name that somebody else points at this machine shows none of them (DNS rebinding). */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Refusal } from '#core/refusals.ts'
import type { Operation } from '../operation.ts'

/** The operations, refused with `misdirected` where the request names a host that others may have chosen. */
export const underOwnAddress = (origin: string, operations: readonly Operation[]): readonly Operation[] =>
  operations.map((served) => ({
    ...served,
    handle(input) {
      requireOwnAddress(input.headers, origin)
      return served.handle(input)
    },
  }))

/** Addresses and names without a dot cannot be pointed here by a stranger: who uses them means this machine. */
function requireOwnAddress({ host = '' }: IncomingHttpHeaders, origin: string): void {
  const asked = URL.parse(`http://${host}`)
  const name = asked?.username === '' ? asked.hostname.replace(/\.$/, '') : undefined
  const isOwn = name === new URL(origin).hostname
  if (name !== undefined && (isOwn || !name.includes('.') || isIP(name) !== 0)) return
  throw new Refusal('misdirected', `This service is not known under the name that was asked for. Open it at ${origin}.`)
}
