/** Actions on organizations, and the cleanup after one is gone. */
import { go, organization, organizations } from '../app/location.ts'

interface Chosen {
  readonly id: string
  readonly name: string
  readonly members?: number
  /** Id of the current user within it. */
  readonly userId?: string
}

export interface Doing {
  readonly what: 'rename' | 'leave' | 'delete'
  readonly chosen: Chosen
}

export type OnDo = (what: Doing['what'], chosen: Chosen) => void

export interface DoingProps {
  readonly chosen: Chosen
  readonly onClose: () => void
  readonly onDone: () => void
}

/**
 * Returns the organization that authorizes a change: the organization itself if the user administers it. Otherwise it is the current one,
 * which created it.
 */
export const askingFrom = (id: string): { readonly organizationId?: string } =>
  organizations.value.some((one) => one.id === id && (one.role === 'owner' || one.role === 'admin')) ? { organizationId: id } : {}

/** Removes an organization from the switcher. If it is the current one, another becomes current. */
export function forget(id: string, onDone: () => void): void {
  const isShown = organization.value?.id === id
  organizations.value = organizations.value.filter((one) => one.id !== id)
  if (isShown) go('/settings/organization', { replaces: true })
  onDone()
}
