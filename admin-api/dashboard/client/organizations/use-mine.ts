/** Reads the organizations of the user, each with the user's role in it. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { boot, type OwnOrganization } from '../app/boot.ts'
import { organizations } from '../app/location.ts'
import { asFault, type Listing, type Read } from '../app/query.ts'
import type { Organization } from '../wire/api.d.ts'

export interface Mine extends OwnOrganization {
  readonly read: {
    readonly organization: Organization
    /** Undefined for the billing role, which may not read members. */
    readonly members?: { readonly count: number; readonly userId: string; readonly joinedAt: string }
  }
}

async function mineOf(one: OwnOrganization, signal: AbortSignal): Promise<Mine> {
  const from = { signal, organizationId: one.id }
  if (one.role === 'billing')
    return { ...one, read: { organization: await call('/v1/organizations/{id}', { path: { id: one.id } }, from) } }
  const [organization, { data }] = await Promise.all([
    call('/v1/organizations/{id}', { path: { id: one.id } }, from),
    call('/v1/members', {}, from),
  ])
  const me = data.find(({ email }) => email === boot.email)
  const members = { count: data.length, userId: me?.user_id ?? '', joinedAt: me?.joined_at ?? '' }
  return { ...one, role: me?.role ?? one.role, read: { organization, members } }
}

export function useMine(): Listing<Mine> {
  const [read, setRead] = useState<Read<readonly Mine[]>>({ state: 'loading' })
  const [turn, setTurn] = useState(0)
  const all = organizations.value
  useEffect(() => {
    const aborter = new AbortController()
    Promise.all(all.map((one) => mineOf(one, aborter.signal))).then(
      (data) => setRead({ state: 'ready', data }),
      (error: unknown) => aborter.signal.aborted || setRead({ state: 'failed', fault: asFault(error) }),
    )
    return () => aborter.abort()
  }, [all, turn])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  return {
    read,
    more: undefined,
    isLoadingMore: false,
    reload,
    refresh: reload,
    change: () => undefined,
  }
}
