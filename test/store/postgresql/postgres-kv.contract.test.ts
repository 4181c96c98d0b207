/** The contract of the ordered map, for the store on PostgreSQL. */
import { contractOnPostgresql, onPostgresql } from './on-server.ts'

contractOnPostgresql(onPostgresql())
