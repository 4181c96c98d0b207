/** AWS Signature Version 4, as documented by Amazon: creates the headers that authenticate a request. */
import { createHash, createHmac } from 'node:crypto'

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Token of temporary credentials. */
  readonly sessionToken?: string | undefined
}

export interface AwsRequest {
  readonly method: string
  readonly url: string
  /** Headers to sign, with names in any case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface AwsScope {
  readonly region: string
  readonly service: string
  /** Milliseconds since the epoch. AWS allows a difference of five minutes. */
  readonly nowMs: number
}

/** Returns all headers of the request, including the signature. The HTTP client adds `host`. */
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

/** Encodes the path a second time, as all services except S3 require. */
const canonicalPath = (path: string): string => path.split('/').map(encode).join('/')

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]): [string, string] => [encode(name), encode(value)])
  return pairs
    .map(([name, value]): [string, string] => [`${name}=${value}`, ''])
    .sort(byCode)
    .map(([pair]) => pair)
    .join('&')
}

/** Encodes everything except unreserved characters (RFC 3986 §2.3). */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
