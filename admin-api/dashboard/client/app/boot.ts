/** Data of the signed-in user that `shell-page.ts` writes into the shell page. */

export interface OwnOrganization {
  readonly id: string
  readonly name: string
  readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
}

export interface Boot {
  /** Empty for an anonymous visitor. */
  readonly email: string
  readonly csrfToken: string
  readonly organizations: readonly OwnOrganization[]
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string
  /** Public URL for agents. */
  readonly mcpUrl: string
  readonly submission: { readonly host: string; readonly starttls: readonly number[]; readonly tls: readonly number[] }
  /** Milliseconds until sensitive actions require a new sign-in. */
  readonly confirmedForMs: number
  /** Whether the user may see and change settings of the service operator. */
  readonly isOperator: boolean
  /** First answers for the start screen, by path and query without `limit`. */
  readonly first?: { readonly organization: string; readonly answers: Readonly<Record<string, unknown>> }
}

const root = document.getElementById('app')

export const boot = JSON.parse(root?.dataset['boot'] ?? '{}') as Boot

/** Whether sensitive actions are possible without a new sign-in. */
export const isConfirmed = (): boolean => performance.now() < boot.confirmedForMs
