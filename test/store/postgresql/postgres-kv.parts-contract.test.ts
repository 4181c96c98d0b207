/** The contract of the ordered map, for a database in which every counter has parts. */
import { contractOnPostgresql, onPostgresql } from './on-server.ts'

contractOnPostgresql(onPostgresql(), () => ({ parts: 'always' }))
