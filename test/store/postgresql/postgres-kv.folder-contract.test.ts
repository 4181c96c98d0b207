/** The contract of the ordered map, for the store on PostgreSQL whose larger values are files of a shared folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { contractOnPostgresql, onPostgresql } from './on-server.ts'

const server = onPostgresql()
let folder: string
server.test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-objects-'))
})
server.test.after.always(() => rm(folder, { recursive: true, force: true }))

/** A small limit, so that many values of the contract become objects. */
const leastBytes = 60

contractOnPostgresql(server, () => ({ large: { objects: objectStoreAt(`file://${folder}`, {}), leastBytes } }))
