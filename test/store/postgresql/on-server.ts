/** Tests on a PostgreSQL server, some with an object server; and the contract of the ordered map on it. */
import assert from 'node:assert'
import type { Kv } from '#store/kv.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'
import type { Databases } from '../../support/peers/databases.ts'
import { ObjectServer } from '../../support/peers/object-server.ts'
import { testWith } from '../../support/peers/peers.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'

type Test = ReturnType<typeof testWith>

/** Starts the server before the first test. */
export function onPostgresql(): { readonly test: Test; readonly postgresql: () => Databases } {
  const test = testWith('postgresql')
  return { test, postgresql: databasesOf(test) }
}

/** Starts a server of objects too. */
export function onPostgresqlWithObjects() {
  const { test, postgresql } = onPostgresql()
  let objects: ObjectServer | undefined
  test.before(async () => {
    objects = await ObjectServer.start()
  })
  test.after.always(() => objects?.[Symbol.asyncDispose]())
  return { test, postgresql, objects: () => objects ?? assert.fail('the tests have not begun') }
}

type Options = Parameters<typeof PostgresKv.open>[1]

/** Runs each test of the contract in a separate database. */
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
