/** Condition of keys and logins that expire while they are in use. Pure. */
import { observedAs, type Condition } from '../condition.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** Credentials with a shorter life are meant to end. */
const minLifeMs = 14 * dayMs

export interface Expiring {
  readonly id: string
  readonly name: string
  readonly what: 'key' | 'login'
  /** Empty for a key of the organization. */
  readonly projectId: string
  readonly createdAt: number
  readonly expiresAt: number | null
}

/** Returns the credentials that end within seven days. */
export const expiringSoon = (all: readonly Expiring[], now: number): readonly (Expiring & { readonly expiresAt: number })[] =>
  all.flatMap((one) => {
    const { createdAt, expiresAt } = one
    const isSoon = expiresAt !== null && expiresAt > now && expiresAt - now <= weekMs && expiresAt - createdAt >= minLifeMs
    return isSoon ? [{ ...one, expiresAt }] : []
  })

export const credentialConditions = (
  expiring: ReturnType<typeof expiringSoon>,
  lastUse: ReadonlyMap<string, number>,
  now: number,
): readonly Condition[] =>
  expiring
    .filter(({ id }) => now - (lastUse.get(id) ?? -Infinity) <= weekMs)
    .map(({ id, name, what, projectId, expiresAt }) =>
      observedAs(undefined, 'credential.expiring', id, { name, what, days: Math.ceil((expiresAt - now) / dayMs) }, projectId),
    )
