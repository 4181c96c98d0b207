/**
 * Addresses of object storage for large values: `s3://bucket/prefix?endpoint=https://host&region=eu-central-1`, or `file:///srv/objects`.
 */
import { StoreUnavailable } from '../../kv.ts'
import { FolderObjects } from './folder-objects.ts'
import type { ObjectStore } from './object-store.ts'
import { S3Objects } from './s3-objects.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Throws `StoreUnavailable` for an invalid address and for missing credentials. */
export function objectStoreAt(address: string, environment: Environment): ObjectStore {
  const url = URL.parse(address)
  if (url?.protocol === 'file:' && url.host === '' && url.pathname.length > 1)
    return new FolderObjects(decodeURIComponent(url.pathname).replace(/\/$/, ''))
  if (url?.protocol !== 's3:' || url.host === '')
    throw new StoreUnavailable('POSTERN_STORE_OBJECTS must be s3://bucket?endpoint=https://host&region=name, or file:///folder.')
  return bucketAt(url, environment)
}

/** Credentials in the address take precedence over the environment. */
function bucketAt(url: URL, environment: Environment): ObjectStore {
  const endpoint = url.searchParams.get('endpoint')
  if (endpoint !== null && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
    throw new StoreUnavailable(`endpoint=${endpoint} in POSTERN_STORE_OBJECTS must be http:// or https:// and a host.`)
  const accessKeyId = decodeURIComponent(url.username) || environment['AWS_ACCESS_KEY_ID']
  const secretAccessKey = decodeURIComponent(url.password) || environment['AWS_SECRET_ACCESS_KEY']
  if (!accessKeyId || !secretAccessKey)
    throw new StoreUnavailable('The object store needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.')
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  return new S3Objects({
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpoint?.replace(/\/$/, ''),
    region: url.searchParams.get('region') ?? environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    ...{ accessKeyId, secretAccessKey },
    sessionToken: url.username === '' ? environment['AWS_SESSION_TOKEN'] : undefined,
  })
}
