/** The contract of the ordered map, for a database that divides every counter into parts. */
import { contractOnPostgresql, onPostgresql } from './on-server.ts'

contractOnPostgresql(onPostgresql(), () => ({ parts: 'always' }))
