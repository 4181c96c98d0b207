/** A double of Mailgun: POST /v3/{domain}/messages.mime, multipart. */
import { type SeenRequest, type TakenMessage, type VendorRules } from './double.ts'

/** The parts of multipart/form-data (RFC 7578 §4), by name. */
function parts({ headers, body }: SeenRequest): { readonly name: string; readonly isFile: boolean; readonly value: Buffer }[] {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers['content-type'] ?? '')?.[1]
  if (!boundary) throw new Error(`the content type is ${headers['content-type']}`)
  const text = body.toString('latin1')
  if (!text.endsWith(`--${boundary}--\r\n`)) throw new Error('the form has no end')
  return `\r\n${text}`
    .split(`\r\n--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const end = part.indexOf('\r\n\r\n')
      const head = part.slice(2, end)
      const name = /form-data; name="([^"]+)"/.exec(head)?.[1] ?? ''
      return { name, isFile: /filename="/.test(head), value: Buffer.from(part.slice(end + 4), 'latin1') }
    })
}

function takeForm(request: SeenRequest): TakenMessage {
  const all = parts(request)
  const file = all.find(({ name }) => name === 'message')
  if (!file?.isFile) throw new Error("'message' parameter is not a file")
  return { recipients: all.filter(({ name }) => name === 'to').map(({ value }) => value.toString()), mime: file.value }
}

export const mailgunRules: VendorRules = {
  provider: 'mailgun',
  credentials: { api_key: 'right-key-3', domain: 'mg.site.test', region: 'eu' },
  wrong: { api_key: 'wrong-key-3' },
  refusals: {
    permanent: { status: 400, body: { message: "'to' parameter is not a valid address. please check documentation" } },
    transient: { status: 500, body: { message: 'Internal server error' } },
    rateLimited: { status: 429, headers: { 'retry-after': '17' }, body: { message: 'Too many requests' } },
    misconfigured: { status: 404, body: { message: 'Domain not found: mg.site.test' } },
  },
  authenticate({ headers }) {
    const login = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
    return login === 'api:right-key-3' ? undefined : { status: 401, body: `Forbidden for ${login}` }
  },
  take: (request) => (isSend(request) ? takeForm(request) : undefined),
  accepted: () => ({ status: 200, body: { id: '<20261121.1@mg.site.test>', message: 'Queued. Thank you.' } }),
  probed: (request) =>
    isSend(request) && parts(request).length === 0 ? { status: 400, body: { message: 'to parameter is missing' } } : undefined,
}

const isSend = ({ method, path }: SeenRequest): boolean => method === 'POST' && path === '/v3/mg.site.test/messages.mime'
