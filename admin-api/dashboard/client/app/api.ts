/** Calls the REST API with the browser session. Remembers the latest call of the screen for the "API call" panel. */
import { signal } from '@preact/signals'
import createClient, { type Middleware } from 'openapi-fetch'
import type { paths } from '../wire/api.d.ts'
import { readOnly } from '../wire/read-only.ts'
import { addressOf, filled, partsOf, searchOf, type Answer, type Input, type RequestParts, type Route, type Values } from '../wire/route.ts'
import { boot } from './boot.ts'
import { organization } from './location.ts'
import { texts } from '../texts/shell-texts.ts'

/** Problems of single fields by path. It knows which ones a form reads, because a form shows these at their fields. */
class FieldProblems extends Map<string, string> {
  readonly #read = new Set<string>()

  override get(path: string): string | undefined {
    this.#read.add(path)
    return super.get(path)
  }

  /** Problems that no field shows. */
  get others(): readonly (readonly [path: string, message: string])[] {
    return [...this].filter(([path]) => !this.#read.has(path))
  }
}

/** An error response of the service, or `unreachable` without a status if no response arrived. */
export class ApiFault extends Error {
  readonly code: string
  readonly status: number
  readonly nextAction: string
  readonly requestId: string
  readonly details: Readonly<Record<string, unknown>>
  readonly fields: FieldProblems

  constructor(fault: { code: string; message: string; status?: number; nextAction?: string; requestId?: string; details?: object }) {
    super(fault.message)
    this.code = fault.code
    this.status = fault.status ?? 0
    this.nextAction = fault.nextAction ?? 'retry'
    this.requestId = fault.requestId ?? ''
    this.details = { ...fault.details }
    const { fields } = this.details
    const problems = Array.isArray(fields) ? (fields as { path: string; message: string }[]) : []
    this.fields = new FieldProblems(problems.map(({ path, message }) => [path, message]))
  }

  /** Whether the service was unreachable, so that the outcome of the call is unknown. */
  get isAway(): boolean {
    return this.code === 'unreachable' || (this.status >= 502 && this.status <= 504)
  }
}

/** The call that supplies the content of a screen. */
export interface ShownCall {
  readonly route: string
  readonly input: RequestParts
  readonly answer?: unknown
  readonly status?: number
  readonly milliseconds?: number
}

export const shownCall = signal<ShownCall | undefined>(undefined)

/** Time of the first failed attempt to reach the service. Undefined while the service answers. */
export const awaySince = signal<string | undefined>(undefined)

/** Updates `awaySince` after a call. */
export function noteAnswer(isAway: boolean): void {
  awaySince.value = isAway ? (awaySince.value ?? new Date().toISOString()) : undefined
}

/** Shows a call in the panel without making it, because the screen already has the response. */
export function showCall<R extends Route>(
  route: R,
  input: Input<R> | (Omit<Input<R>, 'body'> & Required<Pick<RequestParts, 'file'>>),
): void {
  shownCall.value = { route, input: input as RequestParts }
}

const writeListeners: ((path: string) => void)[] = []

/** Calls `listener` with the path of each operation that changed something. */
export const onWrite = (listener: (path: string) => void): void => void writeListeners.push(listener)

const unreachable = (): ApiFault => new ApiFault({ code: 'unreachable', message: texts().unreachable })

/** Sends the organization, and turns refusals and interruptions into faults. */
const session: Middleware = {
  onRequest({ request }) {
    const id = organization.value?.id
    if (id !== undefined && !request.headers.has('x-organization-id')) request.headers.set('x-organization-id', id)
  },
  async onResponse({ request: { method }, response, schemaPath }) {
    noteAnswer(response.status >= 502 && response.status <= 504)
    if (!response.ok) throw await faultOf(response)
    if (method === 'GET' || readOnly.has(`${method} ${schemaPath}`)) return
    for (const listener of writeListeners) listener(schemaPath)
  },
  onError({ request }) {
    if (request.signal.aborted) return undefined
    noteAnswer(true)
    return unreachable()
  },
}

const client = createClient<paths>({
  credentials: 'same-origin',
  headers: { accept: 'application/json, */*;q=0.5' },
  pathSerializer: (path, values) => filled(path, values as Values),
  querySerializer: (query) => searchOf(query as Values),
})
client.use(session)

interface Options {
  readonly signal?: AbortSignal
  /** Whether the panel shows this call as the source of the screen. */
  readonly isShown?: boolean
  /** Organization of the call, if it is not the current one. */
  readonly organizationId?: string
  /** Additional request headers, by lowercase name. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Throws `ApiFault`, or an `AbortError` after `signal` aborts. */
export const call = <R extends Route>(route: R, input: Input<R>, options?: Options): Promise<Answer<R>> =>
  callAny(route, input, options) as Promise<Answer<R>>

/** Calls an operation that is not known at compile time. */
export async function callAny(route: string, input: RequestParts, options: Options = {}): Promise<unknown> {
  const { signal: aborts, isShown = false, organizationId, headers } = options
  const shown: ShownCall = { route, input }
  if (isShown) shownCall.value = shown
  const began = performance.now()
  const [method, path] = partsOf(route)
  const { response } = await request(method, path, {
    params: { path: input.path, query: input.query },
    body: input.body,
    headers: { ...headers, ...(organizationId !== undefined && { 'x-organization-id': organizationId }) },
    parseAs: 'stream', // `contentOf` reads JSON and files
    ...(aborts && { signal: aborts }),
  })
  const answer = await contentOf(response)
  if (isShown && shownCall.value === shown)
    shownCall.value = { ...shown, answer, status: response.status, milliseconds: Math.round(performance.now() - began) }
  return answer
}

const request = client.request as unknown as (method: string, path: string, init: object) => Promise<{ readonly response: Response }>

const isJson = ({ headers }: Response): boolean => /^application\/json\b/.test(headers.get('content-type') ?? '')

const contentOf = (response: Response): Promise<unknown> =>
  response.status === 204 ? Promise.resolve() : isJson(response) ? response.json() : response.blob()

/** Reads the body of a response to another request. Throws `ApiFault` for an error response. */
export async function read(response: Response): Promise<unknown> {
  if (!response.ok) throw await faultOf(response)
  return contentOf(response)
}

async function faultOf(response: Response): Promise<ApiFault> {
  const body = isJson(response)
    ? ((await response.json()) as { error?: { code: string; message: string; next_action: string; details?: object } })
    : {}
  const { code = 'internal_error', message = response.statusText, next_action: nextAction = 'retry', details = {} } = body.error ?? {}
  const requestId = response.headers.get('x-request-id') ?? ''
  return new ApiFault({ code, message, status: response.status, nextAction, requestId, details })
}

/** Offers a file in the browser as a download. */
export async function save(file: Blob, name: string): Promise<void> {
  const address = URL.createObjectURL(file)
  const anchor = Object.assign(document.createElement('a'), { href: address, download: name })
  anchor.click()
  await new Promise((done) => setTimeout(done, 1000))
  URL.revokeObjectURL(address)
}

/** Start of the program. The page of the start screen contains answers of the service, which replace its first requests. */
const startedAt = performance.now()
/** A screen that opens later reads again. */
const freshMs = 30_000
/** Whether the window has changed something. */
let isChanged = false
writeListeners.push(() => (isChanged = true))

/** Returns the answer to a read of the current organization. Undefined if the page lacks it, or if the page is old. */
export function firstAnswer<T>(path: string, { query = {} }: RequestParts): T | undefined {
  const { first } = boot
  if (!first || isChanged || performance.now() - startedAt > freshMs || first.organization !== organization.value?.id) return undefined
  const sorted = Object.entries(query)
    .filter(([name]) => name !== 'limit')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return first.answers[addressOf(path, { query: Object.fromEntries(sorted) })] as T | undefined
}
