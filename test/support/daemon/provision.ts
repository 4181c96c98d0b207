/** What every black-box run sets up over REST first: a destination, a route to it, a credential to submit with. */
import type { RestClient } from './rest.ts'

/** Username and password of an SMTP credential; the password is shown once. */
export interface Login {
  readonly username: string
  readonly password: string
}

interface Target {
  readonly name: string
  readonly port: number
  /** Live destinations relay, sandbox destinations capture. */
  readonly mode: 'live' | 'sandbox'
  readonly credentials?: Readonly<Record<string, unknown>>
  readonly maxConnections?: number
}

/** Makes a destination on loopback and gives back its id. */
export async function makeDestination(rest: RestClient, { name, port, mode, credentials, maxConnections }: Target): Promise<string> {
  const destination = await rest.must('POST', '/v1/destinations', {
    name,
    provider: 'smtp',
    credentials: { host: '127.0.0.1', port, security: 'none', ...credentials },
    ...(maxConnections !== undefined && { max_connections: maxConnections }),
  })
  const id = String(destination['id'])
  if (mode === 'live') await rest.must('POST', `/v1/destinations/${id}/promote-to-live`)
  return id
}

/** Routes a sender domain, or every sender, to a destination. */
export async function makeRoute(rest: RestClient, destinationId: string, domain?: string): Promise<void> {
  await rest.must('POST', '/v1/routing/rules', {
    match: domain === undefined ? { any: true } : { domain },
    destination_id: destinationId,
    priority: domain === undefined ? 100 : 10,
  })
}

/** Makes a credential to submit with. */
export async function makeLogin(rest: RestClient, destinationId: string, settings: Readonly<Record<string, unknown>> = {}): Promise<Login> {
  const credential = await rest.must('POST', '/v1/smtp-credentials', { label: 'proof', default_destination_id: destinationId, ...settings })
  return { username: String(credential['username']), password: String(credential['password']) }
}

/** The id of the project's catch-all inbox, in which every capture lands. */
export async function catchAllInbox(rest: RestClient): Promise<string> {
  for await (const inbox of rest.rows('/v1/inboxes')) if (inbox['address_pattern'] === '*') return String(inbox['id'])
  throw new Error('the project has no catch-all inbox')
}
