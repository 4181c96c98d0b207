/** AWS Signature Version 4, as Amazon documents it: which headers a request needs so that AWS knows who sends it. */
import { createHash, createHmac } from 'node:crypto'

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined
}

export interface AwsRequest {
  readonly method: string
  readonly url: string
  /** Signed as well; names in any case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface AwsScope {
  readonly region: string
  readonly service: string
  /** Milliseconds since the epoch; AWS allows five minutes of difference. */
  readonly nowMs: number
}

/** All headers of the request, the signature among them; `host` is left to whoever sends it. */
export function signedHeaders(request: AwsRequest, keys: AwsKeys, { region, service, nowMs }: AwsScope): Record<string, string> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const sent = {
    ...request.headers,
    'x-amz-date': time,
    ...(keys.sessionToken !== undefined && { 'x-amz-security-token': keys.sessionToken }),
  }
  const url = new URL(request.url)
  const signed = Object.entries({ ...sent, host: url.host })
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')])
    .sort(byCode)
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [region, service, 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${keys.secretAccessKey}`, date))
  const signature = hmac(key, toSign).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...sent, authorization }
}

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: Buffer | string, data: string): Buffer => createHmac('sha256', key).update(data).digest()
const byCode = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : Number(a > b))

/** Every service but S3 has the path encoded once more than it is sent. */
const canonicalPath = (path: string): string => path.split('/').map(encode).join('/')

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]): [string, string] => [encode(name), encode(value)])
  return pairs
    .map(([name, value]): [string, string] => [`${name}=${value}`, ''])
    .sort(byCode)
    .map(([pair]) => pair)
    .join('&')
}

/** RFC 3986 §2.3: everything but unreserved characters. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
