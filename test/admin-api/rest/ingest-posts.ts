/** Posting signed bodies to a rig, and messages that have left it. */
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { readFileSync } from 'node:fs'
import { SecretBox } from '#core/access/secret-box.ts'
import { hmacSecretPlace, ingestSources } from '#core/ingest-sources/ingest-source.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { waitingEntry } from '#core/trace/waiting-entry.ts'
import { dequeueIfThere } from '#store/queue.ts'
import { addDestination, type Rig } from './rig.ts'

export const secrets = new SecretBox(Buffer.alloc(32, 7))

const folder = new URL('../../fixtures/ingest-samples/', import.meta.url)
export const sample = (name: string): Buffer => readFileSync(new URL(name, folder))
export const sampleJson = (name: string): unknown => JSON.parse(sample(name).toString())
/** The secret under which the samples are signed. */
const sampleSecret = 'ovos-test-secret'

/** The signature headers that a sample comes with. */
export const sampleSignature = (name: string): Record<string, string> =>
  (sampleJson('signatures.json') as { signatures: Record<string, Record<string, string>> }).signatures[name] ?? {}

export interface Source {
  readonly id: string
  readonly secret: string
  readonly webhookUrl: string
}

export async function addSource({ rest }: Pick<Rig, 'rest'>, provider: string): Promise<Source> {
  const { id, hmac_secret: secret, webhook_url: url } = await rest.must('POST', '/v1/ingest-sources', { provider })
  return { id: String(id), secret: String(secret), webhookUrl: String(url) }
}

/** A source whose secret is that of the samples. */
export async function addSampleSource(rig: Rig, provider: string): Promise<Source> {
  const source = await addSource(rig, provider)
  const { database, organizationId } = rig
  const stored = await database.get(ingestSources, { organizationId }, source.id)
  if (!stored) throw new Error('no source')
  const sealedSecret = secrets.seal(sampleSecret, hmacSecretPlace(source.id))
  await database.commit(new Change().replace(ingestSources, organizationId, stored, { ...stored.record, sealedSecret }))
  return { ...source, secret: sampleSecret }
}

export interface Posted {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Posts bytes as they are, without a key. */
export function post({ address }: Rig, path: string, bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Posted> {
  const { promise, resolve, reject } = Promise.withResolvers<Posted>()
  const sent = request(`http://${address}${path}`, { method: 'POST', headers: { 'content-length': String(bytes.length), ...headers } })
  sent.on('error', reject)
  sent.on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> })
    })
  })
  sent.end(bytes)
  return promise
}

export const signature = (secret: string, bytes: Uint8Array): string => `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`

/** Posts signed to a path with the id of the source. */
export function postSigned(
  rig: Rig,
  path: string,
  source: Source,
  given: Uint8Array | string | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Posted> {
  const bytes = given instanceof Uint8Array ? given : Buffer.from(typeof given === 'string' ? given : JSON.stringify(given))
  const query = `${path.includes('?') ? '&' : '?'}source_id=${source.id}`
  return post(rig, path + query, bytes, { 'x-service-signature': signature(source.secret, bytes), ...headers })
}

/** A message that the provider has taken, with a return path for each recipient. */
export async function sentMessage(rig: Rig, to: readonly string[], changes: Partial<Trace> = {}): Promise<Trace> {
  const { rest, database, organizationId } = rig
  const destination = await addDestination(rest, {}, true)
  const message = { from: 'shop@example.com', to, subject: 'Order 123', text: 'x', destination_id: destination, verp_enabled: true }
  const traceId = String((await rest.must('POST', '/v1/messages', message))['trace_id'])
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored) throw new Error('no trace')
  const recipients = stored.record.recipients.map((one) => ({ ...one, status: 'sent' as const }))
  const record = { ...stored.record, status: 'sent' as const, nextAttemptAt: null, recipients, ...changes }
  const change = new Change().replace(traces, organizationId, stored, record)
  await database.commit(await dequeueIfThere(database, change, waitingEntry(organizationId, stored.record)))
  return record
}

export const traceOf = (rig: Pick<Rig, 'rest'>, { id }: Pick<Trace, 'id'>): Promise<Readonly<Record<string, unknown>>> =>
  rig.rest.must('GET', `/v1/traces/${id}`)

export const returnPathOf = ({ recipients }: Trace, at = 0): string => recipients[at]?.verp ?? ''

export async function switchFlag({ database, organizationId }: Rig, flag: string, on: boolean): Promise<void> {
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (!stored) throw new Error('no organization')
  const record = { ...stored.record, flags: { ...stored.record.flags, [flag]: on } }
  await database.commit(new Change().replace(organizations, organizationId, stored, record))
}
