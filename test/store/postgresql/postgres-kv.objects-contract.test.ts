/** The contract of the ordered map, for the store on PostgreSQL whose larger values are objects of a bucket. */
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { contractOnPostgresql, onPostgresqlWithObjects } from './on-server.ts'

/** A small limit, so that some values of each test become objects. The server of these tests accepts only a few each second. */
const leastBytes = 100
const servers = onPostgresqlWithObjects()

contractOnPostgresql(servers, () => ({ large: { objects: objectStoreAt(servers.objects().address(), {}), leastBytes } }))
