/** Tests on a PostgreSQL server of their own, some with an object server beside it; and the contract of the ordered map on it. */
import type { Kv } from '#store/kv.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'
import { ObjectServer } from '../../support/peers/object-server.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'

type Test = ReturnType<typeof testWith>

/** The server is there when the first test begins. */
export function onPostgresql(): { readonly test: Test; readonly postgresql: () => Postgresql } {
  const test = testWith('postgresql')
  const postgresql = serverOf(test, () => Postgresql.start())
  return { test, postgresql }
}

/** With a server of objects. */
export function onPostgresqlWithObjects() {
  const { test, postgresql } = onPostgresql()
  return { test, postgresql, objects: serverOf(test, () => ObjectServer.start()) }
}

function serverOf<Server extends AsyncDisposable>(test: Test, start: () => Promise<Server>): () => Server {
  let server: Server | undefined
  test.before(async () => {
    server = await start()
  })
  test.after.always(() => server?.[Symbol.asyncDispose]())
  return () => {
    if (!server) throw new Error('the server is there once tests run')
    return server
  }
}

type Options = Parameters<typeof PostgresKv.open>[1]

/** Each test of the contract in a database of its own. */
export function contractOnPostgresql({ test, postgresql }: ReturnType<typeof onPostgresql>, options: () => Options = () => ({})): void {
  const addresses = new Map<Kv, string>()
  const openAt = async (address: string): Promise<Kv> => {
    const kv = await PostgresKv.open(address, options())
    addresses.set(kv, address)
    return kv
  }
  kvContract(test, {
    open: async () => openAt(await postgresql().database()),
    async reopen(kv) {
      await kv[Symbol.asyncDispose]()
      return openAt(addresses.get(kv) ?? '')
    },
  })
}
