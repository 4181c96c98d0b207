/** Uploads a file as a request body and reports the progress. */
import { addressOf, partsOf, type Answer, type Input, type RequestParts, type Route } from '../wire/route.ts'
import { ApiFault, read } from '../app/api.ts'
import { organization } from '../app/location.ts'
import { texts } from '../texts/texts.ts'

interface Sending {
  readonly file: Blob
  readonly type: string
  readonly signal: AbortSignal
  /** From 0 to 1. */
  readonly onProgress: (share: number) => void
}

/** Throws `ApiFault`, or an `AbortError` after `signal` aborts. Uses `XMLHttpRequest`, because `fetch` reports no upload progress. */
export async function upload<R extends Route>(
  route: R,
  input: Omit<Input<R>, 'body'>,
  { file, type, signal, onProgress }: Sending,
): Promise<Answer<R>> {
  const request = new XMLHttpRequest()
  request.open(partsOf(route)[0], addressOf(route, input as RequestParts))
  request.responseType = 'blob'
  request.setRequestHeader('accept', 'application/json')
  request.setRequestHeader('content-type', type)
  if (organization.value) request.setRequestHeader('x-organization-id', organization.value.id)
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  const response = await new Promise<Response>((resolve, reject) => {
    request.addEventListener('load', () => resolve(responseOf(request)))
    request.addEventListener('abort', () => reject(new DOMException('It was stopped.', 'AbortError')))
    request.addEventListener('error', () => reject(new ApiFault({ code: 'unreachable', message: texts().unreachable })))
    request.send(file)
  })
  return (await read(response)) as Answer<R>
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers()
  for (const name of ['content-type', 'x-request-id']) {
    const value = request.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(request.response as Blob, { status: request.status, statusText: request.statusText, headers })
}
