/** The contract of the ordered map, for the store on PostgreSQL whose larger values are objects of a bucket. */
import type { Kv } from '#store/kv.ts'
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'
import { ObjectServer } from '../../support/peers/object-server.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'

const test = testWith('postgresql')
let postgresql: Postgresql
let server: ObjectServer
test.before(async () => {
  ;[postgresql, server] = await Promise.all([Postgresql.start(), ObjectServer.start()])
})
test.after.always(async () => {
  await postgresql?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

/** So few octets that some of what each test of the contract writes becomes objects; the server of these tests takes a few a second. */
const leastBytes = 100
const addresses = new Map<Kv, string>()
const openAt = async (address: string): Promise<Kv> => {
  const kv = await PostgresKv.open(address, { large: { objects: objectStoreAt(server.address(), {}), leastBytes } })
  addresses.set(kv, address)
  return kv
}

kvContract(test, {
  open: async () => openAt(await postgresql.database()),
  async reopen(kv) {
    await kv[Symbol.asyncDispose]()
    return openAt(addresses.get(kv) ?? '')
  },
})
