/** Calls the REST API with the browser session. Remembers the latest call of the screen for the "API call" panel. */
import { signal } from '@preact/signals'
import { addressOf, type Operation, type RequestParts } from '../wire/operation.ts'
import { organization } from './location.ts'
import { texts } from '../texts/shell-texts.ts'

/** An error response of the service, or `unreachable` without a status if no response arrived. */
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
  readonly operation: Operation<unknown, unknown>
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
export function showCall<I, O>(operation: Operation<I, O>, input: I): void {
  shownCall.value = { operation, input: input as RequestParts }
}

const writeListeners: ((path: string) => void)[] = []

/** Calls `listener` with the path of each operation that changed something. */
export const onWrite = (listener: (path: string) => void): void => void writeListeners.push(listener)

const isWrite = ({ method, scope }: Pick<Operation<unknown, unknown>, 'method' | 'scope'>): boolean =>
  method !== 'GET' && scope !== 'api:read'

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
export async function call<I, O>(
  operation: Operation<I, O>,
  input: I,
  { signal: aborts, isShown = false, organizationId, headers }: Options = {},
): Promise<O> {
  const parts = input as RequestParts
  const shown = { operation: operation as Operation<unknown, unknown>, input: parts }
  if (isShown) shownCall.value = shown
  const began = performance.now()
  const response = await ask(operation, parts, { aborts, organizationId, more: headers })
  const answer = await read(response)
  if (isWrite(operation)) for (const listener of writeListeners) listener(operation.path)
  if (isShown && shownCall.value === shown)
    shownCall.value = { ...shown, answer, status: response.status, milliseconds: Math.round(performance.now() - began) }
  return answer as O
}

async function ask(
  operation: Pick<Operation<unknown, unknown>, 'path' | 'method'>,
  parts: RequestParts,
  {
    aborts,
    organizationId = organization.value?.id,
    more,
  }: {
    readonly aborts: AbortSignal | undefined
    readonly organizationId: string | undefined
    readonly more: Readonly<Record<string, string>> | undefined
  },
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.5', ...more }
  if (organizationId !== undefined) headers['x-organization-id'] = organizationId
  if (parts.body !== undefined) headers['content-type'] = 'application/json'
  try {
    const response = await fetch(addressOf(operation, parts), {
      method: operation.method,
      headers,
      credentials: 'same-origin',
      ...(parts.body !== undefined && { body: JSON.stringify(parts.body) }),
      ...(aborts && { signal: aborts }),
    })
    noteAnswer(response.status >= 502 && response.status <= 504)
    return response
  } catch (error) {
    if (aborts?.aborted) throw error
    noteAnswer(true)
    throw new ApiFault({ code: 'unreachable', message: texts().unreachable })
  }
}

/** Reads the body of a response. Throws `ApiFault` for an error response. */
export async function read(response: Response): Promise<unknown> {
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '')
  if (response.ok) return response.status === 204 ? undefined : isJson ? response.json() : response.blob()
  const body = isJson
    ? ((await response.json()) as { error?: { code: string; message: string; next_action: string; details?: object } })
    : {}
  const { code = 'internal_error', message = response.statusText, next_action: nextAction = 'retry', details = {} } = body.error ?? {}
  const requestId = response.headers.get('x-request-id') ?? ''
  throw new ApiFault({ code, message, status: response.status, nextAction, requestId, details })
}

/** Offers a file in the browser as a download. */
export async function save(file: Blob, name: string): Promise<void> {
  const address = URL.createObjectURL(file)
  const anchor = Object.assign(document.createElement('a'), { href: address, download: name })
  anchor.click()
  await new Promise((done) => setTimeout(done, 1000))
  URL.revokeObjectURL(address)
}
