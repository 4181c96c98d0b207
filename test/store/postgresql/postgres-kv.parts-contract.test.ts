/** The contract of the ordered map, for a database in which every counter has parts. */
import type { Kv } from '#store/kv.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'

const test = testWith('postgresql')
let postgresql: Postgresql
test.before(async () => {
  postgresql = await Postgresql.start()
})
test.after.always(() => postgresql?.[Symbol.asyncDispose]())

const addresses = new Map<Kv, string>()
const openAt = async (address: string): Promise<Kv> => {
  const kv = await PostgresKv.open(address, { parts: 'always' })
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
