/** Provisioning over REST for black-box runs: a destination, a route to it, and a submission credential. */
import type { RestClient } from './rest.ts'

/** User name and password of an SMTP credential. */
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

/** Creates a destination on loopback; returns its id. */
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

/** Creates a route for a sender domain, or for every sender. */
export async function makeRoute(rest: RestClient, destinationId: string, domain?: string): Promise<void> {
  await rest.must('POST', '/v1/routing/rules', {
    match: domain === undefined ? { any: true } : { domain },
    destination_id: destinationId,
    priority: domain === undefined ? 100 : 10,
  })
}

/** Creates a submission credential. */
export async function makeLogin(rest: RestClient, destinationId: string, settings: Readonly<Record<string, unknown>> = {}): Promise<Login> {
  const credential = await rest.must('POST', '/v1/smtp-credentials', { label: 'proof', default_destination_id: destinationId, ...settings })
  return { username: String(credential['username']), password: String(credential['password']) }
}

/** Returns the id of the project's catch-all inbox, which contains every capture. */
export async function catchAllInbox(rest: RestClient): Promise<string> {
  for await (const inbox of rest.rows('/v1/inboxes')) if (inbox['address_pattern'] === '*') return String(inbox['id'])
  throw new Error('the project has no catch-all inbox')
}
