/** The contract of the ordered map, for the store on PostgreSQL whose larger values are files of a shared folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kv } from '#store/kv.ts'
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { kvContract } from '../../contracts/kv-contract.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'

const test = testWith('postgresql')
let postgresql: Postgresql
let folder: string
test.before(async () => {
  postgresql = await Postgresql.start()
  folder = await mkdtemp(join(tmpdir(), 'postern-objects-'))
})
test.after.always(async () => {
  await postgresql?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** So few octets that much of what the contract writes becomes objects. */
const leastBytes = 60
const addresses = new Map<Kv, string>()
const openAt = async (address: string): Promise<Kv> => {
  const kv = await PostgresKv.open(address, { large: { objects: objectStoreAt(`file://${folder}`, {}), leastBytes } })
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
