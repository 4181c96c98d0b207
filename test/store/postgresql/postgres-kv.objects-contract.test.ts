/** The contract of the ordered map, for the store on PostgreSQL whose larger values are objects of a bucket. */
import { objectStoreAt } from '#store/postgresql/objects/address.ts'
import { contractOnPostgresql, onPostgresqlWithObjects } from './on-server.ts'

/** So few octets that some of what each test of the contract writes becomes objects; the server of these tests takes a few a second. */
const leastBytes = 100
const servers = onPostgresqlWithObjects()

contractOnPostgresql(servers, () => ({ large: { objects: objectStoreAt(servers.objects().address(), {}), leastBytes } }))
