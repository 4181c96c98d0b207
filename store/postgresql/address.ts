/** Addresses of stores: `postgresql://user:password@host,other:5433/database?options`. Exactly one server accepts writes. */
import type { ClientConfig } from 'pg'
import { StoreUnavailable } from '../kv.ts'

/** Connection settings of each server. */
export interface StoreAddress {
  readonly servers: readonly ClientConfig[]
  /** The address without the password, for messages. */
  readonly shown: string
}

const defaultPort = 5432
const maxServers = 10

export const isPostgresAddress = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text)

/** Throws `StoreUnavailable` unless the text is the address of a database. */
export function parseStoreAddress(text: string): StoreAddress {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text)
  const [, login = '', hosts = '', database = '', query = ''] = parts ?? []
  if (!parts || database === '') throw new StoreUnavailable('The address of the store must be postgresql://user@host/database.')
  const [user = '', ...password] = login.split(':')
  const options = new URLSearchParams(query)
  const shared: ClientConfig = {
    database: decodeURIComponent(database),
    ...(user !== '' && { user: decodeURIComponent(user) }),
    ...(password.length > 0 && { password: decodeURIComponent(password.join(':')) }),
    ...tlsOf(options.get('sslmode')),
  }
  const places = hosts === '' ? [options.get('host') ?? 'localhost'] : hosts.split(',')
  if (places.length > maxServers) throw new StoreUnavailable(`The address of the store names more than ${maxServers} servers.`)
  const servers = places.map((place) => ({ ...shared, ...placeOf(decodeURIComponent(place)) }))
  return { servers, shown: `postgresql://${user === '' ? '' : `${user}@`}${hosts}/${database}` }
}

function placeOf(place: string): ClientConfig {
  if (place.startsWith('/')) return { host: place } // the folder of a Unix socket
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(place) ?? []
  if (host === '') throw new StoreUnavailable(`${JSON.stringify(place)} in the address of the store is not a valid host.`)
  return { host: host.replaceAll(/[[\]]/g, ''), port: port === undefined ? defaultPort : Number(port) }
}

/** Modes of libpq's sslmode. `require` does not verify the certificate; the `verify-…` modes do. */
function tlsOf(mode: string | null): ClientConfig {
  if (mode === null || mode === 'disable' || mode === 'prefer' || mode === 'allow') return {}
  if (mode === 'require') return { ssl: { rejectUnauthorized: false } }
  if (mode === 'verify-full' || mode === 'verify-ca') return { ssl: true }
  throw new StoreUnavailable(`sslmode=${mode} in the address of the store is unknown; use disable, require or verify-full.`)
}
