/** A published form, and visitors of a page with it. */
import { request } from 'node:http'
import type { ExecutionContext } from 'ava'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { startFixture, type Fixture, type FixtureOptions } from '../fixture/rest-fixture.ts'

type Row = Readonly<Record<string, unknown>>

export interface FormFixture extends Fixture {
  readonly form: string
  readonly publicId: string
  readonly path: string
  /** Returns a fresh token, issued the given time ago. */
  token(agoMs?: number): Promise<string>
  /** Sends answers with a fresh token that is old enough. */
  send(data: Row, more?: Row, headers?: Readonly<Record<string, string>>): Promise<RestAnswer>
  /** Sends a body unchanged, without a key. */
  post(body: string | Buffer, contentType: string, headers?: Readonly<Record<string, string>>): Promise<RestAnswer>
  get(query?: string, headers?: Readonly<Record<string, string>>): Promise<RestAnswer>
  submissions(query?: string): Promise<Row[]>
  /** Publishes the definition with changed parts. */
  publish(changes: Row): Promise<void>
}

export const definition = {
  name: 'Contact',
  schema: {
    version: 1,
    fields: [
      { key: 'email', type: 'email', label: 'Email', required: true, autocomplete: 'email' },
      { key: 'message', type: 'textarea', label: 'Message' },
      { key: 'topics', type: 'checkboxes', label: 'Topics', options: ['a', 'b'].map((value) => ({ value, label: value })) },
    ],
  },
  thank_you: { title: 'Thank you', body: 'We read every message.' },
}

export async function formFixture(t: ExecutionContext, changes: Row = {}, options: FixtureOptions = {}): Promise<FormFixture> {
  const fixture = await startFixture(t, options)
  const { rest, clock, address } = fixture
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Contact', definition: { ...definition, ...changes } })
  const path = `/v1/forms/${String(id)}`
  await rest.must('POST', `${path}/publish`)
  const open = `/v1/public/forms/${String(public_id)}`
  const ask = (method: string, where: string, headers: Readonly<Record<string, string>>, body?: Buffer): Promise<RestAnswer> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `http://${address}${where}`,
        { method, headers: { ...headers, ...(body && { 'content-length': body.length }) } },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () => {
            const bytes = Buffer.concat(chunks)
            const isJson = answer.headers['content-type'] === 'application/json' && bytes.length > 0
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              bytes,
              body: isJson ? JSON.parse(bytes.toString()) : undefined,
            })
          })
        },
      )
      sent.on('error', reject).end(body)
    })
  const get: FormFixture['get'] = (query = '', headers = {}) => ask('GET', `${open}?${query}`, headers)
  const post: FormFixture['post'] = (body, contentType, headers = {}) =>
    ask('POST', `${open}/submissions`, { 'content-type': contentType, ...headers }, Buffer.from(body))
  const token = async (agoMs = 5000): Promise<string> => {
    const { body } = await get()
    clock.advance(agoMs)
    return String((body as Row)['fill_time_token'])
  }
  return {
    ...fixture,
    ...{ form: String(id), publicId: String(public_id), path, token, get, post },
    async send(data, { _mnx_ft, ...more } = {}, headers = {}) {
      const body = { data, _mnx_ft: _mnx_ft ?? (await token()), ...more }
      return post(JSON.stringify(body), 'application/json', headers)
    },
    submissions: async (query = '') => (await rest.must('GET', `${path}/submissions?${query}`))['data'] as Row[],
    async publish(changed) {
      await rest.must('PUT', `${path}/draft`, { ...definition, ...changes, ...changed })
      await rest.must('POST', `${path}/publish`)
    },
  }
}
