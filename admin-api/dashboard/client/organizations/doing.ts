/** What is to be done with an organization, and what follows when one is gone. */
import { go, organization, organizations } from '../app/location.ts'

/** An organization that something is to be done with. */
interface Chosen {
  readonly id: string
  readonly name: string
  readonly members?: number
  /** The own id in it. */
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

/** From which organization another one is changed: from itself where one administers it, else from the one that created it. */
export const askingFrom = (id: string): { readonly organizationId?: string } =>
  organizations.value.some((one) => one.id === id && (one.role === 'owner' || one.role === 'admin')) ? { organizationId: id } : {}

/** Takes an organization out of the switcher; where it was the one that is shown, another is. */
export function forget(id: string, onDone: () => void): void {
  const isShown = organization.value?.id === id
  organizations.value = organizations.value.filter((one) => one.id !== id)
  if (isShown) go('/orgs', { replaces: true })
  onDone()
}
