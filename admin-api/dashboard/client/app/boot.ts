/** What the shell page says of who is signed in; written by `shell-page.ts`. */

export interface OwnOrganization {
  readonly id: string
  readonly name: string
  readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
}

export interface Boot {
  /** Empty where no one is signed in. */
  readonly email: string
  /** For the form that signs out. */
  readonly csrfToken: string
  readonly organizations: readonly OwnOrganization[]
  /** Under which programs reach the service, without a slash at the end. */
  readonly baseUrl: string
  /** Where agents reach it. */
  readonly mcpUrl: string
  /** Where programs submit mail by SMTP. */
  readonly submission: { readonly host: string; readonly starttls: readonly number[]; readonly tls: readonly number[] }
  /** How much longer what is hard to undo needs no new proof of identity. */
  readonly confirmedForMs: number
  /** May see and set what belongs to the operator of the service. */
  readonly isOperator: boolean
}

const root = document.getElementById('app')

export const boot = JSON.parse(root?.dataset['boot'] ?? '{}') as Boot

/** What is hard to undo may be asked for without signing in again. */
export const isConfirmed = (): boolean => performance.now() < boot.confirmedForMs
