/** A web page with a key of its own, as tests send from it. */
import type { ExecutionContext } from 'ava'
import type { RestAnswer, RestClient } from '../../support/rest.ts'
import { errorOf, startRig, type Rig, type RigOptions } from './rig.ts'

export const origin = 'https://shop.example.ch'
export const page = { allowed_origins: [origin], allowed_to: ['ada@example.ch', '@team.example.ch'], locked_from: 'form@example.ch' }
export const plain = { from: 'form@example.ch', to: 'ada@example.ch', reply_to: 'visitor@example.net', text: 'Hello.' }

export interface Site extends Rig {
  readonly id: string
  readonly token: string
  /** A send of the page. */
  send(body?: object, headers?: Readonly<Record<string, string>>): Promise<RestAnswer>
}

export async function siteOf(t: ExecutionContext, changes: object = {}, options: RigOptions = {}): Promise<Site> {
  const rig = await startRig(t, options)
  const { id, raw_token } = await rig.rest.must('POST', '/v1/publishable-keys', { ...page, ...changes })
  const client = rig.client(String(raw_token))
  const send = (body: object = {}, headers = {}) => client.call('POST', '/v1/messages', { ...plain, ...body }, { origin, ...headers })
  return { ...rig, id: String(id), token: String(raw_token), send }
}

export const codeOf = (answer: RestAnswer): unknown => (answer.status < 300 ? answer.status : `${answer.status} ${errorOf(answer).code}`)

export const firstField = (answer: RestAnswer): unknown =>
  (errorOf(answer).details as { fields: { path: string }[] } | undefined)?.fields[0]?.path

/** Traces of what was taken. */
export async function tracesOf(rest: RestClient): Promise<Record<string, unknown>[]> {
  const { data } = (await rest.must('GET', '/v1/traces?limit=200')) as { data: Record<string, unknown>[] }
  return data.filter(({ status }) => status !== 'validation_failed')
}
